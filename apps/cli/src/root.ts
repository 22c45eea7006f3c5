import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { FileStore } from '@recall/store-file'
import type { Io } from './io.ts'

export interface RootOptions {
  root?: string
  layout?: 'entity' | 'user'
}

/**
 * Where the memory is: what was asked for, else `RECALL_ROOT`, else this folder when it holds a memory, else
 * `.recall` in the home folder.
 */
export function findRoot(io: Io, { root }: RootOptions): string {
  const asked = root ?? io.env.RECALL_ROOT
  if (asked) return resolve(io.cwd, asked)
  return existsSync(join(io.cwd, 'memory', 'MEMORY.md')) ||
    existsSync(join(io.cwd, 'memory', 'conversations'))
    ? io.cwd
    : join(io.home, '.recall')
}

/** Opens the store, gives it to a call and closes it, whatever happens. */
export async function withStore<T>(
  io: Io,
  options: RootOptions & { create?: boolean },
  call: (store: FileStore) => T | Promise<T>,
): Promise<T> {
  const { openFileStore } = await import('@recall/store-file')
  const store = await openFileStore({
    root: findRoot(io, options),
    onNotice: (text) => io.err(`recall: ${text}\n`),
    ...(options.layout ? { layout: options.layout } : {}),
    ...(options.create ? { create: true } : {}),
  })
  try {
    return await call(store)
  } finally {
    await store.close()
  }
}
