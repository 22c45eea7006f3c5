import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { listImportable, listSessionTranscripts, openTranscript } from '@recall/agents'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import type { Io } from '../terminal/io.ts'
import { throwAll } from '../throw-all.ts'

/**
 * The transcripts below some paths, each once, sessions before their helpers, and the paths that cannot be read.
 *
 * @throws MemoryError when there is no transcript
 */
export async function listTranscripts(
  io: Io,
  paths: string[],
): Promise<{ transcripts: string[]; unreadable: MemoryError[] }> {
  const found = new Set<string>()
  const unreadable: MemoryError[] = []
  for (const path of paths) {
    try {
      for (const transcript of await listTranscriptsOf(resolve(io.cwd, path))) found.add(transcript)
    } catch (error) {
      if (!isMemoryError(error)) throw error
      unreadable.push(error)
    }
  }
  if (found.size === 0) {
    throwAll(unreadable)
    throw new MemoryError(`no transcripts below ${paths.join(', ')}`, MemoryErrorCode.NOT_FOUND)
  }
  return { transcripts: [...found], unreadable }
}

/** For a folder, everything that may be a transcript; for a session, its transcript and those of its helpers. */
async function listTranscriptsOf(path: string): Promise<string[]> {
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
  if (!isFolder) return listSessionTranscripts(path)
  const found: string[] = []
  for (const file of await listImportable(path))
    if (file.endsWith('.jsonl') || (await isTranscript(file))) found.push(file)
  return found
}

/** Most markdown and JSON files in a folder are not transcripts. */
const isTranscript = (path: string): Promise<boolean> =>
  openTranscript(path).then(
    () => true,
    (error) => !isMemoryError(error, MemoryErrorCode.INVALID_INPUT),
  )
