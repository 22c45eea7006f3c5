import { type FileStore, type FileStoreSettings, openFileStore } from '@recall/store-file'
import type { Io } from '../terminal/io.ts'
import { findRoot, type RootOptions } from './find-root.ts'
import { layoutToWrite } from './one-layout.ts'
import { requireWired } from './receipts.ts'

/** Opens the store for the duration of a call, and closes it even after an error. */
export async function withStore<T>(
  io: Io,
  options: RootOptions & Pick<FileStoreSettings, 'create' | 'embedder' | 'lockTimeoutMs'>,
  call: (store: FileStore) => T | Promise<T>,
): Promise<T> {
  const root = findRoot(io, options)
  requireWired(io, root)
  if (options.create) layoutToWrite(root, options.layout)
  const store = await openFileStore({
    root,
    onNotice: (text) => io.err(`recall: ${text}\n`),
    ...(options.layout ? { layout: options.layout } : {}),
    ...(options.create ? { create: true } : {}),
    ...(options.embedder ? { embedder: options.embedder } : {}),
    ...(options.lockTimeoutMs === undefined ? {} : { lockTimeoutMs: options.lockTimeoutMs }),
  })
  try {
    return await call(store)
  } finally {
    await store.close()
    await options.embedder?.close?.()
  }
}
