import type { Entry } from '@recall/core'
import { expect, it } from 'vitest'
import { unitRowsOf } from './unit-rows.ts'

it('lets others take their turns while the words of a large text are counted', async () => {
  const text = 'What failed, why, and what helped. '.repeat(30_000)
  const times = { createdAt: 1, updatedAt: 1, accessedAt: 1, accessCount: 0, ttl: null, expiresAt: null }
  const place = { namespace: 'default', scope: 'long-term', key: 'large' } as const
  const entry: Entry = {
    ...place,
    ...times,
    value: 1,
    text,
    type: null,
    tags: [],
    encrypted: false,
    embedding: null,
  }
  let turns = 0
  const others = (): void => {
    turns++
    turn = setImmediate(others)
  }
  let turn = setImmediate(others)
  const rows = await unitRowsOf(entry)
  clearImmediate(turn)
  expect(rows.length).toBeGreaterThan(100)
  expect(turns).toBeGreaterThanOrEqual(9)
})
