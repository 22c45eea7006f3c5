import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  defaultFileSystem,
  type FileStore,
  type FileStoreSettings,
  layoutOf,
  openFileStore,
} from '@recall/store-file'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import { findRoot, type RootOptions } from './find-root.ts'
import { requireWired } from './receipts.ts'
import { requireMemory } from './require-memory.ts'

/** Opens the store for the duration of a call, and closes it even after an error. */
export async function withStore<T>(
  io: Io,
  options: RootOptions & Pick<FileStoreSettings, 'create' | 'embedder' | 'lockTimeoutMs'>,
  call: (store: FileStore) => T | Promise<T>,
): Promise<T> {
  const root = findRoot(io, options)
  requireWired(io, root)
  if (options.create || options.layout) layoutOf(defaultFileSystem, root, options.layout)
  if (!options.create) requireMemory(root, options)
  const isNew = options.create && !existsSync(join(root, 'memory'))
  const store = await openFileStore({
    root,
    onNotice: (text) => io.err(`recall: ${text}\n`),
    ...(options.layout ? { layout: options.layout } : {}),
    ...(options.create ? { create: true } : {}),
    ...(options.embedder ? { embedder: options.embedder } : {}),
    ...(options.lockTimeoutMs === undefined ? {} : { lockTimeoutMs: options.lockTimeoutMs }),
  })
  // A memory that nobody wired in may be on a disk that is away, and then this new one is not the one that was meant.
  if (isNew) io.err(`recall: there was no memory in ${printable(root)}: this is a new one\n`)
  try {
    return await call(store)
  } finally {
    await store.close()
    await options.embedder?.close?.()
  }
}
