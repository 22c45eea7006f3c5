import { createMemoryManager, type MemoryManager } from '@recall/core'
import type { FileStore, FileStoreSettings } from '@recall/store-file'
import type { Io } from '../terminal/io.ts'
import type { RootOptions } from './find-root.ts'
import { withStore } from './with-store.ts'

/** Opens a memory over the files for the duration of a call. The calling command reports what was redacted. */
export async function withMemory<T>(
  io: Io,
  options: RootOptions & Pick<FileStoreSettings, 'create' | 'embedder' | 'lockTimeoutMs'>,
  call: (memory: MemoryManager, store: FileStore) => Promise<T>,
): Promise<T> {
  const { embedder } = options
  return withStore(io, options, (store) =>
    call(createMemoryManager({ stores: store, clock: io.now, ...(embedder ? { embedder } : {}) }), store),
  )
}
