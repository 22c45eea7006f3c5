import { openTranscript } from '@recall/agents'
import {
  type ConversationArchive,
  derivedIdMark,
  type JsonObject,
  type MemoryManager,
  type Message,
  redactJson,
  redactText,
} from '@recall/core'
import { readArchives } from '@recall/sessions'
import { sha256 } from '../digest.ts'
import type { ImportJournal } from './import-journal.ts'

/**
 * The id of a session that only its file's name identifies: that name, or the name and a hash if another session has
 * it. The first message tells sessions apart: it stays the same when a transcript goes on.
 */
export async function findSessionId(
  memory: MemoryManager,
  journal: ImportJournal,
  { path, name }: { path: string; name: string },
): Promise<string> {
  const first = await firstOf(path)
  if (first === undefined) return name
  const { value: clean, counts } = redactJson(first as unknown as JsonObject)
  const beginning = sha256(JSON.stringify(clean))
  const known = `session ${name}`
  if (journal.has(known, beginning)) return name
  const isKnown = journal.knows(known)
  const archives: ConversationArchive[] = []
  for await (const archive of readArchives(memory, name)) archives.push(archive)
  const last = archives.map(({ lastMessage = '' }) => lastMessage)
  // An id derived from what was said proves the session; one that the file gives, such as `2`, may occur in many.
  const proofs = isKnown ? last.filter((id) => id.startsWith(derivedIdMark)) : last
  // The journal's hash and the ids differ if more of the first message now counts as a secret than before.
  const isRenamed = Object.keys(counts).length > 0 && holds(archives[0], first)
  const isSame = last.length === 0 ? !isKnown : isRenamed || (await hasAny(path, new Set(proofs)))
  if (!isSame) return `${name}-${beginning.slice(0, 6)}`
  if (!isKnown || isRenamed) journal.add(known, beginning)
  return name
}

async function firstOf(path: string): Promise<Message | undefined> {
  const { messages } = await openTranscript(path)
  for await (const first of messages) return first
  return undefined
}

/** Whether an archive holds the text of a message, as redacted. */
function holds(archive: ConversationArchive | undefined, { content }: Message): boolean {
  const texts = content.flatMap((block) => (block.type === 'text' ? redactText(block.text).text.trim() : []))
  return texts.length > 0 && texts.every((text) => archive?.body.includes(text))
}

async function hasAny(path: string, ids: ReadonlySet<string>): Promise<boolean> {
  const { messages } = await openTranscript(path)
  for await (const { id } of messages) if (ids.has(id)) return true
  return false
}
