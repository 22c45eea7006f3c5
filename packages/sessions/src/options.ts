import {
  type Clock,
  type ContentBlock,
  type Conversation,
  type LmProvider,
  MemoryError,
  MemoryErrorCode,
  type Message,
  refuseUnknownOptions,
} from '@recall/core'
import { hasControlCharacter } from '@recall/core/text'

export interface ArchiveOptions {
  /** Writes the summaries. Without it, or when it fails, an algorithm does. */
  lm?: LmProvider | undefined
  /** How long the model may take for one summary, in milliseconds; `Infinity` for any time. Default 30 seconds. */
  lmTimeoutMs?: number | undefined
  /** Summarise again what was summarised without a model, even if nothing new was said. Default false. */
  resummarize?: boolean | undefined
  /** How many sessions the rolling window holds, 1..50. Default 5. */
  maxEntries?: number | undefined
  /** Whether a session that has ended is added to the rolling window. Default true. */
  inWindow?: boolean | undefined
  /**
   * Whether the session has just ended, as its host says. Such a session enters the window although later ones were
   * consumed from it, unless it was itself among the last hundred that were. Default false: it may be an old one.
   */
  justEnded?: boolean | undefined
  /** When a conversation without times in its messages ended, in milliseconds since 1970. Default: the clock's time. */
  undated?: number | undefined
  /** A date more than a day ahead of this clock counts as now. Default: the system clock. */
  clock?: Clock | undefined
  /**
   * How many characters of turns one archive holds before the next part begins. Default 500,000. Always pass the same
   * value: with another one, a session is cut at other places and archived a second time.
   */
  partSize?: number | undefined
}

const defaultMaxEntries = 5
/** It becomes part of keys, which have at most 1,024 characters. */
const longestId = 1000
const defaultPartSize = 500_000
/** Most lines of the curated memory, so that an agent can always hold all of it. */
const defaultLineLimit = 200

/** @throws MemoryError INVALID_INPUT unless it is a whole number from 1 to 50 */
export function parseMaxEntries(maxEntries: number = defaultMaxEntries): number {
  return wholeNumber('maxEntries', maxEntries, 1, 50)
}

/** @throws MemoryError INVALID_INPUT unless it is a whole number of at least 1 */
export function parsePartSize(partSize: number = defaultPartSize): number {
  return wholeNumber('partSize', partSize, 1, Number.MAX_SAFE_INTEGER)
}

/** @throws MemoryError INVALID_INPUT unless it is a whole number of at least 1 */
export function parseLineLimit(limit: number = defaultLineLimit): number {
  return wholeNumber('limit', limit, 1, Number.MAX_SAFE_INTEGER)
}

/** @throws MemoryError INVALID_INPUT unless it is a number, 0 or more, such as `Infinity` for any time */
export function parseTimeout(name: string, timeoutMs: number): number {
  if (typeof timeoutMs === 'number' && timeoutMs >= 0) return timeoutMs
  throw wrongOption(name, `must be a number of milliseconds, 0 or more, not ${timeoutMs}`)
}

/**
 * Checked before anything is archived: a wrong option would only show when a model is asked or a message has no time,
 * and a misspelt one never.
 */
export function checkArchiveOptions(options: ArchiveOptions): void {
  const { lm, lmTimeoutMs, undated, clock, resummarize, inWindow, justEnded, ...more } = options
  const { maxEntries: _, partSize: __, ...others } = more
  refuseUnknownOptions(others)
  for (const [name, given] of Object.entries({ resummarize, inWindow, justEnded }))
    if (given !== undefined && typeof given !== 'boolean') throw wrongOption(name, 'must be true or false')
  if (lm !== undefined && typeof lm?.complete !== 'function')
    throw wrongOption('lm', 'must be a model with a function complete, such as that of openAiCompatibleLm')
  if (lmTimeoutMs !== undefined) parseTimeout('lmTimeoutMs', lmTimeoutMs)
  if (undated !== undefined && !isTime(undated))
    throw wrongOption('undated', `must be a time in milliseconds since 1970, not ${undated}`)
  if (clock !== undefined && typeof clock !== 'function') throw wrongOption('clock', 'must be a function')
}

const isTime = (time: number): boolean => typeof time === 'number' && !Number.isNaN(new Date(time).getTime())

const shape =
  "a conversation is { sessionId, messages, facts: { skipped: {} } }, each of its messages { id, role: 'user' or 'assistant', content: [{ type: 'text', text }] }"

/**
 * Programs pass messages of other shapes, for example with a plain text as content: it is better to refuse them than to
 * lose them.
 */
const refuseUnless = (isRight: boolean, wrong: string): void => {
  if (!isRight) throw new MemoryError(`${wrong}: ${shape}`, MemoryErrorCode.INVALID_INPUT)
}

/** @throws MemoryError INVALID_INPUT unless it has the parts of a conversation */
export function checkConversation(conversation: Conversation): void {
  const { sessionId, messages, facts } = conversation ?? {}
  refuseUnless(typeof sessionId === 'string' && sessionId !== '', 'the conversation has no sessionId')
  if (sessionId.length > longestId || hasControlCharacter(sessionId))
    throw new MemoryError(
      `the sessionId of a conversation becomes part of keys: it has at most ${longestId} characters, and no control characters`,
      MemoryErrorCode.INVALID_INPUT,
    )
  const isIterable =
    Object(messages) === messages && (Symbol.asyncIterator in messages || Symbol.iterator in messages)
  refuseUnless(isIterable, 'the conversation has no messages')
  refuseUnless(typeof facts === 'object' && facts !== null, 'the conversation has no facts')
}

/** @throws MemoryError INVALID_INPUT unless archives can hold what was said and by whom */
export function checkMessage(message: Message): void {
  const { id, role, content } = message ?? {}
  refuseUnless(typeof id === 'string' && id !== '', 'a message has no id')
  refuseUnless(role === 'user' || role === 'assistant', 'a message has no known role')
  refuseUnless(Array.isArray(content) && content.every(isKnown), 'the content of a message is unknown')
}

function isKnown(block: ContentBlock): boolean {
  switch (block?.type) {
    case 'text':
      return typeof block.text === 'string'
    case 'thinking':
      return true
    case 'tool_use':
      return typeof block.name === 'string'
    case 'tool_result':
      return typeof block.content === 'string'
    default:
      return false
  }
}

function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw wrongOption(name, `must be a whole number from ${least} to ${most}, not ${value}`)
}

export function wrongOption(name: string, rule: string): MemoryError {
  const message = `${name} ${rule}`
  return new MemoryError(message, MemoryErrorCode.INVALID_INPUT, {
    details: { issues: [{ path: name, message }] },
  })
}
