import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from './exit-codes.ts'
import type { Io } from './io.ts'

export interface RootOptions {
  root?: string
  layout?: 'entity' | 'user'
}

/**
 * The root of the memory: the one asked for, else `RECALL_ROOT`, else this folder if it holds a memory, else
 * `.recall` in the home folder.
 *
 * @throws UsageError when a file is in its place
 */
export function findRoot(io: Io, { root }: RootOptions): string {
  const asked = root ?? io.env.RECALL_ROOT
  if (asked) return folder(resolve(io.cwd, asked))
  return existsSync(join(io.cwd, 'memory', 'MEMORY.md')) ||
    existsSync(join(io.cwd, 'memory', 'conversations'))
    ? io.cwd
    : join(io.home, '.recall')
}

function folder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`${path} is a file: a memory is a folder`)
  return path
}
