import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'

/** A name beside a path that no other backup or restore takes, and that says which process does. */
export const ownName = (path: string, mark: string): string =>
  `${path}${mark}${process.pid}-${randomBytes(4).toString('hex')}`

/** Removes what backups and restores that were killed left beside a path. */
export function removeAbandoned(path: string, mark: string): void {
  const prefix = `${basename(path)}${mark}`
  for (const name of readdirSync(dirname(path))) {
    const pid =
      name.startsWith(prefix) && /^(\d+)(?:-[0-9a-f]{8}(?:\.tar)?)?$/.exec(name.slice(prefix.length))?.[1]
    if (pid && !isAlive(Number(pid))) rmSync(join(dirname(path), name), { recursive: true, force: true })
  }
}

const ends = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Removes unfinished files when a signal ends the process during the work: nobody knows of them, even if they hold a
 * copy of a memory, and if the next ones have another name, such as the day's, nobody would remove them. The signal
 * waits for synchronous work to end.
 *
 * @param told what the person is told then
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
    // Ends as it would have: a shell that runs several commands stops with it.
    process.kill(process.pid, signal)
  }
  for (const each of ends) process.on(each, end)
  try {
    return await work()
  } finally {
    for (const each of ends) process.off(each, end)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Waits until a file, or what a folder lists, is on the disk. */
export function makeDurable(path: string, flags: string): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
