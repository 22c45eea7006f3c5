import { memoryLinks } from '@recall/store-postgres'
import { describe, expect, it } from 'vitest'
import { degrees } from './degrees.ts'
import { engines, noLimits, openHub } from './support.ts'
import { useDatabase } from './use-database.ts'

const tags = ['angle', 'degree']

describe.each(engines)('discoveries on %s', (_, open) => {
  const database = useDatabase(open)

  it('leave half of the places to what is good, and the only one', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const [ada, bob, cyd] = [await hub.agent('ada', 1), await hub.agent('bob'), await hub.agent('cyd')]
    const save = async (agent: typeof ada, angle: number) => {
      await agent.save({ content: degrees.text(angle), tags })
      // What is linked to something good is no news.
      await database().delete(memoryLinks)
    }
    const shown = async (limit: number) =>
      (await ada.search('0 degrees', { limit })).map(({ author }) => author.name)
    await save(bob, 0)
    await save(cyd, 24)
    expect(await shown(1)).toEqual(['bob'])
    await save(ada, 45)
    expect([await shown(1), await shown(2), await shown(3)]).toEqual([
      ['ada'],
      ['ada', 'bob'],
      ['ada', 'bob', 'cyd'],
    ])
    await save(ada, -45)
    expect([await shown(1), await shown(2), await shown(3), await shown(4)]).toEqual([
      ['ada'],
      ['ada', 'bob'],
      ['ada', 'ada', 'bob'],
      ['ada', 'ada', 'bob', 'cyd'],
    ])
  })
})
