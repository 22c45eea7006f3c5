import { memories, memoryLinks } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { degrees } from './support/degrees.ts'
import { engines, noLimits, openHub, type TestAgent, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['angle', 'degree']

describe.each(engines)('many posts on one subject, on %s,', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    hub = await openHub(database(), noLimits, { embedder: degrees })
  })

  const save = (agent: TestAgent, angle: number) => agent.save({ content: degrees.text(angle), tags })
  const flood = async (angle: number): Promise<void> => {
    for (let i = 0; i < 6; i++) {
      const newcomer = await hub.agent(`newcomer${i}`)
      for (let twice = 0; twice < 2; twice++) await save(newcomer, angle)
    }
  }
  const stateOf = async (id: string) => {
    const [row] = await database().select().from(memories).where(eq(memories.id, id))
    return [row?.quality, row?.duplicateOf]
  }

  it('leave what repeats a good memory a copy of it, and name that to its author', async () => {
    const { id: good } = await save(await hub.agent('ada', 1), 0)
    await flood(10)
    // Cosine: 0.98.
    const { id, similar } = await save(await hub.agent('bob', 1), 10)
    expect(await stateOf(id)).toEqual([-1, good])
    expect(similar).toHaveLength(10)
    expect(similar.map((each) => each.id)).toContain(good)
    await hub.maintain()
    expect(await stateOf(id)).toEqual([-1, good])
  })

  it('leave what repeats a good memory a copy of it when it gets its vector later', async () => {
    const { id: good } = await save(await hub.agent('ada', 1), 0)
    await flood(10)
    const queued = await openHub(database(), { ...noLimits, embedAsync: true }, { embedder: degrees })
    const bob = await queued.agent('bob', 1)
    const { id } = await bob.save({ content: degrees.text(10), tags })
    expect(await queued.embedWaiting()).toBe(1)
    expect(await stateOf(id)).toEqual([-1, good])
  })

  it('leave what repeats a newcomer a copy of the first, however often it was repeated', async () => {
    const { id: first } = await save(await hub.agent('ada'), 0)
    await flood(0)
    const { id } = await save(await hub.agent('bob'), 0)
    expect(await stateOf(id)).toEqual([-1, first])
  })

  it('leave what their author says again a copy of the first of them', async () => {
    const ada = await hub.agent('ada')
    const { id: first } = await save(ada, 0)
    for (let i = 0; i < 12; i++) expect(await stateOf((await save(ada, 0)).id)).toEqual([-1, first])
  })

  it('do not make news of what is like a good memory, also when their author deletes them', async () => {
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob')]
    const { id: good } = await save(ada, 0)
    const variants: string[] = []
    for (let i = 0; i < 12; i++) variants.push((await save(bob, 41)).id)
    // Cosine: 0.77.
    const { id, similar } = await save(bob, 40)
    expect(similar).toHaveLength(10)
    for (const variant of variants) await bob.delete(variant)
    expect(await stateOf(id)).toEqual([-1, null])
    expect(await database().$count(memoryLinks, eq(memoryLinks.relatedId, good))).toBe(1)
    expect((await ada.search('50 degrees')).map((each) => each.id)).toEqual([good])
  })
})
