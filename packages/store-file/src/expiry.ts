import type { Entry } from '@recall/core'

export const isExpired = ({ expiresAt }: Entry, now: number): boolean =>
  expiresAt !== null && expiresAt <= now
