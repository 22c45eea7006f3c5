import type { Clock, ConversationArchive, Message } from '@recall/core'
import { clipMiddle, oneLine } from '../summary/clip.ts'
import { condensedLength, type SpokenTurn } from '../summary/condense.ts'
import { createTagCollector } from '../summary/extract-tags.ts'
import { createKeywordCounter } from '../summary/keywords.ts'
import {
  isBareCommand,
  keywordWeights,
  type SummarizeOptions,
  type Summary,
  summarize,
} from '../summary/summarize.ts'
import { toolTarget } from '../summary/tool-target.ts'
import { createTimeSpan } from './duration.ts'
import { notAhead } from './not-ahead.ts'
import { pieceSeparator, renderArchive, renderTurn } from './render-archive.ts'
import { areIn, areSaidIn, beginWithTurns, continueTurns } from './same-turns.ts'

/** The content of an archive about its part of the conversation. */
export type PartContent = Pick<ConversationArchive, 'date' | 'duration' | 'topics' | 'summarizedBy' | 'body'>

/** The part of a conversation that goes into one archive, collected message by message. */
export interface ArchivePart {
  readonly messageCount: number
  readonly lastMessage: string | undefined
  /** Whether anybody said more than commands to the host. */
  readonly isSpoken: boolean
  /** Position of a message in the part, counted from 1; 0 when it is not in it. */
  positionOf(messageId: string): number
  /** False when the message would make the part exceed its size; an empty part has room for any message. */
  hasRoomFor(message: Message): boolean
  add(message: Message): void
  /** Whether an archive's body holds everything that this part would keep, in one stretch. */
  isIn(body: string): boolean
  /** Whether an archive's body holds everything that is said in this part, maybe with more in between. */
  isSaidIn(body: string): boolean
  /** Whether this part says everything that an archive's body says; it may continue beyond that. */
  continues(body: string): boolean
  /** Whether the part begins with all the turns that an archive's body keeps. */
  beginsWith(body: string): boolean
  /** Summarises the part and renders it. The caller adds `sessionId`, `source` and the like. */
  toArchive(options: SummarizeOptions & { clock: Clock; undated: number | undefined }): Promise<PartContent>
}

/**
 * @param size how many characters of turns a part holds
 * @param project the folder that file names are made relative to
 */
export function createArchivePart(size: number, project: () => string | undefined): ArchivePart {
  const pieces: string[] = []
  const spoken: SpokenTurn[] = []
  const positions = new Map<string, number>()
  const tags = createTagCollector(project)
  const keywords = createKeywordCounter()
  const span = createTimeSpan()
  const targets = new Set<string>()
  let length = 0
  let messageCount = 0
  let lastMessage: string | undefined
  let isSpoken = false
  let previousRole: Message['role'] | null = null

  /**
   * A file that was worked on names the subject better than most words. Each file counts once; commands do not count.
   */
  const boostTarget = (target: string): void => {
    if (targets.has(target) || /\s/.test(target)) return
    targets.add(target)
    keywords.add(targetWords(target), keywordWeights.toolTarget)
  }

  return {
    get messageCount() {
      return messageCount
    },
    get lastMessage() {
      return lastMessage
    },
    get isSpoken() {
      return isSpoken
    },
    positionOf: (messageId) => positions.get(messageId) ?? 0,
    hasRoomFor: (message) =>
      messageCount === 0 || length + lengthOf(renderTurn(message, previousRole)) <= size,
    add(message) {
      messageCount++
      lastMessage = message.id
      positions.set(message.id, messageCount)
      span.add(message.at)
      const turn = renderTurn(message, previousRole)
      if (turn.length === 0) return
      for (const piece of turn) pieces.push(piece)
      length += lengthOf(turn)
      previousRole = message.role
      for (const block of message.content) {
        if (block.type === 'text' && saysSomething(block.text)) {
          spoken.push({ role: message.role, text: clipMiddle(oneLine(block.text), condensedLength) })
          if (isBareCommand(block.text)) continue
          isSpoken = true
          tags.addText(message.role, block.text)
          keywords.add(block.text, keywordWeights[message.role])
        } else if (block.type === 'tool_use') {
          tags.addToolUse(block.name, block.input)
          boostTarget(toolTarget(block.input))
        }
      }
    },
    isIn: (body) => areIn(pieces, body),
    isSaidIn: (body) => areSaidIn(pieces, body),
    continues: (body) => continueTurns(pieces, body),
    beginsWith: (body) => beginWithTurns(pieces, body),
    async toArchive({ clock, undated, ...options }) {
      const summary: Summary = await summarize(spoken, { ...options, keywords })
      return {
        date: endOf(span.end(), clock(), undated),
        duration: span.duration(),
        topics: summary.topics,
        summarizedBy: summary.summarizedBy,
        body: renderArchive(summary, pieces, tags.tags()),
      }
    },
  }
}

const lengthOf = (turn: readonly string[]): number => turn.join(pieceSeparator).length

/** When the session ended; without times in its messages, the time of its transcript file. */
const endOf = (told: string | undefined, now: number, undated = now): string =>
  notAhead(told ?? new Date(undated).toISOString(), now)

/** Whether a text is more than a marker in brackets, for example `[image]`. */
const saysSomething = (text: string): boolean => !/^\s*(?:\[[^\]\n]*\]\s*)?$/.test(text)

/** A path's file name without its extension: folders repeat in every target and say nothing. */
const targetWords = (target: string): string =>
  target.replace(/\S*[/\\]/g, '').replace(/\.[a-z]\w{0,5}\b/gi, '')
