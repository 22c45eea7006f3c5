import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

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
