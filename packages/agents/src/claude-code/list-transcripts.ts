import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { splitAddress } from '../one-of-many.ts'
import { toMemoryError } from '../open-file.ts'

/** JSONL files of the host that hold no conversation, and folders that hold no transcripts. */
const otherFiles = new Set(['history.jsonl', 'journal.jsonl'])
const otherFolders = new Set(['tool-results', 'memory', 'node_modules'])

/**
 * The transcripts that belong to a path. For a session's file: the file itself and those of the helpers that the
 * session started. For a folder: all sessions below it, each followed by its helpers. Links are not followed.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the path cannot be read
 */
export async function listClaudeCodeTranscripts(path: string): Promise<string[]> {
  if (splitAddress(path) !== null) return [path]
  try {
    if ((await stat(path)).isDirectory()) return (await listBelow(path, isTranscript)).sort(byCodeUnit)
    const helpers = join(dirname(path), basename(path).replace(/\.jsonl$/, ''), 'subagents')
    return [path, ...(await listHelpers(helpers)).sort(byCodeUnit)]
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

async function listHelpers(folder: string): Promise<string[]> {
  try {
    return await listBelow(folder, (name) => /^agent-.*\.jsonl$/.test(name))
  } catch (error) {
    // No helpers, or a file that is not named like a session.
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return []
    throw error
  }
}

async function listBelow(folder: string, wanted: (name: string) => boolean): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile() && wanted(entry.name)) found.push(path)
    else if (isSearched(entry)) found.push(...(await listBelow(path, wanted)))
  }
  return found
}

const isTranscript = (name: string): boolean => name.endsWith('.jsonl') && !otherFiles.has(name)
const isSearched = (entry: Dirent): boolean => entry.isDirectory() && !otherFolders.has(entry.name)

/** Puts `id.jsonl` right before `id/…`, since `.` sorts before `/`. */
const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
