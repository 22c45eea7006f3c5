import { memoryQuality } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'

/** `memoryQuality` in statements: written out, not bound, because conditions have to match those of partial indexes. */
export const qualities = {
  good: sql.raw(String(memoryQuality.good)),
  lowSignal: sql.raw(String(memoryQuality.lowSignal)),
  quarantined: sql.raw(String(memoryQuality.quarantined)),
}
