import { pause } from '@recall/core/process'
import type { Database } from './driver.ts'
import { isBusy } from './errors.ts'

/** How long to wait for another process that holds a database, in milliseconds. */
export const busyMs = 10_000

/**
 * Lets readers and one writer work side by side. Retries while another process opens the same new database, because
 * SQLite's busy timeout does not apply here.
 */
export function useWriteAheadLog(database: Pick<Database, 'exec'>): void {
  let deadline: number | undefined
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      // Read only when needed: the first call loads a dozen of Node's modules.
      deadline ??= performance.now() + busyMs
      if (!isBusy(error) || performance.now() > deadline) throw error
      pause(1 + Math.random())
    }
  }
}
