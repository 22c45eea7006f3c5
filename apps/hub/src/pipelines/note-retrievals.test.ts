import { expect, it } from 'vitest'
import { gate } from '../../test/support/held-statements.ts'
import type { HubParts, Retrieval } from '../hub.ts'
import { createRetrievalLog } from './note-retrievals.ts'

it('records 25 searches together at most, and whoever comes when 50 wait has to wait as well', async () => {
  const { open, opened } = gate()
  const together: unknown[] = []
  // No statement succeeds, so that the log tells of how many searches each was.
  const call = async (): Promise<never> => {
    await opened
    throw new Error('refused')
  }
  const retrievals = createRetrievalLog({ call, clock: Date.now } as unknown as HubParts, ({ searches }) =>
    together.push(searches),
  )
  const retrieval = { searcher: { tier: 'unverified' }, query: 'redis', found: [] } as unknown as Retrieval
  for (let i = 0; i < 50; i++) await retrievals.note(retrieval)
  let isNoted = false
  const last = retrievals.note(retrieval).then(() => {
    isNoted = true
  })
  await new Promise(setImmediate)
  expect(isNoted).toBe(false)
  open()
  await last
  await retrievals.settled()
  expect(together).toEqual([1, 25, 25])
})

it('goes on after a log that failed: nobody who waits fails with it, and the next searches are recorded', async () => {
  let calls = 0
  const call = async (): Promise<never> => {
    calls++
    throw new Error('refused')
  }
  const retrievals = createRetrievalLog({ call, clock: Date.now } as unknown as HubParts, () => {
    throw new Error('full')
  })
  const retrieval = { searcher: { tier: 'unverified' }, query: 'redis', found: [] } as unknown as Retrieval
  for (let i = 1; i <= 2; i++) {
    await retrievals.note(retrieval)
    expect(await retrievals.during(async () => 'found')).toBe('found')
    expect(calls).toBe(i)
  }
})
