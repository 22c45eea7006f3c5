import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { hasEnded } from '@recall/core/process'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'

/** The file that links lead to, which is to be replaced rather than the link; the path itself if there is no file. */
export const behindLinks = (path: string): string => (existsSync(path) ? realpathSync.native(path) : path)

/** A name next to a path that nobody else takes, and that identifies the process. */
export const ownName = (path: string, mark: string): string =>
  `${path}${mark}${process.pid}-${randomBytes(4).toString('hex')}`

/** Removes files of that name pattern that killed processes left next to a path. */
export function removeAbandoned(path: string, mark: string): void {
  const prefix = `${basename(path)}${mark}`
  for (const name of readdirSync(dirname(path))) {
    const pid =
      name.startsWith(prefix) && /^(\d+)(?:-[0-9a-f]{8}(?:\.tar)?)?$/.exec(name.slice(prefix.length))?.[1]
    if (pid && hasEnded(Number(pid))) rmSync(join(dirname(path), name), { recursive: true, force: true })
  }
}

const ends = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Removes unfinished files when a signal ends the process during the work: nobody knows of them, even if they hold a
 * copy of a memory, and if the next ones have another name, such as a date, nobody would remove them. The signal waits
 * for synchronous work to end.
 *
 * @param told the message for the person in that case
 */
export async function removedIfEnded<T>(
  io: Io,
  { paths, told }: { paths: readonly string[]; told: string },
  work: () => Promise<T>,
): Promise<T> {
  const end = (signal: NodeJS.Signals): void => {
    for (const path of paths) rmSync(path, { recursive: true, force: true })
    io.err(`recall: interrupted: ${told}\n`)
    // Only now: a second Ctrl-C must not come before the files are gone.
    for (const each of ends) process.off(each, end)
    if (process.platform === 'win32') process.exit(exitCodes.interrupted)
    // Ends as it would have without the handler: a shell that runs several commands stops with it.
    process.kill(process.pid, signal)
  }
  for (const each of ends) process.on(each, end)
  try {
    return await work()
  } finally {
    for (const each of ends) process.off(each, end)
  }
}
