import { type ConversationArchive, conversationKey, conversationType, type MemoryManager } from '@recall/core'
import type { ArchivePart } from './archive-part.ts'
import { summarySection } from './render-archive.ts'

export interface PlacedPart {
  key: string
  /** Its number among the session's archives, from 1. */
  number: number
  status: 'created' | 'replaced' | 'unchanged'
  /** What the archive says of itself; its body is not held on to. */
  digest: ArchiveDigest
  /** Archives that were passed over since they hold messages which this conversation does not. */
  kept: string[]
}

export interface ArchiveDigest {
  date: string
  summarizedBy?: string
  /** What stands under `## Summary`. */
  summary: string
}

export function digestOf({ date, summarizedBy, body }: ConversationArchive): ArchiveDigest {
  return { date, summarizedBy, summary: summarySection(body) }
}

export interface PlaceRequest {
  sessionId: string
  source: ConversationArchive['source']
  project?: string
  /** The number that this part has when nothing stands in its way. */
  from: number
  part: ArchivePart
  /** Summarises and renders the part: asked for only when it must be written. */
  render(): Promise<Pick<ConversationArchive, 'date' | 'duration' | 'topics' | 'summarizedBy' | 'body'>>
  /** Whether an archive made without a model should be made again although nothing new was said. */
  hasModel: boolean
}

/**
 * Writes one part where it belongs: over the earlier version of itself, or at the first free number. An
 * archive that holds anything which the part does not is never overwritten.
 */
export async function placePart(memory: MemoryManager, request: PlaceRequest): Promise<PlacedPart> {
  const { sessionId, source, part } = request
  const kept: string[] = []
  for (let number = request.from; ; number++) {
    const key = conversationKey(sessionId, number)
    const stored = await memory.read<ConversationArchive>('episodic', key)
    if (stored !== null && !isEarlierVersion(stored, part)) {
      kept.push(key)
      continue
    }
    if (stored !== null && saysTheSame(stored, part)) {
      const isFinal = stored.source === source || stored.source === 'session'
      if (isFinal) return { key, number, status: 'unchanged', digest: digestOf(stored), kept }
      if (!request.hasModel || stored.summarizedBy !== 'algorithm') {
        const archive = { ...stored, source }
        await write(memory, key, archive)
        return { key, number, status: 'replaced', digest: digestOf(archive), kept }
      }
    }
    const archive: ConversationArchive = {
      // Replacing keeps the number that the store gave the archive.
      ...(stored?.log === undefined ? {} : { log: stored.log }),
      sessionId,
      source,
      messageCount: part.messageCount,
      lastMessage: part.lastMessage,
      ...(number > 1 ? { part: number } : {}),
      ...(request.project === undefined ? {} : { project: request.project }),
      ...(await request.render()),
    }
    await write(memory, key, archive)
    return { key, number, status: stored === null ? 'created' : 'replaced', digest: digestOf(archive), kept }
  }
}

/** The stored messages are the first ones of the part: its last stands where it must, or further on. */
function isEarlierVersion(stored: ConversationArchive, part: ArchivePart): boolean {
  return stored.lastMessage !== undefined && part.positionOf(stored.lastMessage) >= stored.messageCount
}

function saysTheSame(stored: ConversationArchive, part: ArchivePart): boolean {
  return stored.lastMessage === part.lastMessage && stored.messageCount === part.messageCount
}

function write(memory: MemoryManager, key: string, archive: ConversationArchive): Promise<void> {
  return memory.write('episodic', key, archive, {
    type: conversationType,
    tags: archive.topics,
    overwrite: true,
  })
}
