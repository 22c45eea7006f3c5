import {
  type ConversationArchive,
  conversationKey,
  conversationType,
  isMemoryError,
  MemoryErrorCode,
  type MemoryManager,
} from '@recall/core'
import type { ArchivePart } from './archive-part.ts'
import { summarySection } from './render-archive.ts'
import { byAlgorithm } from './summarize.ts'

export interface PlacedPart {
  key: string
  /** Its number among the session's archives, from 1. */
  number: number
  status: 'created' | 'replaced' | 'unchanged'
  /** What the archive says of itself; its body is not held on to. */
  digest: ArchiveDigest
  /** What it replaced, or goes on behind since a person changed it, said of itself. */
  earlier?: ArchiveDigest
  /** Archives that were passed over since they hold what this conversation does not. */
  kept: string[]
}

export interface ArchiveDigest {
  date: string
  messageCount: number
  summarizedBy?: string
  /** What stands under `## Summary`. */
  summary: string
}

export function digestOf({ date, messageCount, summarizedBy, body }: ConversationArchive): ArchiveDigest {
  return { date, messageCount, summarizedBy, summary: summarySection(body) }
}

export interface PlaceRequest {
  sessionId: string
  source: ConversationArchive['source']
  project?: string
  /** What the session is called, on one line. */
  title?: string
  /** The number that this part has when nothing stands in its way. */
  from: number
  part: ArchivePart
  /** Summarises and renders the part: asked for only when it must be written. */
  render(): Promise<Pick<ConversationArchive, 'date' | 'duration' | 'topics' | 'summarizedBy' | 'body'>>
  /** Whether an archive made without a model should be made again although nothing new was said. */
  hasModel: boolean
  /** The same for an archive that is final. */
  resummarize: boolean
}

/**
 * Writes one part where it belongs: over the earlier version of itself, or at the first free number. An archive that
 * holds anything which the part does not, a message or what a person wrote into it, is never overwritten; nor is one
 * that somebody else wrote while this one was summarised.
 */
export async function placePart(memory: MemoryManager, request: PlaceRequest): Promise<PlacedPart> {
  const { sessionId, source, part } = request
  const kept: string[] = []
  const render = once(request.render)
  let earlier: ArchiveDigest | undefined
  for (let number = request.from, attempt = 1; ; ) {
    const key = conversationKey(sessionId, number)
    const record = await memory.read<ConversationArchive>('episodic', key, { includeMetadata: true })
    const stored = record?.value
    const repeats = stored !== undefined && saysTheSame(stored, part)
    const couldBeBetter = request.hasModel && stored?.summarizedBy === byAlgorithm
    const isSettled = repeats && isFinal(stored, request) && !(couldBeBetter && request.resummarize)
    if (stored !== undefined && ((repeats && (isSettled || stored.edited)) || holdsMore(stored, part))) {
      return { key, number, status: 'unchanged', digest: digestOf(stored), kept }
    }
    const isEarlier = stored !== undefined && isEarlierVersion(stored, part)
    if (isEarlier) earlier = digestOf(stored)
    if (stored !== undefined && (stored.edited || !isEarlier)) {
      kept.push(key)
      number++
      continue
    }
    const isRemade = !repeats || couldBeBetter
    const archive: ConversationArchive = {
      ...(isRemade ? await render() : stored),
      // Replacing keeps the number that the store gave the archive.
      ...(stored?.log === undefined ? {} : { log: stored.log }),
      sessionId,
      source: repeats && stored.source === 'session' ? 'session' : source,
      messageCount: part.messageCount,
      lastMessage: part.lastMessage,
      ...(number > 1 ? { part: number } : {}),
      ...(request.project === undefined ? {} : { project: request.project }),
      ...(request.title === undefined ? {} : { title: request.title }),
    }
    try {
      await write(memory, key, archive, record?.metadata.updatedAt)
    } catch (error) {
      if (isMemoryError(error, MemoryErrorCode.CONFLICT) && attempt++ < attempts) continue
      throw error
    }
    const status = stored === undefined ? 'created' : 'replaced'
    return { key, number, status, digest: digestOf(archive), ...(earlier ? { earlier } : {}), kept }
  }
}

function once<T>(call: () => T): () => T {
  let result: { value: T } | undefined
  return () => {
    result ??= { value: call() }
    return result.value
  }
}

/** A checkpoint of what was archived as a session says nothing new. */
const isFinal = (stored: ConversationArchive, { source }: PlaceRequest): boolean =>
  stored.source === source || stored.source === 'session'

/** The stored messages are the first ones of the part: its last stands where it must, or further on. */
function isEarlierVersion(stored: ConversationArchive, part: ArchivePart): boolean {
  return stored.lastMessage !== undefined && part.positionOf(stored.lastMessage) >= stored.messageCount
}

/** The archive is of a later reading, which overtook this one: all that was said up to here stands in it. */
const holdsMore = (stored: ConversationArchive, part: ArchivePart): boolean =>
  stored.messageCount > part.messageCount && part.isIn(stored.body)

function saysTheSame(stored: ConversationArchive, part: ArchivePart): boolean {
  return stored.lastMessage === part.lastMessage && stored.messageCount === part.messageCount
}

/** Attempts to write an archive that somebody else writes at the same moment. */
const attempts = 10

/**
 * @param seen when the archive that is replaced was written; `undefined` when there was none
 * @throws MemoryError CONFLICT when somebody else wrote it since
 */
async function write(
  memory: MemoryManager,
  key: string,
  value: ConversationArchive,
  seen: number | undefined,
): Promise<void> {
  const options = { type: conversationType, tags: value.topics, overwrite: seen !== undefined }
  if (seen === undefined) return memory.write('episodic', key, value, options)
  await memory.atomicUpdate('episodic', [{ operation: 'set', key, value, options, ifUpdatedAt: seen }])
}
