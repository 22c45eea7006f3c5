import type { Embedder } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { type Database, memories } from '@recall/store-postgres'
import { beforeEach, describe, expect, it } from 'vitest'
import type { HubSettings } from '../src/config/config.ts'
import { gate, gated } from './support/held-statements.ts'
import { engines, lesson, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const day = 24 * 60 * 60 * 1000
/** Five seconds for the provider and six times as many for the database. */
const abandoned = 35_000

describe.each(engines)('a write with an Idempotency-Key on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let now: number
  let key: string
  const clock = () => now
  beforeEach(async () => {
    now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), noLimits, { clock })
    key = (await hub.agent('ada', 1)).key
  })

  const save = (name: string | undefined, { subject = 'redis', via = hub, by = key } = {}) =>
    via.request('POST', '/api/v1/memory', {
      key: by,
      body: { content: lesson(subject), tags: ['of', subject] },
      headers: name === undefined ? {} : { 'Idempotency-Key': name },
    })
  const idOf = async (answer: Promise<Response>) => ((await (await answer).json()) as { id: string }).id
  const statusOf = async (answer: Promise<Response>) => (await answer).status
  const kept = () => database().$count(memories)

  /** A hub whose writes wait, each for its turn to go on. */
  async function openHeld(settings: HubSettings = noLimits) {
    const [reached, goesOn] = [gate(), gate()]
    let fails = false
    const via = await openHub(
      gated(database(), /insert into memories/, async (write) => {
        reached.open()
        await goesOn.opened
        if (fails) throw new Error('the connection is lost')
        return write()
      }),
      { ...settings, databaseTimeoutMs: 60_000 },
      { clock },
    )
    const goOn = ({ failing = false } = {}): void => {
      fails = failing
      goesOn.open()
    }
    return { via, reached: reached.opened, goOn }
  }

  it('is told from others by its agent and its key, whose quotes do not matter', async () => {
    const bob = (await hub.agent('bob', 1)).key
    const ids = [
      await idOf(save('"one"')),
      await idOf(save('two')),
      await idOf(save('one', { by: bob })),
      await idOf(save(undefined)),
      await idOf(save(undefined)),
      await idOf(save('o"ne')),
    ]
    expect(new Set(ids).size).toBe(6)
    const again = [save('one'), save('"two"'), save('"one"', { by: bob })].map(idOf)
    expect(await Promise.all(again)).toEqual(ids.slice(0, 3))
    expect(await kept()).toBe(6)
  })

  it('has a key of up to 200 characters, which its quotes are no part of', async () => {
    const longest = 'k'.repeat(200)
    const first = await idOf(save(longest))
    expect(first).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idOf(save(`"${longest}"`))).toBe(first)
    expect(await statusOf(save(`${longest}k`))).toBe(400)
    expect(await statusOf(save(`"${longest}k"`))).toBe(400)
  })

  it('is answered alike for a day; then its key is free', async () => {
    const first = await idOf(save('one'))
    now += day
    expect(await idOf(save('one'))).toBe(first)
    now += 1
    const next = await idOf(save('one', { subject: 'nginx' }))
    expect(next).not.toBe(first)
    expect(await idOf(save('one', { subject: 'nginx' }))).toBe(next)
    expect(await statusOf(save('one'))).toBe(422)
    expect(await kept()).toBe(2)
  })

  it('is not answered as the one before it while it is under way', async () => {
    await save('one')
    now += day + 1
    const held = await openHeld()
    const next = save('one', held)
    await held.reached
    expect(await statusOf(save('one'))).toBe(409)
    held.goOn()
    expect(await statusOf(next)).toBe(201)
  })

  it('is refused while the first one may be alive, and then takes its place', async () => {
    const held = await openHeld()
    const first = save('one', held)
    await held.reached
    now += abandoned
    const early = await save('one')
    expect([early.status, early.headers.get('Retry-After')]).toEqual([409, '1'])
    now += 1
    const second = await idOf(save('one'))
    held.goOn()
    expect(await idOf(first)).toBe(second)
    expect(await kept()).toBe(1)
  })

  it('may be tried again when it was claimed by a clock that ran ahead', async () => {
    const held = await openHeld()
    now += 10 * day
    const first = save('one', held)
    await held.reached
    now -= 10 * day
    const second = await idOf(save('one'))
    held.goOn()
    expect(await idOf(first)).toBe(second)
    expect(await kept()).toBe(1)
  })

  it('counts as reading where another attempt wrote it', async () => {
    const trusted = { ...noLimits.limits.tiers.trusted, write: [{ requests: 1, seconds: 3600 }] }
    const tiers = { ...noLimits.limits.tiers, trusted }
    const held = await openHeld({ limits: { ...noLimits.limits, tiers } })
    const late = save('one', held)
    await held.reached
    now += abandoned + 1
    await save('one')
    held.goOn()
    expect(await statusOf(late)).toBe(201)
    const next = () => statusOf(save('two', { ...held, subject: 'nginx' }))
    expect([await next(), await next()]).toEqual([201, 201])
    expect(await statusOf(save('three', { ...held, subject: 'kafka' }))).toBe(429)
  })

  it('keeps its place when the first one, taken for dead, fails at last', async () => {
    const [first, second] = [await openHeld(), await openHeld()]
    const failing = save('one', first)
    await first.reached
    now += day / 2
    const taking = save('one', second)
    await second.reached
    first.goOn({ failing: true })
    expect(await statusOf(failing)).toBe(500)
    expect(await statusOf(save('one'))).toBe(409)
    second.goOn()
    expect(await statusOf(taking)).toBe(201)
    expect(await kept()).toBe(1)
  })

  it('does not write once another body has taken its place', async () => {
    const [first, second] = [await openHeld(), await openHeld()]
    const late = save('one', first)
    await first.reached
    now += day / 2
    const taking = save('one', { ...second, subject: 'nginx' })
    await second.reached
    first.goOn()
    expect(await statusOf(late)).toBe(422)
    second.goOn()
    expect(await statusOf(taking)).toBe(201)
    expect(await kept()).toBe(1)
  })

  it('is answered as it was kept where its answer was lost on the way from the database', async () => {
    const lost = gated(database(), /insert into memories/, async (write) => {
      await write()
      throw new Error('the connection is lost')
    })
    const via = await openHub(lost, noLimits, { clock })
    expect(await statusOf(save('one', { via }))).toBe(500)
    expect(await statusOf(save('one'))).toBe(201)
    expect(await kept()).toBe(1)
  })

  it('tells why it failed, also where its place cannot be given up', async () => {
    const embedder: Embedder = { ...fakeEmbedder(), embed: () => Promise.reject(new Error('down')) }
    const lost = () => ({ where: () => Promise.reject(new Error('the connection is lost')) })
    const keeping: Database = Object.create(database(), { delete: { value: lost } })
    const via = await openHub(keeping, noLimits, { clock, embedder })
    expect(await statusOf(save('one', { via }))).toBe(503)
    expect(await statusOf(save('one'))).toBe(409)
    now += abandoned + 1
    expect(await statusOf(save('one'))).toBe(201)
  })
})
