import fs from 'node:fs'
import { join } from 'node:path'
import { type PGlite, PGlite as Pglite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { syncFile, syncFolder } from '@recall/core/process'

/**
 * The file system of an embedded database, with a real fsync. PGlite switches fsync off for speed, and its file
 * system ignores it: an acknowledged write would survive a killed process, but not a power cut.
 */
export class SyncingFiles extends NodeFS {
  override async init(pg: PGlite, options: Parameters<NodeFS['init']>[1]): ReturnType<NodeFS['init']> {
    const made = await super.init(pg, options)
    made.emscriptenOpts.preRun = [...listOf(made.emscriptenOpts.preRun), syncForReal]
    return made
  }
}

const listOf = <T>(some: T | T[] | undefined): T[] => (Array.isArray(some) ? some : some ? [some] : [])

/**
 * PGlite's default parameters without `-F`, which switches fsync off. Its runtime ignores fdatasync, so Postgres must
 * use fsync. By default it would keep a gigabyte of its log for later use.
 */
export const syncingStartParams: string[] = [
  ...Pglite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'wal_sync_method=fsync', '-c', 'max_wal_size=64MB', '-c', 'min_wal_size=32MB'],
]

interface FileRuntime {
  FS: {
    ErrnoError: new (code: number) => Error
    filesystems: { NODEFS: { stream_ops: { fsync?: (stream: { nfd: number }) => number } } }
  }
}

function syncForReal(runtime: unknown): void {
  const { FS } = runtime as FileRuntime
  FS.filesystems.NODEFS.stream_ops.fsync = ({ nfd }) => {
    try {
      fs.fsyncSync(nfd)
      return 0
    } catch {
      // Postgres must not go on as if the data were safe.
      throw new FS.ErrnoError(inputOutputError)
    }
  }
}

/** The number of EIO in this runtime. */
const inputOutputError = 29

/** Makes everything below a folder durable, because creating a database writes its files without syncing them. */
export function syncAllBelow(folder: string): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) syncAllBelow(path)
    else if (entry.isFile()) syncFile(path, fs)
  }
  syncFolder(folder, fs)
}
