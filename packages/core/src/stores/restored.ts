import type { Entry } from '../memory-store.ts'

/** An entry as it is put back from the archive: as if it were written at `now`. */
export const asRestored = (entry: Entry, now: number): Entry => ({
  ...entry,
  updatedAt: now,
  accessedAt: now,
  expiresAt: entry.ttl === null ? entry.expiresAt : now + entry.ttl,
})
