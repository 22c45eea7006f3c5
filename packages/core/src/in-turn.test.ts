import { expect, it } from 'vitest'
import { inTurn } from './in-turn.ts'

it('makes the calls of one name one after the other, and those of another name meanwhile', async () => {
  const about = {}
  const order: string[] = []
  const ends: (() => void)[] = []
  const call = (name: string) => async () => {
    order.push(`${name} begins`)
    await new Promise<void>((resolve) => ends.push(resolve))
    order.push(`${name} ends`)
  }
  const first = inTurn(about, 'key', call('first'))
  const second = inTurn(about, 'key', call('second'))
  const other = inTurn(about, 'another key', call('other'))
  for (const end of ends) end()
  await Promise.all([first, other])
  const third = inTurn(about, 'key', call('third'))
  for (const each of [second, third]) {
    ends.at(-1)?.()
    await each
    // The next one begins in a turn of its own.
    await Promise.resolve()
  }
  expect(order).toEqual([
    'first begins',
    'other begins',
    'first ends',
    'other ends',
    'second begins',
    'second ends',
    'third begins',
    'third ends',
  ])
})

it('makes the next call also where one fails', async () => {
  const about = {}
  const failing = inTurn(about, 'key', () => Promise.reject(new Error('away')))
  const next = inTurn(about, 'key', async () => 'made')
  await expect(failing).rejects.toThrow('away')
  expect(await next).toBe('made')
})
