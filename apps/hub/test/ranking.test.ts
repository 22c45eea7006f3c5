import { memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { degrees } from './support/degrees.ts'
import { engines, noLimits, openHub, type TestAgent, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['angle', 'degree']

describe.each(engines)('of two good memories, on %s,', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let [ada, bob]: TestAgent[] = []
  beforeEach(async () => {
    let now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), noLimits, { embedder: degrees, clock: () => now++ })
    ada = await hub.agent('ada', 1)
    bob = await hub.agent('bob', 1)
  })

  const save = async (agent: TestAgent | undefined, angle: number) =>
    (await agent?.save({ content: degrees.text(angle), tags }))?.id ?? ''
  const set = (id: string, values: Partial<typeof memories.$inferInsert>) =>
    database().update(memories).set(values).where(eq(memories.id, id))
  const found = async () => {
    const answer = await hub.request('GET', '/api/v1/memory/search?q=0%20degrees&explain=true', {
      key: bob?.key ?? '',
    })
    const { results } = (await answer.json()) as {
      results: { author: { name: string }; signals: Record<string, number> }[]
    }
    return results
  }
  const namesFound = async () => (await found()).map(({ author }) => author.name)

  it('that are as near, the newer one comes first, but for one with a source, or that was of use', async () => {
    const older = await save(ada, 10)
    await save(bob, -10)
    expect(await namesFound()).toEqual(['bob', 'ada'])
    await set(older, { sourceUrl: 'https://example.com' })
    expect(await namesFound()).toEqual(['ada', 'bob'])
    await set(older, { sourceUrl: null, retrievalCount: 1 })
    expect(await namesFound()).toEqual(['ada', 'bob'])
  })

  it('the nearer one comes first, unless the other is nearly as near and was of much use', async () => {
    // Cosines: 0.985 of 10 degrees, 0.966 of 15, and 0.961 of 16.
    await save(bob, 10)
    const used = await save(ada, -15)
    expect(await namesFound()).toEqual(['bob', 'ada'])
    await set(used, { retrievalCount: 1000 })
    expect(await namesFound()).toEqual(['ada', 'bob'])
    await ada?.delete(used)
    await set(await save(ada, -16), { retrievalCount: 1_000_000 })
    expect(await namesFound()).toEqual(['bob', 'ada'])
    expect((await found())[1]?.signals).toMatchObject({ retrievals: 0.02, source: 0 })
  })
})
