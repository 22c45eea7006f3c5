import type { Entry } from '../memory-store.ts'

/**
 * The longest life of an entry, in milliseconds: about three thousand years, which keeps every expiry within the range
 * of a `Date`.
 */
export const longestTtl = 1e14

/** An entry expires at the very instant `expiresAt`. */
export const isExpired = ({ expiresAt }: Pick<Entry, 'expiresAt'>, now: number): boolean =>
  expiresAt !== null && expiresAt <= now

/** The expiry of an entry after an access at `now`. It never moves back. */
export const slidExpiry = (
  { ttl, expiresAt }: Pick<Entry, 'ttl' | 'expiresAt'>,
  now: number,
): number | null => (ttl === null ? expiresAt : Math.max(expiresAt ?? 0, now + ttl))
