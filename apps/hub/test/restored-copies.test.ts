import { agents, memoryLinks } from '@recall/store-postgres'
import { and, eq, ne } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { degrees } from './support/degrees.ts'
import { gate, gated } from './support/held-statements.ts'
import { engines, lesson, noLimits, openHub, type TestAgent } from './support/open-hub.ts'
import { tags, useThief } from './support/use-thief.ts'

describe.each(engines)('copies of what is put in quarantine and restored, on %s,', (_, open) => {
  const { database, cast, clock, save, stateOf, decide } = useThief(open)

  it.each(['memory', 'agent'] as const)(
    'count as what they say, and stay so when the %s is restored',
    async (what) => {
      const stolen = await save(cast.thief)
      const copy = await save(cast.ada)
      expect(await stateOf(copy)).toEqual([-1, stolen])
      const path = what === 'memory' ? stolen : `agents/${cast.thief.id}`
      await decide(what === 'memory' ? `quarantine/${path}` : `${path}/quarantine`)
      expect(await stateOf(copy)).toEqual([0, null])
      expect((await cast.admin.search(lesson('redis'))).map(({ id }) => id)).toContain(copy)

      await decide(what === 'memory' ? `restore/${path}` : `${path}/restore`)
      expect(await stateOf(stolen)).toEqual([-1, copy])
      expect(await stateOf(copy)).toEqual([0, null])

      await cast.ada.delete(copy)
      expect(await stateOf(stolen)).toEqual([what === 'memory' ? 0 : -1, null])
    },
  )

  it.each(['memory', 'agent'] as const)(
    'by a newcomer are copies of it again when the %s is restored',
    async (what) => {
      // Others that are linked, and were there before.
      await save(cast.thief, 'kafka')
      await save(cast.ada, 'kafka')
      const first = await save(cast.ada)
      const copy = await save(await cast.hub.agent('newcomer'))
      const [hide, restore] =
        what === 'memory'
          ? [`quarantine/${first}`, `restore/${first}`]
          : [`agents/${cast.ada.id}/quarantine`, `agents/${cast.ada.id}/restore`]
      await decide(hide)
      expect(await stateOf(copy)).toEqual([-1, null])
      await decide(restore)
      expect(await stateOf(first)).toEqual([what === 'memory' ? 0 : -1, null])
      expect(await stateOf(copy)).toEqual([-1, first])
    },
  )

  it.each([
    ['memory', 'a trusted agent', 1],
    ['agent', 'a trusted agent', 1],
    ['memory', 'a newcomer', 0],
    ['agent', 'a newcomer', 0],
  ] as const)(
    'that were written while the %s was, by %s, are one with it when it is restored',
    async (what, _, trust) => {
      const first = await save(cast.ada)
      const path = what === 'memory' ? first : `agents/${cast.ada.id}`
      await decide(what === 'memory' ? `quarantine/${path}` : `${path}/quarantine`)
      const meanwhile = await save(await cast.hub.agent('other', trust))
      expect(await stateOf(meanwhile)).toEqual([trust - 1, null])
      await decide(what === 'memory' ? `restore/${path}` : `${path}/restore`)
      const states = [await stateOf(first), await stateOf(meanwhile)]
      if (trust > 0)
        expect(states).toEqual([
          [-1, meanwhile],
          [0, null],
        ])
      else
        expect(states).toEqual([
          [what === 'memory' ? 0 : -1, null],
          [-1, first],
        ])
    },
  )

  it('count as what they say when their author was restored, trusted again, and what they repeat is withdrawn', async () => {
    const stolen = await save(cast.thief)
    const copy = await save(cast.ada)
    await decide(`agents/${cast.thief.id}/quarantine`)
    await decide(`agents/${cast.thief.id}/restore`)
    expect(await stateOf(stolen)).toEqual([-1, copy])
    await database().update(agents).set({ trustLevel: 1 }).where(eq(agents.id, cast.thief.id))
    await decide(`quarantine/${copy}`)
    expect(await stateOf(stolen)).toEqual([0, null])
  })

  it('count as what they say when they are restored themselves', async () => {
    const first = await save(cast.thief)
    const again = await save(cast.thief)
    await decide(`quarantine/${first}`)
    await decide(`quarantine/${again}`)
    await decide(`restore/${again}`)
    await cast.hub.maintain()
    expect(await stateOf(again)).toEqual([0, null])
    expect(await stateOf(first)).toEqual([-2, null])
  })

  it('count as what they say when they are restored and only a tombstone is left of what they repeat', async () => {
    const first = await save(cast.ada)
    const copy = await save(cast.thief)
    await decide(`quarantine/${copy}`)
    await cast.admin.cite(first)
    expect(await cast.ada.delete(first)).toBe('tombstone')
    await decide(`restore/${copy}`)
    expect(await stateOf(copy)).toEqual([0, null])
  })

  it('count as what they say when they are restored and repeat only a copy of something else', async () => {
    const turned = await openHub(database(), noLimits, { clock, embedder: degrees })
    const at = async (angle: number) => {
      const agent = await turned.agent('somebody', 1)
      return (await agent.save({ content: degrees.text(angle), tags })).id
    }
    const [first, copy, last] = [await at(0), await at(12), await at(24)]
    expect([await stateOf(copy), await stateOf(last)]).toEqual([
      [-1, first],
      [0, null],
    ])
    for (const action of ['quarantine', 'restore']) await decide(`${action}/${last}`)
    expect(await stateOf(last)).toEqual([0, null])
  })

  it('count as what they say when that is restored and was deleted since', async () => {
    const first = await save(cast.thief)
    const again = await save(cast.thief)
    await decide(`quarantine/${first}`)
    await cast.thief.delete(first)
    expect(await stateOf(again)).toEqual([-1, first])
    await decide(`restore/${first}`)
    expect(await stateOf(again)).toEqual([0, null])
  })

  it('word for word count as what they say once that is restored, which its author had deleted', async () => {
    const first = await save(cast.thief)
    await decide(`quarantine/${first}`)
    await cast.thief.delete(first)
    await decide(`restore/${first}`)
    expect(await stateOf(await save(cast.thief))).toEqual([0, null])
  })

  it.each(['memory', 'agent'] as const)(
    'of which several count make it a copy of the first when the %s is restored',
    async (what) => {
      const turned = await openHub(database(), noLimits, { clock, embedder: degrees })
      const [author, other] = [await turned.agent('author', 1), await turned.agent('other', 1)]
      const saveAt = async (agent: TestAgent, angle: number) =>
        (await agent.save({ content: degrees.text(angle), tags })).id
      const stolen = await saveAt(author, 0)
      // No copies of each other.
      const [first, second] = [await saveAt(other, 12), await saveAt(other, -12)]
      const path = what === 'memory' ? stolen : `agents/${author.id}`
      await decide(what === 'memory' ? `quarantine/${path}` : `${path}/quarantine`)
      expect([await stateOf(first), await stateOf(second)]).toEqual([
        [0, null],
        [0, null],
      ])
      await decide(what === 'memory' ? `restore/${path}` : `${path}/restore`)
      expect(await stateOf(stolen)).toEqual([-1, first])
    },
  )

  it('count as what they say where they repeat only what becomes a copy when the memory is restored', async () => {
    const turned = await openHub(database(), noLimits, { clock, embedder: degrees })
    const saveAt = async (angle: number) =>
      (await (await turned.agent('newcomer')).save({ content: degrees.text(angle), tags })).id
    const [stolen, copy] = [await saveAt(0), await saveAt(12)]
    await decide(`quarantine/${stolen}`)
    const last = await saveAt(24)
    expect(await stateOf(last)).toEqual([-1, copy])
    await decide(`restore/${stolen}`)
    expect([await stateOf(copy), await stateOf(last)]).toEqual([
      [-1, stolen],
      [-1, null],
    ])
  })

  it('are copies of the first of several when the agent that wrote these is restored', async () => {
    cast.hub = await openHub(database(), noLimits, { clock, embedder: degrees })
    cast.thief = await cast.hub.agent('thief', 1)
    const saveAt = async (agent: TestAgent, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    // No copies of each other.
    const [first, second] = [await saveAt(cast.thief, -12), await saveAt(cast.thief, 12)]
    await decide(`agents/${cast.thief.id}/quarantine`)
    const last = await saveAt(await cast.hub.agent('newcomer'), 0)
    await decide(`agents/${cast.thief.id}/restore`)
    expect(await Promise.all([first, second, last].map(stateOf))).toEqual([
      [-1, null],
      [-1, null],
      [-1, first],
    ])
  })

  it('are linked to it when it is restored, as many as a new one is linked to', async () => {
    cast.hub = await openHub(database(), noLimits, { clock, embedder: degrees })
    const saveAt = async (agent: TestAgent, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    const [author, other] = [await cast.hub.agent('author', 1), await cast.hub.agent('other', 1)]
    const stolen = await saveAt(other, 0)
    await decide(`quarantine/${stolen}`)
    const linked = and(eq(memoryLinks.relatedId, stolen), ne(memoryLinks.memoryId, stolen))
    for (let angle = 1; angle <= 11; angle++) await saveAt(author, angle)
    const latest = await saveAt(author, 12)
    // The good one, and ten of its copies.
    expect(await database().$count(memoryLinks, eq(memoryLinks.memoryId, latest))).toBe(11)
    expect(await database().$count(memoryLinks, linked)).toBe(0)
    await decide(`restore/${stolen}`)
    expect(await database().$count(memoryLinks, linked)).toBe(11)
  })

  it('of an agent that has many are looked for together when it is restored', async () => {
    const saved = [await save(cast.thief), await save(cast.thief, 'kafka'), await save(cast.thief, 'nginx')]
    await decide(`agents/${cast.thief.id}/quarantine`)
    const { open: letAllGo, opened } = gate()
    let looking = 0
    const together = gated(database(), /near_0/, async (send) => {
      if (++looking === saved.length) letAllGo()
      await opened
      return send()
    })
    cast.hub = await openHub(together, noLimits, { clock })
    await decide(`agents/${cast.thief.id}/restore`)
    for (const id of saved) expect(await stateOf(id)).toEqual([-1, null])
  })

  it('of an agent that repeats itself have one original when it is restored', async () => {
    const [first, second, other] = [
      await save(cast.thief),
      await save(cast.thief),
      await save(cast.thief, 'kafka'),
    ]
    expect(await stateOf(second)).toEqual([-1, first])
    await decide(`agents/${cast.thief.id}/quarantine`)
    await decide(`agents/${cast.thief.id}/restore`)
    expect([await stateOf(first), await stateOf(second), await stateOf(other)]).toEqual([
      [-1, null],
      [-1, first],
      [-1, null],
    ])
  })

  it('are of low signal when the agent is restored, also one that was restored before it', async () => {
    const [first, second] = [await save(cast.thief), await save(cast.thief)]
    const ofThief = `agents/${cast.thief.id}`
    await decide(`${ofThief}/quarantine`)
    await database().update(agents).set({ trustLevel: 1 }).where(eq(agents.id, cast.thief.id))
    await decide(`restore/${second}`)
    expect(await stateOf(second)).toEqual([0, null])
    await decide(`${ofThief}/restore`)
    expect([await stateOf(first), await stateOf(second)]).toEqual([
      [-1, null],
      [-1, first],
    ])
  })

  it('are no originals of a tombstone when the agent is restored', async () => {
    const stolen = await save(cast.thief)
    const copy = await save(cast.ada)
    await cast.admin.cite(stolen)
    expect(await cast.thief.delete(stolen)).toBe('tombstone')
    for (const action of ['quarantine', 'restore']) await decide(`agents/${cast.thief.id}/${action}`)
    expect((await stateOf(stolen))[1]).toBe(null)
    expect(await stateOf(copy)).toEqual([0, null])
  })
})
