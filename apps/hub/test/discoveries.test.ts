import { memories, memoryLinks } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { degrees } from './support/degrees.ts'
import { engines, noLimits, openHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

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

  it('are what is like nothing that others said and that is there still', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const [ada, bob, cyd] = [await hub.agent('ada', 1), await hub.agent('bob'), await hub.agent('cyd')]
    const save = async (agent: typeof ada, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    const shown = async (angle: number) => (await ada.search(`${angle} degrees`)).map(({ id }) => id)
    const first = await save(bob, 0)
    const like = await save(cyd, 20)
    expect(await shown(20)).toEqual([first])
    // An author may come back to what it said itself.
    const again = await save(bob, -20)
    expect(await shown(-20)).toEqual([again])
    await ada.cite(first)
    expect(await bob.delete(first)).toBe('tombstone')
    expect(await shown(20)).toEqual([like, again])
  })

  it('are what nobody else said well, earlier or later', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const [ada, bob, admin] = [await hub.agent('ada', 1), await hub.agent('bob'), await hub.agent('admin', 2)]
    const save = async (agent: typeof ada, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    const shown = async () => (await ada.search('-10 degrees')).map(({ id }) => id)
    const first = await save(bob, 0)
    // Of low signal as well.
    await save(await hub.agent('cyd'), 20)
    expect(await shown()).toEqual([first])
    // Cosines: 0.77 of 40 degrees, 0.64 of 50.
    const good = await save(admin, 40)
    expect(await shown()).toEqual([good])
    await hub.request('POST', `/api/v1/admin/quarantine/${good}`, { key: admin.key })
    expect(await shown()).toEqual([first])
  })

  it('are what is linked to nothing good, and nearly repeats nothing but what is hidden', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const [ada, admin] = [await hub.agent('ada', 1), await hub.agent('admin', 2)]
    const [bob, cyd] = [await hub.agent('bob'), await hub.agent('cyd')]
    const save = async (agent: typeof ada, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    const shown = async (angle: number) => (await ada.search(`${angle} degrees`)).map(({ id }) => id)
    const good = await save(admin, 0)
    // Cosines: 0.94 of 20 degrees, 0.87 of 30, and 0.64 of 50.
    const [repeating, like] = [await save(bob, 20), await save(cyd, -30)]
    expect([await shown(50), await shown(-50)]).toEqual([[good], [good]])
    await hub.request('POST', `/api/v1/admin/quarantine/${good}`, { key: admin.key })
    expect([await shown(50), await shown(-50)]).toEqual([[repeating], [like]])
  })

  it('are none of three newcomers who say nearly the same, and each of two', async () => {
    const hub = await openHub(database(), { ...noLimits, thresholds: { crowd: 0.6 } }, { embedder: degrees })
    const reader = await hub.agent('reader', 1)
    const save = async (name: string, angle: number) =>
      (await hub.agent(name)).save({ content: degrees.text(angle), tags })
    const shown = async () => (await reader.search('25 degrees')).map(({ author }) => author.name)
    await save('ada', 25)
    await save('bob', 0)
    expect(await shown()).toEqual(['ada', 'bob'])
    // Cosines: 0.91 of 25 degrees, which is no near-copy, and 0.64 of 50.
    await save('cyd', 50)
    expect(await database().$count(memories, eq(memories.crowded, true))).toBe(0)
    expect(await shown()).toEqual([])
  })

  it('are clearly nearer than all that is good', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const ada = await hub.agent('ada', 1)
    const bob = await hub.agent('bob')
    const shown = async (angle: number) =>
      (await ada.search(`${angle} degrees`)).map(({ author }) => author.name)
    await ada.save({ content: degrees.text(45), tags })
    await bob.save({ content: degrees.text(-42), tags })
    // Cosines: 0.71 and 0.74 from 0 degrees, 0.69 and 0.75 from -1.
    expect([await shown(0), await shown(-1)]).toEqual([['ada'], ['ada', 'bob']])
  })

  it('are two at most of three newcomers who say different things, the nearest', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const reader = await hub.agent('reader', 1)
    for (const [name, angle] of Object.entries({ ada: -55, bob: 0, cyd: 50 }))
      await (await hub.agent(name)).save({ content: degrees.text(angle), tags })
    const found = await reader.search('0 degrees')
    expect(found.map(({ author }) => author.name)).toEqual(['bob', 'cyd'])
  })

  it('that are as near come in the order of what is good: first the one with a source', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const [bob, cyd] = [await hub.agent('bob'), await hub.agent('cyd')]
    await bob.save({ content: degrees.text(20), tags, source_url: 'https://example.com/1' })
    await cyd.save({ content: degrees.text(-20), tags })
    const found = await (await hub.agent('reader', 1)).search('0 degrees')
    expect(found.map(({ author }) => author.name)).toEqual(['bob', 'cyd'])
  })

  it('are found beneath many of one author', async () => {
    const hub = await openHub(database(), noLimits, { embedder: degrees })
    const [bob, cyd] = [await hub.agent('bob'), await hub.agent('cyd')]
    await bob.save({ content: degrees.text(0), tags })
    await database().execute(sql`
      insert into memories (short_id, agent_id, content, tags, embedding, embedding_model, quality)
      select 'RCL-' || i, agent_id, content, tags, embedding, embedding_model, quality
      from memories, generate_series(1, 48) as i`)
    // Too far from it to be of its crowd.
    const { id } = await cyd.save({ content: degrees.text(46), tags })
    const found = await (await hub.agent('reader', 1)).search('0 degrees')
    expect([found.length, found.at(-1)?.id]).toEqual([2, id])
  })

  it.each([
    ['what is good', true],
    ['what their author said', false],
  ])('are not crowded by %s, however much lies around them', async (_, isGood) => {
    const settings = { ...noLimits, thresholds: { crowd: 0.5 } }
    const hub = await openHub(database(), settings, { embedder: degrees })
    const bob = await hub.agent('bob')
    // Cosines: 0.74 of 42 degrees and 0.52 of 59; no two of them are linked as copies.
    for (const [i, angle] of [42, -42, 59].entries()) {
      const author = isGood ? await hub.agent(`author${i}`, 1) : bob
      await author.save({ content: degrees.text(angle), tags })
    }
    const { id } = await bob.save({ content: degrees.text(0), tags })
    const found = await (await hub.agent('reader')).search('0 degrees')
    expect(found.map((each) => each.id)).toContain(id)
  })

  it('are marked as a crowd where three others have said nearly the same', async () => {
    const hub = await openHub(database(), { ...noLimits, thresholds: { crowd: 0.5 } }, { embedder: degrees })
    const marked = []
    // Cosines with 0 degrees: 0.74 twice, and 0.52.
    for (const angle of [42, -42, 59, 0]) {
      await (await hub.agent('newcomer')).save({ content: degrees.text(angle), tags })
      marked.push(await database().$count(memories, eq(memories.crowded, true)))
    }
    expect(marked).toEqual([0, 0, 0, 1])
  })

  it('are of no crowd where two authors alone say nearly the same, one of them twice', async () => {
    const hub = await openHub(database(), { ...noLimits, thresholds: { crowd: 0.6 } }, { embedder: degrees })
    const [ada, bob, cyd] = [await hub.agent('ada'), await hub.agent('bob'), await hub.agent('cyd')]
    // Cosines with 25 degrees: 0.91 twice, and 0.57.
    for (const angle of [0, 50]) await bob.save({ content: degrees.text(angle), tags })
    await cyd.save({ content: degrees.text(-30), tags })
    await ada.save({ content: degrees.text(25), tags })
    const found = await (await hub.agent('reader', 1)).search('25 degrees')
    expect(found.map(({ author }) => author.name)).toEqual(['ada', 'bob'])
  })

  it('are of no crowd with what is hidden', async () => {
    const hub = await openHub(database(), { ...noLimits, thresholds: { crowd: 0.6 } }, { embedder: degrees })
    // Cosines with 25 degrees: 0.91 twice, and 0.57.
    for (const [name, angle] of Object.entries({ bob: 0, dan: 50, cyd: 80, ada: 25 }))
      await (await hub.agent(name)).save({ content: degrees.text(angle), tags })
    const shown = async () =>
      (await (await hub.agent('reader', 1)).search('25 degrees')).map(({ author }) => author.name)
    expect(await shown()).toEqual(['cyd'])
    const hidden = eq(memories.content, degrees.text(50))
    await database().update(memories).set({ quality: -2 }).where(hidden)
    expect(await shown()).toEqual(['ada', 'bob'])
  })
})
