import {
  type Conversation,
  type ConversationArchive,
  isMemoryError,
  MemoryError,
  type MemoryManager,
  systemClock,
} from '@recall/core'
import {
  type ArchiveOptions,
  checkArchiveOptions,
  checkConversation,
  checkMessage,
  parseMaxEntries,
  parsePartSize,
} from '../options.ts'
import { createMessageCleaner } from '../summary/clean-message.ts'
import { byAlgorithm } from '../summary/summarize.ts'
import { createArchivePart } from './archive-part.ts'
import { createTimeSpan } from './duration.ts'
import { keepEditOf } from './keep-edit.ts'
import { type PlacedPart, placePart } from './place-part.ts'
import { addToWindow, type WindowOutcome } from './window.ts'
import { dateAndSummaryOf, fingerprintOf, projectOf, readEntry } from './window-entry.ts'

export interface ArchiveOutcome {
  sessionId: string
  /** `empty`: there was nothing to archive. `unchanged`: nothing new was said since the last time. */
  status: 'archived' | 'updated' | 'unchanged' | 'empty'
  /** The session's archives in order, and what happened to each. */
  parts: { key: string; status: 'created' | 'replaced' | 'unchanged' }[]
  messageCount: number
  /** What wrote the summary of the last part: `algorithm`, or the model's name. */
  summarizedBy?: string
  /** How many secrets were replaced, by kind. */
  redactions: Readonly<Record<string, number>>
  /**
   * Archives of this session with content that the conversation lacks, such as messages that it no longer has. They
   * were not changed, and the conversation was archived after them.
   */
  kept: string[]
  /**
   * What happened to the rolling window; `skipped` for checkpoints, helpers, sessions in which nothing was said, and on
   * request.
   */
  window: WindowOutcome | 'skipped'
}

/**
 * Archives a session that has ended, and adds it to the rolling window unless it is a helper's. Archiving the same
 * conversation again changes nothing; a conversation that grew replaces its earlier version. Only one part of the
 * conversation is in memory at a time.
 *
 * @throws MemoryError INVALID_INPUT for an option that is wrong, out of range or unknown; whatever the memory and the
 * stream throw
 */
export function archiveSession(
  memory: MemoryManager,
  conversation: Conversation,
  options: ArchiveOptions = {},
): Promise<ArchiveOutcome> {
  return archive(memory, conversation, 'session', options)
}

/** Like `archiveSession`, but for a session that continues: the rolling window does not change. */
export function createCheckpoint(
  memory: MemoryManager,
  conversation: Conversation,
  options: ArchiveOptions = {},
): Promise<ArchiveOutcome> {
  return archive(memory, conversation, 'checkpoint', options)
}

async function archive(
  memory: MemoryManager,
  conversation: Conversation,
  source: ConversationArchive['source'],
  options: ArchiveOptions,
): Promise<ArchiveOutcome> {
  checkArchiveOptions(options)
  const maxEntries = parseMaxEntries(options.maxEntries)
  const partSize = parsePartSize(options.partSize)
  checkConversation(conversation)
  const isWanted = source === 'session' && (options.inWindow ?? true)
  // If the session enters the window, its entry is about to change: what the archive notes of it would be outdated.
  const entry = isWanted ? null : await readEntry(memory, conversation.sessionId)
  const windowSummary = entry === null ? undefined : fingerprintOf(entry)
  const window = { isWanted, maxEntries, justEnded: options.justEnded ?? false }
  const written = await placeParts(memory, conversation, source, { ...options, partSize, windowSummary })
  const { placed, messageCount, redactions } = written
  return {
    sessionId: conversation.sessionId,
    status: statusOf(placed),
    parts: placed.map(({ key, status }) => ({ key, status })),
    messageCount,
    summarizedBy: placed.at(-1)?.digest.summarizedBy,
    redactions,
    kept: placed.flatMap((each) => each.kept),
    window: await updateWindow(memory, conversation, written, window).catch(withoutWindow),
  }
}

/** A conversation whose parts are in the memory. */
interface PlacedConversation {
  placed: PlacedPart[]
  messageCount: number
  /** Whether anybody said anything in it. */
  isSpoken: boolean
  /** From the earliest to the latest message, for people. */
  duration: string
  redactions: Readonly<Record<string, number>>
}

async function placeParts(
  memory: MemoryManager,
  { sessionId, facts, messages }: Conversation,
  source: ConversationArchive['source'],
  options: ArchiveOptions & { partSize: number; windowSummary: string | undefined },
): Promise<PlacedConversation> {
  const { clock = systemClock, undated, lmTimeoutMs, partSize, windowSummary } = options
  const cleaner = createMessageCleaner()
  const span = createTimeSpan()
  const placed: PlacedPart[] = []
  let lm = options.lm
  let messageCount = 0
  let isSpoken = false

  const newPart = () => createArchivePart(partSize, () => facts.project)
  let part = newPart()
  const place = async (): Promise<void> => {
    const model = part.isSpoken ? lm : undefined
    const latest = await placePart(memory, {
      sessionId,
      source,
      project: facts.project,
      title: facts.title === undefined ? undefined : cleaner.cleanTitle(facts.title),
      windowSummary,
      from: (placed.at(-1)?.number ?? 0) + 1,
      part,
      hasModel: model !== undefined,
      resummarize: options.resummarize ?? false,
      render: () => part.toArchive({ lm: model, timeoutMs: lmTimeoutMs, clock, undated }),
    })
    placed.push(latest)
    isSpoken ||= part.isSpoken
    // A model that failed once is not asked again for further parts.
    const isAsked = model !== undefined && latest.status !== 'unchanged'
    if (isAsked && latest.digest.summarizedBy === byAlgorithm) lm = undefined
  }

  for await (const message of messages) {
    checkMessage(message)
    const clean = cleaner.clean(message)
    if (!part.hasRoomFor(clean)) {
      await place()
      part = newPart()
    }
    part.add(clean)
    span.add(message.at)
    messageCount++
  }
  if (part.messageCount > 0) await place()
  return { placed, messageCount, isSpoken, duration: span.duration(), redactions: cleaner.redactions }
}

/**
 * Adds a session to the rolling window if it belongs there. In any case, keeps what a person wrote into its summary.
 */
async function updateWindow(
  memory: MemoryManager,
  { sessionId, facts, parent }: Conversation,
  { placed, messageCount, isSpoken, duration }: PlacedConversation,
  { isWanted, ...window }: { isWanted: boolean; maxEntries: number; justEnded: boolean },
): Promise<ArchiveOutcome['window']> {
  const before = placed.flatMap((each) => each.before)
  if (!isWanted || parent !== undefined || !isSpoken) {
    if (placed.some(({ status }) => status === 'replaced')) await keepEditOf(memory, sessionId, before)
    return 'skipped'
  }
  const session = {
    sessionId,
    ...dateAndSummaryOf(placed.map(({ digest }) => digest)),
    duration,
    messageCount,
    archive: placed[0]?.key ?? '',
    ...projectOf(facts),
  }
  return addToWindow(memory, session, { ...window, before })
}

/** By then, what was said is already archived. */
function withoutWindow(error: unknown): never {
  if (!isMemoryError(error)) throw error
  const message = `${error.message}; the session is archived and only the window lacks it: archive it again`
  throw new MemoryError(message, error.code, { ...error, cause: error })
}

function statusOf(placed: readonly PlacedPart[]): ArchiveOutcome['status'] {
  if (placed.length === 0) return 'empty'
  if (placed.every(({ status }) => status === 'unchanged')) return 'unchanged'
  return placed.every(({ status }) => status === 'created') ? 'archived' : 'updated'
}
