import { basename, dirname, join } from 'node:path'
import { filesOfHelpers } from '../reading/files-below.ts'

/** Where the transcripts of helpers lie, in the folder of the session that started them. */
export const helpersFolder = 'subagents'

/** The transcripts of the helpers that a session started. */
export function listCursorHelpers(path: string, id: string): Promise<string[]> {
  const folder = dirname(path)
  const ofSession = basename(folder) === id ? folder : join(folder, id)
  return filesOfHelpers(join(ofSession, helpersFolder), (name) => name.endsWith('.jsonl'))
}
