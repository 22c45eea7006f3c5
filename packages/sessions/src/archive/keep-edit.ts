import { editedSummaryKey, type MemoryManager, type SessionSummary, windowNoteType } from '@recall/core'
import { fingerprint } from '@recall/core/text'
import { renderSessionSummary } from './render-window.ts'
import { type ArchiveDigest, digestOf, readArchives } from './stored-archives.ts'
import { readEntry, wasEdited } from './window-entry.ts'

/** Options of episodes that hold what a person wrote into the window. */
export const noteOptions = { type: windowNoteType, tags: ['window'] }

/**
 * Turns a summary into an episode before it leaves the window if a person changed it or its session has no archive:
 * nothing else holds it.
 */
export async function keepEdit(memory: MemoryManager, entry: SessionSummary): Promise<void> {
  const archives: ArchiveDigest[] = []
  for await (const archive of readArchives(memory, entry.sessionId)) archives.push(digestOf(archive))
  await keepIfEdited(memory, entry, archives)
}

/**
 * Keeps a summary that a person changed, while its earlier archives are known: once they are replaced, the change
 * cannot be detected.
 *
 * @param before digests of the session's archives before this change
 */
export async function keepEditOf(
  memory: MemoryManager,
  sessionId: string,
  before: readonly ArchiveDigest[],
): Promise<void> {
  const entry = await readEntry(memory, sessionId)
  if (entry !== null) await keepIfEdited(memory, entry, before)
}

async function keepIfEdited(
  memory: MemoryManager,
  entry: SessionSummary,
  archives: readonly ArchiveDigest[],
): Promise<void> {
  if (archives.length > 0 && !wasEdited(entry, archives)) return
  // The same text has the same key: after a crash it is not kept twice.
  const key = editedSummaryKey(entry.sessionId, fingerprint(entry.summary))
  await memory.write('episodic', key, renderSessionSummary(entry), noteOptions)
}
