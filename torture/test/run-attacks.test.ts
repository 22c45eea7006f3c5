import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Attack, RoundOptions } from '../src/attack.ts'
import { type Progress, runAttacks } from '../src/run-attacks.ts'

/** An attack that takes a while and succeeds with some seeds, in rounds that are large enough. */
function fakeAttack(options: {
  takes: number
  breaksAt?: number
  smallest?: number
  clock: { now: number }
}) {
  const rounds: RoundOptions[] = []
  const attack: Attack = {
    what: 'fake',
    size: 100,
    async round(round) {
      rounds.push(round)
      options.clock.now += options.takes
      const breaks = round.seed === options.breaksAt && round.size >= (options.smallest ?? 0)
      return { counts: { tries: round.size }, violations: breaks ? [`broken by ${round.size}`] : [] }
    },
  }
  return { attack, rounds }
}

const fresh = (seed = 1): Progress => ({ seed, attacks: {} })

it('gives each attack its share of the time, and each round a seed of its own', async () => {
  const clock = { now: 0 }
  const slow = fakeAttack({ takes: 3000, clock })
  const quick = fakeAttack({ takes: 1000, clock })
  const progress = fresh(5)
  const failure = await runAttacks({
    attacks: { slow: slow.attack, quick: quick.attack },
    progress,
    seconds: 12,
    now: () => clock.now,
    onRound: () => {},
  })
  expect(failure).toBe(null)
  expect(slow.rounds.map(({ seed }) => seed)).toEqual([5, 6])
  expect(quick.rounds.map(({ seed }) => seed)).toEqual([5, 6, 7, 8, 9, 10])
  expect(progress.attacks.quick).toEqual({ rounds: 6, seconds: 6, counts: { tries: 600 } })
  expect(slow.rounds.some(({ folder }) => existsSync(folder))).toBe(false)
})

it('goes on with the next seed where it was left', async () => {
  const clock = { now: 0 }
  const { attack, rounds } = fakeAttack({ takes: 1000, clock })
  const progress = fresh()
  for (let run = 0; run < 2; run++) {
    await runAttacks({
      attacks: { it: attack },
      progress,
      seconds: 2,
      now: () => clock.now,
      onRound: () => {},
    })
  }
  expect(rounds.map(({ seed }) => seed)).toEqual([1, 2, 3, 4])
})

it('stops at what broke and looks for the smallest round that still breaks it', async () => {
  const clock = { now: 0 }
  const { attack } = fakeAttack({ takes: 1000, breaksAt: 3, smallest: 20, clock })
  const progress = fresh()
  const failure = await runAttacks({
    attacks: { it: attack },
    progress,
    seconds: 100,
    now: () => clock.now,
    onRound: () => {},
  })
  expect(failure).toEqual({ attack: 'it', seed: 3, size: 25, violations: ['broken by 25'] })
  expect(progress.failures).toEqual([failure])
})

it('takes an attack that fails by itself for a violation', async () => {
  const attack: Attack = { what: 'x', size: 1, round: () => Promise.reject(new Error('no disk')) }
  const failure = await runAttacks({
    attacks: { it: attack },
    progress: fresh(),
    seconds: 0,
    now: () => 0,
    onRound: () => {},
  })
  expect(failure?.violations[0]).toContain('no disk')
})

it('goes on until every goal is reached, the farthest first, and does no more when resumed', async () => {
  const clock = { now: 0 }
  const [small, large] = [fakeAttack({ takes: 1000, clock }), fakeAttack({ takes: 1000, clock })]
  const progress = fresh()
  const order: string[] = []
  const run = () =>
    runAttacks({
      attacks: { small: small.attack, large: large.attack },
      progress,
      seconds: Number.POSITIVE_INFINITY,
      goals: { small: { count: 'tries', total: 150 }, large: { count: 'tries', total: 900, size: 300 } },
      now: () => clock.now,
      onRound: (name) => order.push(name),
    })
  expect(await run()).toBe(null)
  expect(order).toEqual(['small', 'large', 'large', 'small', 'large'])
  expect(large.rounds.map(({ seed, size }) => [seed, size])).toEqual([
    [1, 300],
    [2, 300],
    [3, 300],
  ])
  expect(progress.attacks.small?.counts).toEqual({ tries: 200 })
  expect(await run()).toBe(null)
  expect(order).toHaveLength(5)
})
