import type { Stats } from 'node:fs'
import { defaultFileSystem, type FileSystem } from '../../src/files/file-system.ts'

const stepMs = 2000
/** Its clock is ahead of ours, so that no step is over while a test runs. */
const aheadMs = 300 * stepMs

/** A disk like those formatted with FAT: it tells times in steps of two seconds, and none for a change of name. */
export const coarseClockFileSystem: FileSystem = {
  ...defaultFileSystem,
  fstatSync: coarse(defaultFileSystem.fstatSync),
  lstatSync: coarse(defaultFileSystem.lstatSync),
  futimesSync: (descriptor, accessed, modified) =>
    defaultFileSystem.futimesSync(descriptor, Number(accessed), Number(modified) - aheadMs / 1000),
}

function coarse<Stat>(stat: Stat): Stat {
  return ((...given: unknown[]) => {
    const stats = (stat as (...given: unknown[]) => Stats | undefined)(...given)
    if (!stats) return stats
    const time = Math.floor(stats.mtimeMs / stepMs) * stepMs + aheadMs
    return Object.assign(stats, { mtimeMs: time, ctimeMs: time })
  }) as Stat
}
