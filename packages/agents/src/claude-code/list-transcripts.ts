import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { filesBelow, mayHoldSessions } from '../reading/files-below.ts'
import { splitAddress } from '../reading/one-of-many.ts'
import { toMemoryError } from '../reading/open-file.ts'

/** JSONL files of the host that hold no conversation. */
const otherFiles = new Set(['history.jsonl', 'journal.jsonl'])

/**
 * The transcripts that belong to a path. For a session's file: the file itself and those of the helpers that the
 * session started. For a folder: all sessions below it, each followed by its helpers. Links are not followed.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the path cannot be read
 */
export async function listClaudeCodeTranscripts(path: string): Promise<string[]> {
  if (splitAddress(path) !== null) return [path]
  try {
    if ((await stat(path)).isDirectory()) return await filesBelow(path, isTranscript, mayHoldSessions)
    const helpers = join(dirname(path), basename(path).replace(/\.jsonl$/, ''), 'subagents')
    return [path, ...(await listHelpers(helpers))]
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

async function listHelpers(folder: string): Promise<string[]> {
  try {
    return await filesBelow(folder, (name) => /^agent-.*\.jsonl$/.test(name), mayHoldSessions)
  } catch (error) {
    // No helpers, or a file that is not named like a session.
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return []
    throw error
  }
}

const isTranscript = (name: string): boolean => name.endsWith('.jsonl') && !otherFiles.has(name)
