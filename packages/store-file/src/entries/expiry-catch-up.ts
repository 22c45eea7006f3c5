import { type MemoryScope, memoryScopes } from '@recall/core'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { AccessLog } from './access-log.ts'

/** How late another process may count an access, in milliseconds: it may have waited for the log. */
const latestCountMs = 60_000

/**
 * Tells the index of expiries that slid without it: a read counts its access even where the index cannot be written,
 * and may be killed before it writes there. What has expired is compared with the access log once, not by every search.
 */
export function createExpiryCatchUp(accessLog: Pick<AccessLog, 'keptAlive'>) {
  let compared: { index: SearchIndex; until: number } | undefined

  return (index: SearchIndex, now: number): void => {
    const from =
      compared?.index === index ? Math.min(compared.until, now) - latestCountMs : Number.NEGATIVE_INFINITY
    const expired = index
      .expiredBetween(from, now)
      .map((row) => ({ ...row, scope: memoryScopes[row.scope] as MemoryScope }))
    const living = expired.length === 0 ? [] : accessLog.keptAlive(expired, now)
    if (!living) return
    if (living.length > 0) index.transaction(() => living.forEach(index.slideExpiry))
    compared = { index, until: now }
  }
}
