import { memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { engines, lesson, noLimits, openHub, type TestAgent, type TestHub } from './support.ts'
import { useDatabase } from './use-database.ts'

const tags = ['redis', 'pool']

describe.each(engines)('copies of what is put in quarantine, on %s,', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let thief: TestAgent
  let ada: TestAgent
  let admin: TestAgent
  let now: number
  beforeEach(async () => {
    now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), noLimits, { clock: () => now++ })
    thief = await hub.agent('thief', 1)
    ada = await hub.agent('ada', 1)
    admin = await hub.agent('admin', 2)
  })

  const save = async (agent: TestAgent, subject = 'redis') =>
    (await agent.save({ content: lesson(subject), tags })).id
  const stateOf = async (id: string) => {
    const [row] = await database().select().from(memories).where(eq(memories.id, id))
    return [row?.quality, row?.duplicateOf]
  }
  const decide = async (path: string): Promise<void> => {
    const answer = await hub.request('POST', `/api/v1/admin/${path}`, { key: admin.key })
    expect(answer.status).toBe(200)
  }

  it.each(['memory', 'agent'] as const)(
    'count as what they say, and stay so when the %s is restored',
    async (what) => {
      const stolen = await save(thief)
      const copy = await save(ada)
      expect(await stateOf(copy)).toEqual([-1, stolen])
      const path = what === 'memory' ? stolen : `agents/${thief.id}`
      await decide(what === 'memory' ? `quarantine/${path}` : `${path}/quarantine`)
      expect(await stateOf(copy)).toEqual([0, null])
      expect((await admin.search(lesson('redis'))).map(({ id }) => id)).toContain(copy)

      await decide(what === 'memory' ? `restore/${path}` : `${path}/restore`)
      expect(await stateOf(stolen)).toEqual([-1, copy])
      expect(await stateOf(copy)).toEqual([0, null])

      await ada.delete(copy)
      expect(await stateOf(stolen)).toEqual([what === 'memory' ? 0 : -1, null])
    },
  )

  it('of an agent that repeats itself have one original when it is restored', async () => {
    const [first, second, other] = [await save(thief), await save(thief), await save(thief, 'kafka')]
    expect(await stateOf(second)).toEqual([-1, first])
    await decide(`agents/${thief.id}/quarantine`)
    await decide(`agents/${thief.id}/restore`)
    expect([await stateOf(first), await stateOf(second), await stateOf(other)]).toEqual([
      [-1, null],
      [-1, first],
      [-1, null],
    ])
  })

  it('are mended by maintenance where they were marked before', async () => {
    const stolen = await save(thief)
    const copy = await save(ada)
    await database().update(memories).set({ quality: -2 }).where(eq(memories.id, stolen))
    expect(await hub.maintain()).toMatchObject({ raised: 1, lowered: 0 })
    expect(await stateOf(copy)).toEqual([0, null])
  })
})
