import { existsSync, readlinkSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { UsageError } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { isKnownMemory } from './known-memory.ts'
import { wiredRoot } from './receipts.ts'

export interface RootOptions {
  root?: string
  layout?: 'entity' | 'user'
}

/**
 * The root of the memory: the requested one, otherwise `RECALL_ROOT`, otherwise this folder if it holds a memory,
 * otherwise the usual one.
 *
 * @throws UsageError when a file is in its place, MemoryError UNAVAILABLE when it is on a disk that is away
 */
export function findRoot(io: Io, { root }: RootOptions): string {
  const asked = root ?? io.env.RECALL_ROOT
  if (asked) return checkedFolder(rootAt(io, asked))
  return isKnownMemory(io.cwd) ? io.cwd : checkedFolder(usualRoot(io))
}

/** For processes that agents start in other people's folders: a memory in the working folder is not theirs. */
export const findOwnRoot = (io: Io, { root }: RootOptions): string =>
  findRoot(io, { root: root || io.env.RECALL_ROOT || join(io.home, '.recall') })

/** The folder that a text names. Shells do not expand `~` after `--root=`, nor does the reader of a settings file. */
export const rootAt = ({ cwd, home }: Io, path: string): string =>
  resolve(
    cwd,
    path.replace(/^~(?=$|[\\/])/, () => home),
  )

/** `.recall` in the home folder; if it holds no memory, the one that was wired into the agents of this machine. */
export function usualRoot(io: Io): string {
  const usual = join(io.home, '.recall')
  return existsSync(join(usual, 'memory')) ? usual : (wiredRoot(io) ?? usual)
}

/**
 * The options with the root that an argument names.
 *
 * @throws UsageError when `--root` names another
 */
export function withRoot<Options extends RootOptions>(
  io: Io,
  given: string | undefined,
  options: Options,
): Options {
  if (!given) return options
  if (options.root && rootAt(io, options.root) !== rootAt(io, given))
    throw new UsageError(`${given} and --root ${options.root} are two memories: name one`)
  return { ...options, root: given }
}

/**
 * @throws UsageError when a file stands there, or in the place of a folder above it; MemoryError UNAVAILABLE when a
 * link there leads nowhere
 */
function checkedFolder(path: string): string {
  for (let each = path; ; each = dirname(each)) {
    const kind = kindInTheWay(each)
    if (kind !== null) throw new UsageError(`${each} is ${kind}: a memory is a folder`)
    const nowhere = leadsNowhere(each)
    if (nowhere) {
      throw new MemoryError(
        `${each} is a link to ${nowhere}, which is not there: check that its disk is mounted`,
        MemoryErrorCode.UNAVAILABLE,
      )
    }
    if (each === dirname(each)) return path
  }
}

function kindInTheWay(path: string): string | null {
  if (!existsSync(path)) return null
  const stats = statSync(path)
  if (stats.isDirectory()) return null
  return stats.isFile() ? 'a file' : 'not a folder'
}

/** The target of a link, if nothing is there. */
function leadsNowhere(path: string): string | undefined {
  if (existsSync(path)) return undefined
  try {
    return readlinkSync(path)
  } catch {
    // Not a link.
    return undefined
  }
}
