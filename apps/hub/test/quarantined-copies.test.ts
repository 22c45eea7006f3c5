import { agents, memories, memoryLinks } from '@recall/store-postgres'
import { and, eq, inArray, ne } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { degrees } from './degrees.ts'
import { gate, gated } from './held-statements.ts'
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

  it.each(['put in quarantine', 'deleted'] as const)(
    'and of another one count as what they say when both are, of which the later was %s first',
    async (how) => {
      const stolen = await save(thief)
      const again = await save(thief)
      const copy = await save(ada)
      if (how === 'deleted') await thief.delete(again)
      else await decide(`quarantine/${again}`)
      expect(await stateOf(copy)).toEqual([-1, stolen])
      await decide(`quarantine/${stolen}`)
      expect(await stateOf(copy)).toEqual([0, null])
    },
  )

  it.each([
    ['when it was repeated before', ['save', 'quarantine']],
    ['when it is repeated after', ['quarantine', 'save']],
    ['when its author deletes it', ['quarantine', 'save', 'delete']],
    ['when its author has deleted it', ['quarantine', 'delete', 'save']],
  ])('stay copies that nobody finds where their author repeats it, %s', async (_, steps) => {
    const first = await save(thief)
    let again = ''
    for (const step of steps) {
      if (step === 'save') again = await save(thief)
      else if (step === 'delete') await thief.delete(first)
      else await decide(`quarantine/${first}`)
    }
    const other = await save(ada, 'kafka')
    expect(await hub.maintain()).toMatchObject({ raised: 0 })
    expect(await stateOf(again)).toEqual([-1, first])
    expect((await admin.search(lesson('redis'))).map(({ id }) => id)).not.toContain(again)
    expect((await thief.search(lesson('redis'))).map(({ id }) => id)).toContain(again)
    expect(await stateOf(other)).toEqual([0, null])
    const readBy = ({ key }: TestAgent) => hub.request('GET', `/api/v1/memory/${again}`, { key })
    expect([(await readBy(ada)).status, (await readBy(thief)).status]).toEqual([404, 200])
  })

  it('are related to nothing but for their author, where that repeats it', async () => {
    const good = await save(ada)
    const hidden = await save(thief)
    await decide(`quarantine/${hidden}`)
    const again = await save(thief)
    await database().update(memories).set({ duplicateOf: hidden }).where(eq(memories.id, again))
    const relatedFor = async (reader: TestAgent) => (await reader.get(good)).related.map(({ id }) => id)
    expect([await relatedFor(ada), (await relatedFor(thief)).toSorted()]).toEqual([
      [],
      [hidden, again].toSorted(),
    ])
  })

  it('are named to nobody but their author who says the same, where that repeats it', async () => {
    const hidden = await save(thief)
    await decide(`quarantine/${hidden}`)
    const again = await save(thief)
    const namedTo = async (writer: TestAgent) =>
      (await writer.save({ content: lesson('redis'), tags })).similar.map(({ id }) => id)
    expect(await namedTo(ada)).toEqual([])
    expect(await namedTo(thief)).toEqual(expect.arrayContaining([hidden, again]))
    const links = database().$count(memoryLinks, eq(memoryLinks.relatedId, again))
    expect(await links).toBe(2)
  })

  it.each(['memory', 'agent'] as const)(
    'by a newcomer are copies of it again when the %s is restored',
    async (what) => {
      // Others that are linked, and were there before.
      await save(thief, 'kafka')
      await save(ada, 'kafka')
      const first = await save(ada)
      const copy = await save(await hub.agent('newcomer'))
      const [hide, restore] =
        what === 'memory'
          ? [`quarantine/${first}`, `restore/${first}`]
          : [`agents/${ada.id}/quarantine`, `agents/${ada.id}/restore`]
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
      const first = await save(ada)
      const path = what === 'memory' ? first : `agents/${ada.id}`
      await decide(what === 'memory' ? `quarantine/${path}` : `${path}/quarantine`)
      const meanwhile = await save(await hub.agent('other', trust))
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
    const stolen = await save(thief)
    const copy = await save(ada)
    await decide(`agents/${thief.id}/quarantine`)
    await decide(`agents/${thief.id}/restore`)
    expect(await stateOf(stolen)).toEqual([-1, copy])
    await database().update(agents).set({ trustLevel: 1 }).where(eq(agents.id, thief.id))
    await decide(`quarantine/${copy}`)
    expect(await stateOf(stolen)).toEqual([0, null])
  })

  it('count as what they say when they are restored themselves', async () => {
    const first = await save(thief)
    const again = await save(thief)
    await decide(`quarantine/${first}`)
    await decide(`quarantine/${again}`)
    await decide(`restore/${again}`)
    await hub.maintain()
    expect(await stateOf(again)).toEqual([0, null])
    expect(await stateOf(first)).toEqual([-2, null])
  })

  it('count as what they say when they are restored and only a tombstone is left of what they repeat', async () => {
    const first = await save(ada)
    const copy = await save(thief)
    await decide(`quarantine/${copy}`)
    await admin.cite(first)
    expect(await ada.delete(first)).toBe('tombstone')
    await decide(`restore/${copy}`)
    expect(await stateOf(copy)).toEqual([0, null])
  })

  it('count as what they say when they are restored and repeat only a copy of something else', async () => {
    const turned = await openHub(database(), noLimits, { clock: () => now++, embedder: degrees })
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
    const first = await save(thief)
    const again = await save(thief)
    await decide(`quarantine/${first}`)
    await thief.delete(first)
    expect(await stateOf(again)).toEqual([-1, first])
    await decide(`restore/${first}`)
    expect(await stateOf(again)).toEqual([0, null])
  })

  it.each([
    ['at once', false],
    ['when it is embedded later', true],
  ])(
    'word for word are known after their author deleted it, %s, and of nobody else',
    async (_, embedAsync) => {
      const first = await save(thief)
      await decide(`quarantine/${first}`)
      await thief.delete(first)
      hub = await openHub(database(), { ...noLimits, embedAsync }, { clock: () => now++ })
      const repeat = async (agent: TestAgent, content: string): Promise<[id: string, similar: object[]]> => {
        const { id, similar } = await agent.save({ content, tags })
        await hub.embedWaiting()
        return [id, similar]
      }
      const [again, similar] = await repeat(thief, lesson('redis').toUpperCase().replaceAll(' ', ' \u200b- '))
      expect([await stateOf(again), similar]).toEqual([[-1, first], []])
      const [copy] = await repeat(ada, lesson('redis'))
      expect(await stateOf(copy)).toEqual([0, null])
      const [other] = await repeat(thief, lesson('kafka'))
      expect(await stateOf(other)).toEqual([0, null])

      await ada.delete(copy)
      await decide(`restore/${first}`)
      expect(await stateOf(again)).toEqual([0, null])
    },
  )

  it('word for word count as what they say once that is restored, which its author had deleted', async () => {
    const first = await save(thief)
    await decide(`quarantine/${first}`)
    await thief.delete(first)
    await decide(`restore/${first}`)
    expect(await stateOf(await save(thief))).toEqual([0, null])
  })

  it('word for word count as what they say 90 days after their author deleted it, and no earlier', async () => {
    const first = await save(thief)
    await decide(`quarantine/${first}`)
    await thief.delete(first)
    const pass = async (days: number): Promise<void> => {
      now += days * 24 * 60 * 60 * 1000
      await decide('heartbeat')
      await hub.maintain()
    }
    await pass(89)
    const early = await save(thief)
    expect(await stateOf(early)).toEqual([-1, first])
    await thief.delete(early)
    await pass(1)
    expect(await stateOf(await save(thief))).toEqual([0, null])
  })

  it('of which their author wrote one that is in quarantine stay copies of that when the other is withdrawn', async () => {
    const hidden = await save(thief)
    await decide(`quarantine/${hidden}`)
    const good = await save(ada)
    const again = await save(thief)
    await database().update(memories).set({ duplicateOf: good }).where(eq(memories.id, again))
    await ada.delete(good)
    expect(await stateOf(again)).toEqual([-1, hidden])
  })

  it('repeated by their author are no originals of what repeats something that counts as well', async () => {
    const turned = await openHub(database(), noLimits, { clock: () => now++, embedder: degrees })
    const [author, other] = [await turned.agent('author', 1), await turned.agent('other', 1)]
    const saveAt = async (agent: TestAgent, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    const hidden = await saveAt(author, 0)
    await decide(`quarantine/${hidden}`)
    const again = await saveAt(author, 12)
    expect(await stateOf(again)).toEqual([-1, hidden])
    const good = await saveAt(other, 24)
    expect(await stateOf(good)).toEqual([0, null])
    // The cosine of 18 degrees is 0.95: it is no copy of the hidden one.
    expect(await stateOf(await saveAt(author, 18))).toEqual([-1, good])
  })

  it('repeated by their author are the original of nothing that others say afterwards', async () => {
    await decide(`quarantine/${await save(thief)}`)
    await save(thief)
    expect(await stateOf(await save(ada))).toEqual([0, null])
  })

  it.each([
    ['once that is hidden', (first: string) => decide(`quarantine/${first}`)],
    [
      'from the next maintenance on, where that was hidden before',
      async (first: string) => {
        await database().update(memories).set({ quality: -2 }).where(eq(memories.id, first))
        await hub.maintain()
      },
    ],
  ])('repeated by their author are the original of nothing that others say, %s', async (_, hide) => {
    const [first, again, copy] = [await save(thief), await save(thief), await save(ada)]
    await database().update(memories).set({ duplicateOf: again }).where(eq(memories.id, copy))
    await hide(first)
    expect(await stateOf(copy)).toEqual([0, null])
    expect(await stateOf(again)).toEqual([-1, first])
  })

  it.each([false, true])(
    'are none of what is hidden as they are written, but by its author; embedded later: %j',
    async (embedAsync) => {
      const stolen = await save(thief)
      const hiding = gated(database(), /<=>/, async (look) => {
        const found = await look()
        await decide(`quarantine/${stolen}`)
        return found
      })
      const via = await openHub(hiding, { ...noLimits, embedAsync }, { clock: () => now++ })
      const saved = async ({ key }: TestAgent): Promise<string> => {
        const body = { content: lesson('redis'), tags }
        const answer = await via.request('POST', '/api/v1/memory', { key, body })
        if (embedAsync) expect(await via.embedWaiting()).toBe(1)
        return ((await answer.json()) as { id: string }).id
      }
      expect(await stateOf(await saved(ada))).toEqual([0, null])
      expect(await stateOf(await saved(thief))).toEqual([-1, stolen])
    },
  )

  it.each([
    ['deleted', (first: string) => ada.delete(first)],
    ['put in quarantine', (first: string) => decide(`quarantine/${first}`)],
  ])(
    'are no originals when they become repetitions of it, because that of both is %s',
    async (_, withdraw) => {
      const first = await save(ada)
      const [hidden, again] = [await save(thief), await save(thief)]
      const copy = await save(await hub.agent('bob', 1))
      await decide(`quarantine/${hidden}`)
      await withdraw(first)
      expect([await stateOf(again), await stateOf(copy)]).toEqual([
        [-1, hidden],
        [0, null],
      ])
    },
  )

  it.each<
    [string, who: string, angle: number, withdraw: (author: TestAgent, id: string) => Promise<unknown>]
  >([
    ['their author, but only like them, is hidden', 'author', 20, (_, id) => decide(`quarantine/${id}`)],
    ['somebody else is hidden', 'another', 0, (_, id) => decide(`quarantine/${id}`)],
    ['their author is deleted', 'author', 0, (author, id) => admin.cite(id).then(() => author.delete(id))],
  ])(
    'are originals when what was said before by %s, and that of both is deleted',
    async (_, who, angle, withdraw) => {
      const turned = await openHub(database(), noLimits, { clock: () => now++, embedder: degrees })
      const [author, another, first, other] = [
        await turned.agent('author', 1),
        await turned.agent('another', 1),
        await turned.agent('first', 1),
        await turned.agent('other', 1),
      ]
      const saveAt = async (agent: TestAgent, angle: number) =>
        (await agent.save({ content: degrees.text(angle), tags })).id
      const original = await saveAt(first, 0)
      const speaker = who === 'author' ? author : another
      // The cosine of 20 degrees is 0.94.
      const before = await saveAt(speaker, angle)
      const [again, copy] = [await saveAt(author, 0), await saveAt(other, 0)]
      await withdraw(speaker, before)
      await first.delete(original)
      expect([await stateOf(again), await stateOf(copy)]).toEqual([
        [0, null],
        [-1, again],
      ])
    },
  )

  it('stay originals of what their author says like them, when they become repetitions of it', async () => {
    const turned = await openHub(database(), noLimits, { clock: () => now++, embedder: degrees })
    const [author, other] = [await turned.agent('author', 1), await turned.agent('other', 1)]
    const saveAt = async (agent: TestAgent, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    const original = await saveAt(other, 8)
    // The cosine of 16 degrees is 0.96: the last one is no copy of the hidden one.
    const [hidden, again, last] = [await saveAt(author, 0), await saveAt(author, 6), await saveAt(author, 16)]
    await decide(`quarantine/${hidden}`)
    await other.delete(original)
    expect([await stateOf(again), await stateOf(last)]).toEqual([
      [-1, hidden],
      [-1, again],
    ])
  })

  it.each(['memory', 'agent'] as const)(
    'of which several count make it a copy of the first when the %s is restored',
    async (what) => {
      const turned = await openHub(database(), noLimits, { clock: () => now++, embedder: degrees })
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
    const turned = await openHub(database(), noLimits, { clock: () => now++, embedder: degrees })
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
    hub = await openHub(database(), noLimits, { clock: () => now++, embedder: degrees })
    thief = await hub.agent('thief', 1)
    const saveAt = async (agent: TestAgent, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    // No copies of each other.
    const [first, second] = [await saveAt(thief, -12), await saveAt(thief, 12)]
    await decide(`agents/${thief.id}/quarantine`)
    const last = await saveAt(await hub.agent('newcomer'), 0)
    await decide(`agents/${thief.id}/restore`)
    expect(await Promise.all([first, second, last].map(stateOf))).toEqual([
      [-1, null],
      [-1, null],
      [-1, first],
    ])
  })

  it('are linked to it when it is restored, as many as a new one is linked to', async () => {
    hub = await openHub(database(), noLimits, { clock: () => now++, embedder: degrees })
    const saveAt = async (agent: TestAgent, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags })).id
    const [author, thief] = [await hub.agent('author', 1), await hub.agent('thief', 1)]
    const stolen = await saveAt(thief, 0)
    await decide(`quarantine/${stolen}`)
    const linked = and(eq(memoryLinks.relatedId, stolen), ne(memoryLinks.memoryId, stolen))
    for (let angle = 1; angle <= 11; angle++) await saveAt(author, angle)
    const { similar } = await author.save({ content: degrees.text(12), tags })
    expect(similar).toHaveLength(10)
    expect(await database().$count(memoryLinks, linked)).toBe(0)
    await decide(`restore/${stolen}`)
    expect(await database().$count(memoryLinks, linked)).toBe(10)
  })

  it('may be deleted with it when their author is in quarantine', async () => {
    const hidden = await save(thief)
    const again = await save(thief)
    await decide(`agents/${thief.id}/quarantine`)
    const answer = await hub.request('DELETE', `/api/v1/admin/memory/${hidden}`, { key: admin.key })
    expect(await answer.json()).toMatchObject({ status: 'deleted' })
    expect(await stateOf(again)).toEqual([-2, null])
  })

  it('are no copies of each other where they are linked both ways, as restored ones are', async () => {
    const stolen = await save(thief)
    const [first, second] = [await save(ada), await save(ada)]
    const copies = inArray(memories.id, [first, second])
    await database().update(memories).set({ duplicateOf: stolen }).where(copies)
    const link = { memoryId: first, relatedId: second, relation: 'duplicate_candidate', similarity: 1 }
    await database().insert(memoryLinks).values(link)
    await decide(`quarantine/${stolen}`)
    expect([(await stateOf(first))[1], (await stateOf(second))[1]]).toEqual([null, first])
  })

  it('of an agent that has many are looked for together when it is restored', async () => {
    const saved = [await save(thief), await save(thief, 'kafka'), await save(thief, 'nginx')]
    await decide(`agents/${thief.id}/quarantine`)
    const { open: letAllGo, opened } = gate()
    let looking = 0
    const together = gated(database(), /near_0/, async (send) => {
      if (++looking === saved.length) letAllGo()
      await opened
      return send()
    })
    hub = await openHub(together, noLimits, { clock: () => now++ })
    await decide(`agents/${thief.id}/restore`)
    for (const id of saved) expect(await stateOf(id)).toEqual([-1, null])
  })

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

  it('are of low signal when the agent is restored, also one that was restored before it', async () => {
    const [first, second] = [await save(thief), await save(thief)]
    const ofThief = `agents/${thief.id}`
    await decide(`${ofThief}/quarantine`)
    await database().update(agents).set({ trustLevel: 1 }).where(eq(agents.id, thief.id))
    await decide(`restore/${second}`)
    expect(await stateOf(second)).toEqual([0, null])
    await decide(`${ofThief}/restore`)
    expect([await stateOf(first), await stateOf(second)]).toEqual([
      [-1, null],
      [-1, first],
    ])
  })

  it('are no originals of a tombstone when the agent is restored', async () => {
    const stolen = await save(thief)
    const copy = await save(ada)
    await admin.cite(stolen)
    expect(await thief.delete(stolen)).toBe('tombstone')
    for (const action of ['quarantine', 'restore']) await decide(`agents/${thief.id}/${action}`)
    expect((await stateOf(stolen))[1]).toBe(null)
    expect(await stateOf(copy)).toEqual([0, null])
  })

  it('are mended by maintenance where they were marked before', async () => {
    const stolen = await save(thief)
    const copy = await save(ada)
    await database().update(memories).set({ quality: -2 }).where(eq(memories.id, stolen))
    expect(await hub.maintain()).toMatchObject({ raised: 1, lowered: 0 })
    expect(await stateOf(copy)).toEqual([0, null])
  })
})
