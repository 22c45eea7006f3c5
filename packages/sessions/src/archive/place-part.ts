import {
  type ConversationArchive,
  conversationKey,
  conversationType,
  derivedIdMark,
  isMemoryError,
  type MemoryError,
  MemoryErrorCode,
  type MemoryManager,
} from '@recall/core'
import { byAlgorithm } from '../summary/summarize.ts'
import type { ArchivePart, PartContent } from './archive-part.ts'
import { type ArchiveDigest, digestOf, readArchive } from './stored-archives.ts'

export interface PlacedPart {
  key: string
  /** Its number among the session's archives, from 1. */
  number: number
  status: 'created' | 'replaced' | 'unchanged'
  digest: ArchiveDigest
  /**
   * Digests of the earlier archives there: those that had to be left, then the version that this part repeats or
   * replaced.
   */
  before: ArchiveDigest[]
  /** Keys of archives that were skipped because they have content that this conversation lacks. */
  kept: string[]
}

export interface PlaceRequest {
  sessionId: string
  source: ConversationArchive['source']
  project?: string
  /** Title of the session, on one line. */
  title?: string
  /** See `ConversationArchive`; absent when the window is about to change, or does not hold the session. */
  windowSummary?: string
  /** The first number to try for this part. */
  from: number
  part: ArchivePart
  /** Summarises and renders the part; called only when the part must be written. */
  render(): Promise<PartContent>
  /** Whether `render` has a model: a checkpoint without a model's summary then gets one when the session ends. */
  hasModel: boolean
  /** Whether a final archive that was summarised without a model is summarised again too. */
  resummarize: boolean
}

/**
 * Writes one part where it belongs: over its earlier version, or at the first free number. An archive with anything
 * that the part lacks, a message or an edit by a person, is never overwritten. An archive that somebody else writes
 * while this part is summarised is read and judged again.
 */
export async function placePart(memory: MemoryManager, request: PlaceRequest): Promise<PlacedPart> {
  const { sessionId } = request
  const kept: string[] = []
  const before: ArchiveDigest[] = []
  const render = once(request.render)
  let attempts = 0
  for (let number = request.from; ; ) {
    const key = conversationKey(sessionId, number)
    const record = await readArchive(memory, key)
    const found = record ? compareWithStored(record.value, request) : undefined
    if (found?.verdict === 'settled') {
      const { digest } = found
      return { key, number, status: 'unchanged', digest, before: [...before, digest], kept }
    }
    if (found?.verdict === 'other') {
      kept.push(key)
      before.push(found.digest)
      number++
    } else if (record?.archived) await bringBack(memory, key)
    else {
      const content = found?.verdict === 'same' ? found.stored : await render()
      const archive = archiveOf(content, found, { ...request, number })
      const conflict = await write(memory, key, archive, record?.metadata.updatedAt)
      if (!conflict) return { key, number, digest: digestOf(archive), kept, ...outcomeOf(found, before) }
      attempts++
      if (attempts === mostAttempts) throw conflict
    }
  }
}

/** An archive in a place where a part may belong. */
interface FoundArchive {
  stored: ConversationArchive
  /** Whether the part brings nothing new. */
  repeats: boolean
  verdict: Verdict
  digest: ArchiveDigest
}

function compareWithStored(stored: ConversationArchive, request: PlaceRequest): FoundArchive {
  const repeats = saysTheSame(stored, request.part)
  return { stored, repeats, verdict: judge(stored, repeats, request), digest: digestOf(stored) }
}

const outcomeOf = (
  found: FoundArchive | undefined,
  before: readonly ArchiveDigest[],
): Pick<PlacedPart, 'status' | 'before'> =>
  found
    ? { status: 'replaced', before: [...before, found.digest] }
    : { status: 'created', before: [...before] }

/** @param found the archive whose place it takes */
const archiveOf = (
  content: PartContent,
  found: FoundArchive | undefined,
  facts: PlaceRequest & { number: number },
): ConversationArchive => ({
  ...content,
  // It keeps the sequence number that the store gave it.
  ...(found?.stored.log === undefined ? {} : { log: found.stored.log }),
  sessionId: facts.sessionId,
  source: found?.repeats && found.stored.source === 'session' ? 'session' : facts.source,
  messageCount: facts.part.messageCount,
  lastMessage: facts.part.lastMessage,
  windowSummary: found === undefined ? undefined : facts.windowSummary,
  ...(facts.number > 1 ? { part: facts.number } : {}),
  // Some hosts name it only to their hooks.
  ...projectIn(facts.project ?? found?.stored.project),
  ...(facts.title === undefined ? {} : { title: facts.title }),
})

const projectIn = (project: string | undefined): Pick<ConversationArchive, 'project'> =>
  project === undefined ? {} : { project }

/** A new archive would hide the one in cold storage, and the next clean-up would replace it. */
async function bringBack(memory: MemoryManager, key: string): Promise<void> {
  try {
    await memory.restore('episodic', key)
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
  }
}

function once<T>(call: () => T): () => T {
  let result: { value: T } | undefined
  return () => {
    result ??= { value: call() }
    return result.value
  }
}

/**
 * What to do about an archive in the place of a part:
 *
 * - `settled`: nothing, it has all of the part
 * - `other`: it has content that the part lacks, and stays; the part goes to a later number
 * - `outdated`: the part replaces it
 * - `same`: it says the same as the part, and takes over the facts about the session
 */
type Verdict = 'settled' | 'other' | 'outdated' | 'same'

/** @param repeats whether the part brings nothing new */
function judge(stored: ConversationArchive, repeats: boolean, request: PlaceRequest): Verdict {
  const { part, hasModel, resummarize } = request
  const couldBeBetter = hasModel && stored.summarizedBy === byAlgorithm && isEarlierVersion(stored, part)
  const isFinished = isFinal(stored, request) && !(couldBeBetter && resummarize)
  if (repeats && (isFinished || stored.edited)) return 'settled'
  if (holdsMore(stored, part)) return 'settled'
  if (stored.edited || !(repeats || isEarlierVersion(stored, part))) return 'other'
  return repeats && !couldBeBetter ? 'same' : 'outdated'
}

/** Whether the stored facts need no change: a checkpoint adds nothing to what was archived as a session. */
const isFinal = (stored: ConversationArchive, { source, part }: PlaceRequest): boolean =>
  (stored.source === source || stored.source === 'session') && stored.lastMessage === part.lastMessage

/**
 * Whether the part continues what is stored: its last message is at its old position or later, and nothing that the
 * archive says would be lost. Ids alone are not enough, because some only name the position of a message.
 */
function isEarlierVersion(stored: ConversationArchive, part: ArchivePart): boolean {
  if (stored.lastMessage === undefined) return false
  if (part.positionOf(stored.lastMessage) >= stored.messageCount) return part.continues(stored.body)
  return isRenamed(stored, part) && part.messageCount >= stored.messageCount
}

/**
 * Whether the last stored message has another id now. An id that is derived from the words changes when more of them
 * count as a secret than before; then the whole text decides, including the outputs of tools.
 */
const isRenamed = ({ lastMessage = '', body }: ConversationArchive, part: ArchivePart): boolean =>
  lastMessage.startsWith(derivedIdMark) && part.positionOf(lastMessage) === 0 && part.beginsWith(body)

/** Whether a later reading of the conversation was archived first: the archive already holds the whole part. */
const holdsMore = (stored: ConversationArchive, part: ArchivePart): boolean =>
  stored.messageCount > part.messageCount && part.isIn(stored.body)

/** Whether the part brings nothing new. If a person changed the words, only the ids can tell. */
function saysTheSame(stored: ConversationArchive, part: ArchivePart): boolean {
  if (stored.messageCount !== part.messageCount) return false
  if (stored.lastMessage === part.lastMessage) return stored.edited === true || part.isSaidIn(stored.body)
  return isRenamed(stored, part) && part.isSaidIn(stored.body)
}

/** Attempts at an archive that somebody else keeps writing. */
const mostAttempts = 10

/**
 * @param seen `updatedAt` of the archive to replace; `undefined` when there is none
 * @returns the error, with nothing written, when somebody else has written it since
 */
async function write(
  memory: MemoryManager,
  key: string,
  value: ConversationArchive,
  seen: number | undefined,
): Promise<MemoryError | undefined> {
  const options = { type: conversationType, tags: value.topics, overwrite: seen !== undefined }
  try {
    if (seen === undefined) await memory.write('episodic', key, value, options)
    else await memory.atomicUpdate('episodic', [{ operation: 'set', key, value, options, ifUpdatedAt: seen }])
    return undefined
  } catch (error) {
    if (isMemoryError(error, MemoryErrorCode.CONFLICT)) return error
    throw error
  }
}
