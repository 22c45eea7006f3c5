import { resolve, sep } from 'node:path'
import {
  checkMemoryOptions,
  createMemoryManager,
  type Embedder,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  type MemoryManagerOptions,
  refuseUnknownOptions,
  type TypesOf,
  type ValueSchemas,
} from '@recall/core'
import { createFolder, orAbsent } from '@recall/core/process'
import { type RankWeights, rankWeights } from '@recall/core/ranking'
import { createFileStore, type FileStore } from './file-store.ts'
import { defaultFileSystem, type FileSystem, orUnusable } from './files/file-system.ts'
import { missingRoot } from './files/folders.ts'
import { layoutOf } from './layout/find-layout.ts'
import type { Layout } from './layout/layout.ts'
import { loadSqlite } from './sqlite/driver.ts'

export interface FileStoreSettings {
  /** Folder that holds the memory. */
  root: string
  /**
   * Default: the one in `.recall-echo.json`, otherwise the one the root already has, otherwise `entity`. A layout that
   * differs from the root's is refused.
   */
  layout?: Layout['name'] | undefined
  /** Create the root when it does not exist. Default false: a missing root is an error, not an empty memory. */
  create?: boolean | undefined
  /**
   * Finds by meaning too: the texts of the files are embedded, and the vectors kept next to the index. Closed with the
   * last memory that uses it.
   */
  embedder?: Embedder | undefined
  /** Weights of the ranking that differ from `rankWeights`. */
  ranking?: Partial<RankWeights> | undefined
  /** Receives messages for people, such as that the index had to be rebuilt, or cannot be stored. Default: none. */
  onNotice?: ((text: string) => void) | undefined
  /** How long a write waits for another process that holds the lock, in milliseconds. Default 15,000. */
  lockTimeoutMs?: number | undefined
  fileSystem?: FileSystem | undefined
}

export interface FileMemoryOptions<Schemas extends ValueSchemas = ValueSchemas>
  extends FileStoreSettings,
    Omit<MemoryManagerOptions<Schemas>, 'stores' | 'embedder'> {}

/**
 * Markdown files below `root` are the memory. The index next to them may be deleted at any time.
 *
 * @throws MemoryError UNAVAILABLE when the root is missing or cannot be read, CONFLICT when it holds two layouts,
 * INVALID_INPUT when an option or its `.recall-echo.json` is not valid: with a wrong option no root is created
 */
export async function openFileMemory<Schemas extends ValueSchemas = Record<never, never>>(
  options: FileMemoryOptions<Schemas>,
): Promise<MemoryManager<TypesOf<Schemas>>> {
  // First, because an untyped program may pass no options.
  pathOf(options?.root)
  const { root, layout, create, ranking, onNotice, lockTimeoutMs, fileSystem, ...memory } = options
  checkMemoryOptions(memory)
  const { embedder } = memory
  const settings = { root, layout, create, embedder, ranking, onNotice, lockTimeoutMs, fileSystem }
  const stores = await openFileStore(settings)
  try {
    return createMemoryManager({ ...memory, stores })
  } catch (error) {
    await stores.close()
    throw error
  }
}

/**
 * The store by itself, for tools that need to know where things lie in the files.
 *
 * @throws MemoryError like `openFileMemory`
 */
export async function openFileStore(settings: FileStoreSettings): Promise<FileStore> {
  // First, because an untyped program may pass no settings.
  const path = pathOf(settings?.root)
  checkSettings(settings)
  const { fileSystem = defaultFileSystem, onNotice = () => {} } = settings
  const root = orUnusable(path, () => rootAt(fileSystem, path, settings.create === true))
  const layout = orUnusable(path, () => layoutOf(fileSystem, root, settings.layout))
  const { embedder, ranking, lockTimeoutMs } = settings
  const openDatabase = await loadSqlite()
  return orUnusable(path, () =>
    createFileStore({ root, layout, fileSystem, openDatabase, onNotice, embedder, ranking, lockTimeoutMs }),
  )
}

/** An empty root, from a setting that is not set, would mean the folder in which the program happens to run. */
function pathOf(root: string): string {
  if (typeof root === 'string' && root !== '') return resolve(root)
  throw new MemoryError(
    'root is the path of the folder that holds the memory, as a string that is not empty (a URL becomes one by fileURLToPath)',
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** Runs before the root is created. */
function checkSettings(settings: FileStoreSettings): void {
  const { root, layout, create, embedder, fileSystem, ...checked } = settings
  const { ranking = {}, onNotice, lockTimeoutMs, ...others } = checked
  refuseUnknownOptions(others)
  const refuse = (message: string): never => {
    throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT)
  }
  if (create !== undefined && typeof create !== 'boolean') refuse('create is true or false')
  if (lockTimeoutMs !== undefined && !(typeof lockTimeoutMs === 'number' && lockTimeoutMs >= 0))
    refuse(`lockTimeoutMs is a number of milliseconds, 0 or more, not ${lockTimeoutMs}`)
  if (onNotice !== undefined && typeof onNotice !== 'function')
    refuse('onNotice is a function that takes a text')
  for (const [name, weight] of Object.entries(ranking)) {
    if (!Object.hasOwn(rankWeights, name)) refuse(`ranking takes weights named in rankWeights, not ${name}`)
    if (!Number.isFinite(weight)) refuse(`ranking takes weights that are numbers, which ${name} is not`)
  }
}

/** The real path of the root, which is created first if requested. */
function rootAt(fileSystem: FileSystem, path: string, create: boolean): string {
  // A folder that we create is private to its user; to share a memory, create its folder yourself.
  if (create) createFolder(path, 0o700)
  const root = orAbsent(() => fileSystem.realpathSync.native(path))
  if (root === null) throw missingRoot(path)
  // Fails for a file, and for a folder whose files cannot be reached.
  fileSystem.lstatSync(`${root}${sep}.`)
  return root
}
