import { MemoryError, MemoryErrorCode } from '@recall/core'
import { asMemoryErrors } from '@recall/store-postgres'
import pLimit, { type LimitFunction } from 'p-limit'
import type { HubConfig } from './config/config.ts'

/** How the hub calls its database. */
export interface DatabaseCalls {
  /**
   * Runs a call to the database under the configured timeout; its failures become `MemoryError`s.
   *
   * @throws MemoryError UNAVAILABLE, at once, when too many calls wait already
   */
  call<T>(run: () => Promise<T>): Promise<T>
  /** Like `call`, for a search of all memories. Searches wait in line, and leave a connection free for short calls. */
  search<T>(run: () => Promise<T>): Promise<T>
  /**
   * Like `search`, for a search that an agent makes of its private memory, with its own filter. All of these together
   * leave half of the places to searches of all memories, and those of one agent leave half of that to other agents.
   */
  searchOf<T>(agent: string, run: () => Promise<T>): Promise<T>
}

/**
 * Calls that wait at most. Those whose callers were told that it took too long count too: the driver keeps them, with
 * all that they would write, for as long as the database does not answer.
 */
const mostPending = 500

const tooManyPending = (): MemoryError =>
  new MemoryError('too many calls wait for the database: try again later', MemoryErrorCode.UNAVAILABLE, {
    retryAfterMs: 1000,
  })

export function createDatabaseCalls({
  connections,
  databaseTimeoutMs,
}: Pick<HubConfig, 'connections' | 'databaseTimeoutMs'>): DatabaseCalls {
  let pending = 0
  const counted = <T>(run: () => Promise<T>): Promise<T> => {
    pending++
    return run().finally(() => pending--)
  }
  const call: DatabaseCalls['call'] = async (run) => {
    if (pending >= mostPending) throw tooManyPending()
    return asMemoryErrors(MemoryErrorCode.SEARCH_FAILED, () => counted(run), databaseTimeoutMs)
  }
  const half = (places: number): number => Math.max(1, Math.floor(places / 2))
  // A call that finds no free connection is sent down a busy one, behind whatever runs there.
  const places = Math.max(1, connections - 1)
  const inLine = pLimit(places)
  const privately = pLimit(half(places))
  const ofAgents = new Map<string, LimitFunction>()

  /** @param line runs a call when it is its turn */
  const inTurn = <T>(line: <U>(run: () => Promise<U>) => Promise<U>, run: () => Promise<T>): Promise<T> => {
    let isAwaited = true
    const begin = () => {
      // Its caller was already told that it took too long: the database is spared the search.
      if (!isAwaited) throw new MemoryError('nobody waits for this search any more', MemoryErrorCode.TIMEOUT)
      return run()
    }
    return call(() => line(begin)).finally(() => {
      isAwaited = false
    })
  }

  return {
    call,
    search: (run) => inTurn(inLine, run),
    searchOf(agent, run) {
      const own = ofAgents.get(agent) ?? pLimit(half(half(places)))
      ofAgents.set(agent, own)
      const line = <U>(begin: () => Promise<U>) =>
        own(() => privately(() => inLine(begin))).finally(() => {
          if (own.activeCount + own.pendingCount === 0) ofAgents.delete(agent)
        })
      return inTurn(line, run)
    },
  }
}
