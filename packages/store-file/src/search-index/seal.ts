import { join } from 'node:path'
import { orAbsent, writing } from '@recall/core/process'
import { type FileStamp, stampOf } from '../files/file-stamp.ts'
import { type FileSystem, overwriteInPlace, statusOf } from '../files/file-system.ts'

export const indexName = 'index.db'
const sealName = 'index.seal'

/**
 * Written next to an index that was closed properly: its size and times, and facts that make opening it unnecessary.
 */
export interface Seal {
  stamp: FileStamp
  documents: number
  /** Modification time of every folder when the index was last in step with it. */
  folders: Record<string, number>
}

/** The seal of an index that nobody has touched since it was closed, otherwise `null`. */
export function readSeal(fileSystem: FileSystem, folder: string): Seal | null {
  if (logSize(fileSystem, folder) > 0) return null
  const text = orAbsent(() => fileSystem.readFileSync(join(folder, sealName), 'utf8'))
  const stats = statusOf(fileSystem, join(folder, indexName))
  if (text === null || !stats) return null
  try {
    const seal = JSON.parse(text) as Seal
    return JSON.stringify(seal.stamp) === JSON.stringify(stampOf(stats)) ? seal : null
  } catch {
    // A torn seal proves nothing; the index is then checked page by page.
    return null
  }
}

export function writeSeal(fileSystem: FileSystem, folder: string, facts: Omit<Seal, 'stamp'>): void {
  const stats = statusOf(fileSystem, join(folder, indexName))
  if (!stats || logSize(fileSystem, folder) > 0) return
  const seal = { stamp: stampOf(stats), ...facts } satisfies Seal
  const path = join(folder, sealName)
  writing(path, () => overwriteInPlace(fileSystem, path, JSON.stringify(seal)))
}

/** Best effort: the next process to open the index checks it page by page. */
export function breakSeal(fileSystem: FileSystem, folder: string): void {
  try {
    fileSystem.unlinkSync(join(folder, sealName))
  } catch {}
}

/** Bytes in the write-ahead log that are not in the file yet. */
export const logSize = (fileSystem: FileSystem, folder: string): number =>
  statusOf(fileSystem, join(folder, `${indexName}-wal`))?.size ?? 0
