import { memories } from '@recall/store-postgres'
import { beforeEach, describe, expect, it } from 'vitest'
import { gate, gated } from './support/held-statements.ts'
import { emptyTables, engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const body = (subject: string) => ({
  content: `${subject} failed under load until the ${subject} settings were raised; it then held for days.`,
  tags: ['late', 'write'],
})
const writes = /insert into memories/
const headers = { 'Idempotency-Key': '"k1"' }

describe.each(engines)('a write that is late on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let key: string
  beforeEach(async () => {
    hub = await openHub(database(), noLimits)
    key = (await hub.agent('ada', 1)).key
  })

  const save = (via: TestHub, subject = 'redis') =>
    via.request('POST', '/api/v1/memory', { key, body: body(subject), headers })
  const kept = () => database().$count(memories)
  const impatient = { ...noLimits, databaseTimeoutMs: 300 }

  it('is not kept beside the next attempt when it arrives at last', async () => {
    const arrives = gate()
    let arrived: Promise<unknown> = Promise.resolve()
    const slow = await openHub(
      gated(database(), writes, (write) => {
        const late = arrives.opened.then(write)
        arrived = late
        return late
      }),
      impatient,
    )
    expect((await save(slow)).status).toBe(504)
    const second = await save(hub)
    expect(second.status).toBe(201)
    arrives.open()
    await arrived
    expect(await kept()).toBe(1)
    expect(await (await save(hub)).json()).toEqual(await second.json())
  })

  it('is not kept when it arrives before the next attempt, which it could not tell of', async () => {
    const arrives = gate()
    let arrived: Promise<unknown> = Promise.resolve()
    const slow = await openHub(
      gated(database(), writes, (write) => {
        arrived = arrives.opened.then(write)
        return arrived
      }),
      impatient,
    )
    expect((await save(slow)).status).toBe(504)
    arrives.open()
    await arrived
    expect(await kept()).toBe(0)
    expect((await save(hub)).status).toBe(201)
    expect(await kept()).toBe(1)
  })

  it('is the answer to the next attempt when only its own answer was lost', async () => {
    const answers = gate()
    const deaf = await openHub(
      gated(database(), writes, async (write) => {
        const result = await write()
        await answers.opened
        return result
      }),
      impatient,
    )
    expect((await save(deaf)).status).toBe(504)
    const second = await save(hub)
    expect(second.status).toBe(201)
    const [row] = await database().select({ id: memories.id }).from(memories)
    expect(await second.json()).toMatchObject({ id: row?.id })
    expect(await kept()).toBe(1)
    answers.open()
  })

  it('is answered as the attempt that took it for dead, or refused when that had another body', async () => {
    let now = Date.UTC(2026, 0, 1)
    const clock = () => now
    for (const [subject, status] of [
      ['redis', 201],
      ['nginx', 422],
    ] as const) {
      await emptyTables(database())
      const current = await openHub(database(), noLimits, { clock })
      key = (await current.agent('ada', 1)).key
      const [reached, arrives] = [gate(), gate()]
      const slow = await openHub(
        gated(database(), writes, async (write) => {
          reached.open()
          await arrives.opened
          return write()
        }),
        { ...noLimits, databaseTimeoutMs: 60_000 },
        { clock },
      )
      const first = save(slow)
      await reached.opened
      now += 60 * 60 * 1000
      const second = await save(current, subject)
      expect(second.status).toBe(201)
      arrives.open()
      const answer = await first
      expect(answer.status).toBe(status)
      if (status === 201) expect(await answer.json()).toEqual(await second.json())
      expect(await kept()).toBe(1)
    }
  })

  it('is not kept in place of an attempt with another body that took it for dead and runs still', async () => {
    let now = Date.UTC(2026, 0, 1)
    const hold = async () => {
      const [reached, arrives] = [gate(), gate()]
      const holding = gated(database(), writes, async (write) => {
        reached.open()
        await arrives.opened
        return write()
      })
      const patient = { ...noLimits, databaseTimeoutMs: 60_000 }
      return { reached, arrives, via: await openHub(holding, patient, { clock: () => now }) }
    }
    const [slow, next] = [await hold(), await hold()]
    const first = save(slow.via)
    await slow.reached.opened
    now += 60 * 60 * 1000
    const second = save(next.via, 'nginx')
    await next.reached.opened
    slow.arrives.open()
    expect((await first).status).toBe(422)
    next.arrives.open()
    expect((await second).status).toBe(201)
    const contents = await database().select({ content: memories.content }).from(memories)
    expect(contents).toEqual([{ content: body('nginx').content }])
  })
})
