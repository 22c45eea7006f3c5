import { type PathLike, renameSync } from 'node:fs'
import { pause } from './pause.ts'

/** What Windows answers while another program holds a file open. */
const heldOpen = ['EPERM', 'EACCES', 'EBUSY']
/** Virus scanners hold a new file for a few hundredths of a second. */
const patienceMs = 2000
const longestPauseMs = 100

/**
 * Renames a file, replacing one that already has the name. Windows refuses this while another program has either of
 * them open, as virus scanners do briefly with new files. It is then retried for two seconds.
 *
 * @throws what `renameSync` throws
 */
export function renamePatiently(
  from: PathLike,
  to: PathLike,
  {
    platform = process.platform,
    rename = renameSync,
    wait = pause,
  }: {
    platform?: NodeJS.Platform | undefined
    rename?: typeof renameSync | undefined
    wait?: ((ms: number) => void) | undefined
  } = {},
): void {
  for (let waited = 0, ms = 1; ; waited += ms, ms = Math.min(2 * ms, longestPauseMs)) {
    try {
      rename(from, to)
      return
    } catch (error) {
      const isHeld = heldOpen.includes(String((error as NodeJS.ErrnoException).code))
      if (platform !== 'win32' || !isHeld || waited >= patienceMs) throw error
      wait(ms)
    }
  }
}
