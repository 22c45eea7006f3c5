import {
  type ConversationArchive,
  conversationKey,
  type MemoryManager,
  type MemoryRecord,
} from '@recall/core'
import { lastAnswer } from './last-answer.ts'
import { summarySection } from './render-archive.ts'

/** What the window needs to know of an archive, so that its body need not stay in memory. */
export interface ArchiveDigest {
  date: string
  messageCount: number
  summarizedBy?: string
  /** The text under `## Summary`. */
  summary: string
  windowSummary?: string
  /** See `lastAnswer`. */
  lastAnswer: string
}

export function digestOf({ body, ...facts }: ConversationArchive): ArchiveDigest {
  const { date, messageCount, summarizedBy, windowSummary } = facts
  const summary = summarySection(body)
  return { date, messageCount, summarizedBy, summary, windowSummary, lastAnswer: lastAnswer(body) }
}

/** The value under an archive's key, or what a clean-up has moved from there to cold storage. */
export const readArchive = (
  memory: MemoryManager,
  key: string,
): Promise<MemoryRecord<ConversationArchive> | null> =>
  memory.read<ConversationArchive>('episodic', key, {
    includeMetadata: true,
    includeArchived: memory.capabilities.episodic.archive === true,
  })

/**
 * The archives of a session, also those in cold storage, in the order of their parts: a long session has several. They
 * end at the first part that is missing.
 */
export async function* readArchives(
  memory: MemoryManager,
  sessionId: string,
): AsyncGenerator<ConversationArchive, void, undefined> {
  for (let part = 1; ; part++) {
    const record = await readArchive(memory, conversationKey(sessionId, part))
    if (record === null) return
    yield record.value
  }
}
