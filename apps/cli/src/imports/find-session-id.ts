import { openTranscript } from '@recall/agents'
import { type ConversationArchive, conversationKey, type MemoryManager } from '@recall/core'
import { sha256 } from '../digest.ts'
import type { ImportJournal } from './import-journal.ts'

/**
 * The id of a session that only its file names: the name, or the name and a hash when that is the name of another
 * session. The first message tells sessions apart: a transcript that goes on keeps it.
 */
export async function findSessionId(
  memory: MemoryManager,
  journal: ImportJournal,
  { path, name }: { path: string; name: string },
): Promise<string> {
  const beginning = await beginningOf(path)
  const known = `session ${name}`
  if (beginning === undefined || journal.has(known, beginning)) return name
  const isKnown = journal.knows(known)
  const last = await lastMessages(memory, name)
  // An id from what was said proves the session; one that the file gives, such as `2`, may be in many.
  const proofs = isKnown ? last.filter((id) => id.startsWith('said-')) : last
  const isSame = last.length === 0 ? !isKnown : await hasAny(path, new Set(proofs))
  if (!isSame) return `${name}-${beginning.slice(0, 6)}`
  if (!isKnown) journal.add(known, beginning)
  return name
}

async function beginningOf(path: string): Promise<string | undefined> {
  const { messages } = await openTranscript(path)
  for await (const first of messages) return sha256(JSON.stringify(first))
  return undefined
}

/** The last message of each archive that a session has. */
async function lastMessages(memory: MemoryManager, sessionId: string): Promise<string[]> {
  const found: string[] = []
  for (let part = 1; ; part++) {
    const archive = await memory.read<ConversationArchive>('episodic', conversationKey(sessionId, part))
    if (archive === null) return found
    found.push(archive.lastMessage ?? '')
  }
}

async function hasAny(path: string, ids: ReadonlySet<string>): Promise<boolean> {
  const { messages } = await openTranscript(path)
  for await (const { id } of messages) if (ids.has(id)) return true
  return false
}
