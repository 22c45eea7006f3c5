import type { KeyRing } from '@recall/core'

/** What a storm child reports once a call has returned. */
export type Report =
  | { done: 'episode'; key: string }
  | { done: 'recent'; key: string }
  | { done: 'secret'; key: string; n: number }
  | { done: 'queued'; key: string; n: number }
  | { failed: string }

const keys = { first: new Uint8Array(32).fill(1), second: new Uint8Array(32).fill(2) }

export const ring = (current: 'first' | 'second'): KeyRing => ({ current, keys })

/** Bytes of short-term memory: small, so that storms keep evicting. */
export const shortTermQuota = 20_000
