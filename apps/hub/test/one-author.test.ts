import { describe, expect, it } from 'vitest'
import { degrees } from './support/degrees.ts'
import { engines, noLimits, openHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

describe.each(engines)('good memories of one author on %s', (_, open) => {
  const database = useDatabase(open)

  it('come before those of others only three times, and after them as often as there is room', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const [ada, bob, cyd] = [await hub.agent('ada', 1), await hub.agent('bob', 1), await hub.agent('cyd', 1)]
    for (const angle of [0, 24, -24, 48])
      await ada.save({ content: degrees.text(angle), tags: ['angle', 'degree'] })
    await bob.save({ content: degrees.text(-50), tags: ['angle', 'degree'] })
    const shown = async (limit: number) =>
      (await cyd.search('0 degrees', { limit })).map(({ author }) => author.name)
    expect(await shown(10)).toEqual(['ada', 'ada', 'ada', 'bob', 'ada'])
    expect(await shown(4)).toEqual(['ada', 'ada', 'ada', 'bob'])
  })

  it('come before those of others as they rank, also by their source', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const [ada, bob, cyd] = [await hub.agent('ada', 1), await hub.agent('bob', 1), await hub.agent('cyd', 1)]
    const save = async (agent: typeof ada, angle: number, source?: { source_url: string }) =>
      (await agent.save({ content: degrees.text(angle), tags: ['angle', 'degree'], ...source })).id
    const [first, second] = [await save(ada, 0), await save(ada, 16)]
    const told = await save(ada, -34, { source_url: 'https://example.com/1' })
    const untold = await save(ada, 34)
    const other = await save(bob, -50)
    const found = (await cyd.search('0 degrees')).map(({ id }) => id)
    expect(found).toEqual([first, second, told, other, untold])
  })
})
