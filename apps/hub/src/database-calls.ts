import { MemoryError, MemoryErrorCode } from '@recall/core'
import { asMemoryErrors } from '@recall/store-postgres'
import pLimit from 'p-limit'
import type { HubConfig } from './config/config.ts'

/** How the hub calls its database. */
export interface DatabaseCalls {
  /** Runs a call to the database under the configured timeout; its failures become `MemoryError`s. */
  call<T>(run: () => Promise<T>): Promise<T>
  /** Like `call`, for a search of all memories. Searches wait in line, and leave a connection free for short calls. */
  search<T>(run: () => Promise<T>): Promise<T>
}

export function createDatabaseCalls({
  connections,
  databaseTimeoutMs,
}: Pick<HubConfig, 'connections' | 'databaseTimeoutMs'>): DatabaseCalls {
  const call: DatabaseCalls['call'] = (run) =>
    asMemoryErrors(MemoryErrorCode.SEARCH_FAILED, run, databaseTimeoutMs)
  // The driver sends what finds no free connection down a busy one, behind whatever runs there.
  const inLine = pLimit(Math.max(1, connections - 1))
  return {
    call,
    search(run) {
      let isAwaited = true
      const inTurn = () => {
        // Its caller was told that it took too long: the database is spared.
        if (!isAwaited) throw new MemoryError('nobody waits for this search', MemoryErrorCode.TIMEOUT)
        return run()
      }
      return call(() => inLine(inTurn)).finally(() => {
        isAwaited = false
      })
    },
  }
}
