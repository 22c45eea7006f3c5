import { basename, join, resolve } from 'node:path'
import { MemoryError, MemoryErrorCode, memoryScopes, refuseUnknownOptions } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import {
  parseQueueCapacity,
  type QueueItem,
  queueIsClosed,
  queueIsFull,
  type WriteQueue,
} from '@recall/core/protocol'
import * as z from 'zod/mini'
import { anyJson } from './documents/any-json.ts'
import { createFile, removeFile, replaceFile, sweepLeftovers } from './files/atomic-write.ts'
import { defaultFileSystem, type FileSystem } from './files/file-system.ts'
import { ensureFolder, onlyUser } from './files/folders.ts'
import { type Database, loadSqlite } from './sqlite/driver.ts'
import { isBusy } from './sqlite/errors.ts'

export interface WriteQueueOptions {
  /**
   * Used by the queue alone; created when missing. Must not lie below a memory's root, which may be what is
   * unreachable.
   */
  folder: string
  /** The most writes that may wait. Default 10,000. */
  capacity?: number | undefined
  fileSystem?: FileSystem | undefined
}

const itemName = /^(\d{16})\.json$/
/** JSON has no `Infinity` and writes `null` in its place. */
const ttl = z.pipe(
  z.nullable(z.number()),
  z.transform((given) => given ?? Number.POSITIVE_INFINITY),
)
const itemSchema = z.object({
  namespace: z.string(),
  scope: z.enum(memoryScopes),
  key: z.string(),
  value: anyJson,
  options: z.optional(z.looseObject({ ttl: z.optional(ttl) })),
  queuedAt: z.number(),
  id: z.int(),
  attempts: z.int(),
  notBefore: z.number(),
  follows: z.optional(z.number()),
  lastError: z.optional(z.string()),
  dead: z.optional(z.boolean()),
})

/**
 * A queue of writes as files, one each, which are synced before a write counts as queued: it survives a killed process
 * and a power cut. Several processes may share the folder; only one drains it at a time.
 *
 * A damaged file stays as it is, for a person to mend or to remove, and the other writes go on. While it is there,
 * `items` reports it as a dead item of the default namespace, as its own is unknown: `lastError` names the file,
 * `remove` removes it, and `update` leaves it alone.
 *
 * @throws MemoryError INVALID_INPUT when the folder is not a path, the capacity is not a whole number of at least 1, or
 * an option is unknown
 */
export async function openWriteQueue(options: WriteQueueOptions): Promise<WriteQueue> {
  // First, because an untyped program may pass no options.
  const folder = placeOf(options?.folder)
  const { folder: _, fileSystem = defaultFileSystem, capacity: most, ...others } = options
  refuseUnknownOptions(others)
  const capacity = parseQueueCapacity(most)
  const openDatabase = await loadSqlite()
  ensureFolder(fileSystem, folder, onlyUser)
  /** Ids of the files that were damaged when they were last read. */
  const damaged = new Set<number>()
  let lock: Database | undefined
  let held = false
  let closed = false
  const refuseClosed = (): void => {
    if (closed && !held) throw queueIsClosed()
  }

  const pathOf = (id: number): string => join(folder, `${String(id).padStart(16, '0')}.json`)

  const ids = (): number[] =>
    fileSystem
      .readdirSync(folder, 'utf8')
      .flatMap((name) => itemName.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b)

  const read = (id: number): QueueItem | null => {
    const path = pathOf(id)
    const text = orAbsent(() => fileSystem.readFileSync(path, 'utf8'))
    if (text === null) return null
    const item = parseItem(text)
    if (item) damaged.delete(id)
    else damaged.add(id)
    return item ?? damagedItem(id, path)
  }

  const print = (item: QueueItem): string => `${JSON.stringify(item)}\n`

  return {
    durable: true,

    async append(write) {
      refuseClosed()
      const waiting = ids()
      if (waiting.length >= capacity) throw queueIsFull(capacity)
      // Keeps rising even if the queue was empty in between.
      let id = Math.max((waiting.at(-1) ?? 0) + 1, Math.floor(write.queuedAt))
      for (let refused = false; ; ) {
        const item: QueueItem = { ...write, id, attempts: 0, notBefore: 0 }
        if (createFile(fileSystem, pathOf(id), print(item))) return item
        const isTaken = fileSystem.existsSync(pathOf(id))
        // The first time, another process may have queued a write under this number and drained it already.
        if (!isTaken && refused) throw noHardLinks(folder)
        refused = !isTaken
        if (isTaken) id++
      }
    },

    async items(after = 0) {
      refuseClosed()
      return ids().flatMap((id) => (id > after ? (read(id) ?? []) : []))
    },

    async update(item) {
      if (damaged.has(item.id)) return
      if (fileSystem.existsSync(pathOf(item.id))) replaceFile(fileSystem, pathOf(item.id), print(item))
    },

    async remove(id) {
      removeFile(fileSystem, pathOf(id))
    },

    async exclusively(section) {
      refuseClosed()
      if (held) return null
      lock ??= openDatabase(join(folder, 'lock.db'))
      const own = lock
      try {
        // The operating system releases it when the process dies.
        own.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
      } catch (error) {
        if (isBusy(error)) return null
        throw error
      }
      held = true
      try {
        sweepLeftovers(fileSystem, folder)
        return await section()
      } finally {
        held = false
        // A queue that was closed meanwhile has released it.
        if (lock === own) own.exec('ROLLBACK')
      }
    },

    async close() {
      closed = true
      lock?.close()
      lock = undefined
    },
  }
}

/** @returns `null` for a text that is not a queued write */
function parseItem(text: string): QueueItem | null {
  try {
    return itemSchema.parse(JSON.parse(text)) as QueueItem
  } catch {
    return null
  }
}

/** The item that represents a file that is not a queued write. No drain makes it, and none writes to it. */
const damagedItem = (id: number, path: string): QueueItem => ({
  namespace: 'default',
  scope: 'working',
  key: basename(path),
  value: null,
  queuedAt: id,
  id,
  attempts: 0,
  notBefore: 0,
  lastError: `${path} is not a queued write: mend it, or move it away`,
  dead: true,
})

/** An empty path, from a setting that is not set, would mean the folder in which the program happens to run. */
function placeOf(folder: string): string {
  if (typeof folder === 'string' && folder !== '') return resolve(folder)
  throw new MemoryError(
    'folder is the path of the folder of the queue, as a string that is not empty (a URL becomes one by fileURLToPath)',
    MemoryErrorCode.INVALID_INPUT,
  )
}

const noHardLinks = (folder: string): MemoryError =>
  new MemoryError(
    `${folder} is on a file system without hard links, where two processes could take one number: choose another folder`,
    MemoryErrorCode.NOT_SUPPORTED,
    { details: { folder } },
  )
