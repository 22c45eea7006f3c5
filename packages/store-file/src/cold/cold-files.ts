import { basename, dirname, join } from 'node:path'
import {
  type Address,
  type Change,
  createInMemoryStore,
  type Entry,
  type Expected,
  type Found,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  memoryScopes,
  type Place,
  type PutOptions,
  type Selection,
  type StoreQuery,
  type SweepSelection,
} from '@recall/core'
import { equalJson } from '@recall/core/json'
import { orAbsent } from '@recall/core/process'
import { isExpired } from '@recall/core/stores'
import * as z from 'zod/mini'
import type { MemoryAccess } from '../access.ts'
import { anyJson } from '../documents/any-json.ts'
import { removeFile, replaceFile, sweepLeftovers } from '../files/atomic-write.ts'
import { type FileSystem, namesIn, reading, statusOf } from '../files/file-system.ts'
import { fileStem, fromShown, isInside } from '../files/paths.ts'
import { defaultNamespace } from '../layout/sources.ts'
import { mayBeExpired, pack, packedEnding, unpack } from './packed-entry.ts'

export interface ColdFilesOptions {
  fileSystem: FileSystem
  /** The memory's root, with symbolic links already followed. */
  root: string
  /** Relative to the root, with `/`. */
  folder: string
  access: MemoryAccess
}

const timestamp = z.number()
const entrySchema = z.object({
  namespace: z.string(),
  scope: z.enum(memoryScopes),
  key: z.string(),
  value: anyJson,
  text: z.string(),
  type: z.nullable(z.string()),
  tags: z.array(z.string()),
  createdAt: timestamp,
  updatedAt: timestamp,
  accessedAt: timestamp,
  accessCount: z.number(),
  ttl: z.nullable(timestamp),
  expiresAt: z.nullable(timestamp),
  encrypted: z.boolean(),
  embedding: z.nullable(z.object({ model: z.string(), vector: z.array(z.number()) })),
})

/** @throws when the bytes are not an archived entry */
export const parsePacked = (bytes: Uint8Array): Entry => entrySchema.parse(unpack(bytes)) as Entry

/** The operations of a cold store, synchronous except for search. Files are read on demand, and nothing is cached. */
export function createColdFiles({ fileSystem, root, folder, access }: ColdFilesOptions) {
  const { exclusively, prepareFolder } = access
  const folderOf = ({ namespace, scope }: Place): string => {
    const own = namespace === defaultNamespace ? '' : `namespaces/${fileStem(namespace)}/`
    return fromShown(root, `${folder}/${own}${scope}`)
  }
  const pathOf = (address: Address): string =>
    join(folderOf(address), `${fileStem(address.key)}${packedEnding}`)

  /** No symbolic link may lead a write out of the root, or a foreign file into the memory. */
  const bytesOf = (path: string): Buffer | null => {
    if (!isInside(fileSystem, root, dirname(path))) return null
    const stats = statusOf(fileSystem, path)
    if (stats && !stats.isFile()) throw damaged(path, 'it is not a plain file')
    return stats && reading(fileSystem, path, () => orAbsent(() => fileSystem.readFileSync(path)))
  }

  const read = (path: string): Entry | null => {
    const bytes = bytesOf(path)
    if (!bytes) return null
    try {
      return parsePacked(bytes)
    } catch (cause) {
      throw damaged(path, 'it does not unpack to an entry', cause)
    }
  }

  const write = (entry: Entry, source?: string): void => {
    const path = pathOf(entry)
    prepareFolder(dirname(path))
    replaceFile(fileSystem, path, pack(entry), { source })
  }

  const filesIn = (place: Place): string[] => {
    const own = folderOf(place)
    if (!isInside(fileSystem, root, own)) return []
    const names = namesIn(fileSystem, own) ?? []
    return names
      .filter((name) => name.endsWith(packedEnding) && !name.startsWith('.'))
      .map((name) => join(own, name))
  }

  const live = (address: Address, now: number): Entry | null => {
    const entry = read(pathOf(address))
    return entry && entry.key === address.key && !isExpired(entry, now) ? entry : null
  }

  const remove = (address: Address): boolean => {
    const path = pathOf(address)
    return isInside(fileSystem, root, dirname(path)) && removeFile(fileSystem, path)
  }

  /** Usually there is nothing to remove; then take no lock, because locking fails on a full disk. */
  const removeIfThere = (address: Address): boolean =>
    fileSystem.existsSync(pathOf(address)) && exclusively(() => remove(address))

  return {
    pathOf,

    /** @param source the file that the entry comes from: a new one is no more readable than that */
    put(entry: Entry, { overwrite, now }: PutOptions, source?: string): void {
      exclusively(() => {
        if (!overwrite && live(entry, now)) throw conflict(entry, 'is archived already')
        write(entry, source)
      })
    },

    get: live,

    /** Reads every file into an in-memory store and searches that: good enough for a rare search. */
    async find(query: StoreQuery): Promise<Found[]> {
      const store = createInMemoryStore({ archive: false })
      for (const path of filesIn(query)) {
        const entry = read(path)
        if (entry) await store.put(entry, { overwrite: true, now: query.now })
      }
      return store.find(query)
    },

    /** Takes one change at a time, or any number of removals; entries that are not there are skipped. */
    commit(changes: readonly Change[]): void {
      const removals = changes.flatMap((each) => ('remove' in each && !each.expected ? each.remove : []))
      if (removals.length === changes.length) {
        for (const address of removals) removeIfThere(address)
        return
      }
      const [change, ...more] = changes
      if (!change) return
      if (more.length > 0) {
        throw new MemoryError(
          'an archive in files takes one change at a time: commit each by itself',
          MemoryErrorCode.NOT_SUPPORTED,
        )
      }
      exclusively(() => {
        const address = 'put' in change ? change.put : change.remove
        const { expected } = change
        if (expected && !isAsExpected(read(pathOf(address)), expected)) {
          throw conflict(address, 'was changed by somebody else meanwhile')
        }
        if ('put' in change) write(change.put)
        else remove(address)
      })
    },

    remove: removeIfThere,

    removeAll(selection: Selection): number {
      if (filesIn(selection).length === 0) return 0
      return exclusively(() => {
        let removed = 0
        for (const path of filesIn(selection)) {
          if (isSelected(selection, () => read(path)) && removeFile(fileSystem, path)) removed++
        }
        return removed
      })
    },

    sweep({ now, dryRun, ...place }: SweepSelection): number {
      const paths = filesIn(place)
      if (!dryRun && isInside(fileSystem, root, folderOf(place))) sweepLeftovers(fileSystem, folderOf(place))
      let count = 0
      for (const path of paths) {
        const bytes = bytesOf(path)
        if (!bytes || !mayBeExpired(bytes, now)) continue
        exclusively(() => {
          const entry = read(path)
          if (!entry || !isExpired(entry, now)) return
          count++
          if (!dryRun) removeFile(fileSystem, path)
        })
      }
      return count
    },
  }
}

export type ColdFiles = ReturnType<typeof createColdFiles>

const isAsExpected = (present: Entry | null, { updatedAt, value }: Expected): boolean =>
  present?.updatedAt === updatedAt && (value === undefined || equalJson(present.value, value))

function isSelected({ updatedBefore, tags, type }: Selection, read: () => Entry | null): boolean {
  if (updatedBefore === undefined && tags === undefined && type === undefined) return true
  const entry = read()
  if (!entry) return false
  if (updatedBefore !== undefined && entry.updatedAt >= updatedBefore) return false
  if (type !== undefined && entry.type !== type) return false
  return (tags ?? []).every((tag) => entry.tags.includes(tag))
}

const conflict = ({ scope, key }: { scope: MemoryScope; key: string }, problem: string): MemoryError =>
  new MemoryError(`'${key}' ${problem}`, MemoryErrorCode.CONFLICT, { scope, key })

function damaged(path: string, problem: string, cause?: unknown): MemoryError {
  if (isMemoryError(cause)) return cause
  return new MemoryError(
    `${basename(path)} in the archive cannot be read, ${problem}: restore ${path} from a backup, or move it away`,
    MemoryErrorCode.CORRUPTION,
    { ...(cause === undefined ? {} : { cause }), details: { path } },
  )
}
