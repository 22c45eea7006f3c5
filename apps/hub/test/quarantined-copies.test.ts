import { memories, memoryLinks, rowsOf } from '@recall/store-postgres'
import { eq, inArray, sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { wordsDigest } from '../src/pipelines/words-digest.ts'
import { degrees } from './support/degrees.ts'
import { gated } from './support/held-statements.ts'
import { engines, lesson, noLimits, openHub, type TestAgent } from './support/open-hub.ts'
import { tags, useThief } from './support/use-thief.ts'

describe.each(engines)('copies of what is put in quarantine, on %s,', (engine, open) => {
  const { database, cast, clock, save, stateOf, decide } = useThief(open)

  it.each(['put in quarantine', 'deleted'] as const)(
    'and of another one count as what they say when both are, of which the later was %s first',
    async (how) => {
      const stolen = await save(cast.thief)
      const again = await save(cast.thief)
      const copy = await save(cast.ada)
      if (how === 'deleted') await cast.thief.delete(again)
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
    const first = await save(cast.thief)
    let again = ''
    for (const step of steps) {
      if (step === 'save') again = await save(cast.thief)
      else if (step === 'delete') await cast.thief.delete(first)
      else await decide(`quarantine/${first}`)
    }
    const other = await save(cast.ada, 'kafka')
    expect(await cast.hub.maintain()).toMatchObject({ raised: 0 })
    expect(await stateOf(again)).toEqual([-1, first])
    expect((await cast.admin.search(lesson('redis'))).map(({ id }) => id)).not.toContain(again)
    expect((await cast.thief.search(lesson('redis'))).map(({ id }) => id)).toContain(again)
    expect(await stateOf(other)).toEqual([0, null])
    const readBy = ({ key }: TestAgent) => cast.hub.request('GET', `/api/v1/memory/${again}`, { key })
    expect([(await readBy(cast.ada)).status, (await readBy(cast.thief)).status]).toEqual([404, 200])
  })

  it('are also what its author wrote at the same moment', async () => {
    const [first, twin] = [await save(cast.thief), await save(cast.thief)]
    await database().delete(memoryLinks)
    await database().update(memories).set({ quality: 0, duplicateOf: null })
    await decide(`quarantine/${first}`)
    expect(await stateOf(twin)).toEqual([-1, first])
    expect(await cast.ada.search(lesson('redis'))).toEqual([])
    await decide(`restore/${first}`)
    expect((await cast.ada.search(lesson('redis'))).map(({ id }) => id)).toContain(first)
  })

  it('stay copies where their author deletes it at the very moment of repeating it', async () => {
    const first = await save(cast.thief)
    await decide(`quarantine/${first}`)
    let saving: Promise<string> | undefined
    await database().transaction(async (transaction) => {
      await transaction.execute(sql`select from memories where id = ${first}::uuid for update`)
      saving = save(cast.thief)
      // An embedded database has one connection: there it waits for the whole transaction.
      const isWaiting = async () =>
        (await rowsOf(transaction, sql`select from pg_locks where not granted`)).length > 0
      if (engine === 'postgres') await vi.waitUntil(isWaiting, { timeout: 60_000 })
      await transaction
        .update(memories)
        .set({
          content: '',
          embedding: null,
          deletedAt: new Date(cast.now),
          wordsDigest: wordsDigest(cast.thief.id, lesson('redis')),
        })
        .where(eq(memories.id, first))
    })
    expect(await stateOf((await saving) as string)).toEqual([-1, first])
  })

  it('stay copies where their author deletes it while they wait for their vectors', async () => {
    const first = await save(cast.thief)
    await decide(`quarantine/${first}`)
    const queued = await openHub(database(), { ...noLimits, embedAsync: true }, { clock })
    const body = { content: lesson('redis'), tags }
    const answer = await queued.request('POST', '/api/v1/memory', { key: cast.thief.key, body })
    const { id: again } = (await answer.json()) as { id: string }
    await cast.thief.delete(first)
    expect(await queued.embedWaiting()).toBe(1)
    expect(await stateOf(again)).toEqual([-1, first])
    expect(await database().$count(memoryLinks, eq(memoryLinks.relatedId, first))).toBe(1)
  })

  it('are related to nothing but for their author, where that repeats it', async () => {
    const good = await save(cast.ada)
    const hidden = await save(cast.thief)
    await decide(`quarantine/${hidden}`)
    const again = await save(cast.thief)
    await database().update(memories).set({ duplicateOf: hidden }).where(eq(memories.id, again))
    const relatedFor = async (reader: TestAgent) => (await reader.get(good)).related.map(({ id }) => id)
    expect([await relatedFor(cast.ada), (await relatedFor(cast.thief)).toSorted()]).toEqual([
      [],
      [hidden, again].toSorted(),
    ])
  })

  it('are named to nobody but their author who says the same, where that repeats it', async () => {
    const hidden = await save(cast.thief)
    await decide(`quarantine/${hidden}`)
    const again = await save(cast.thief)
    const namedTo = async (writer: TestAgent) =>
      (await writer.save({ content: lesson('redis'), tags })).similar.map(({ id }) => id)
    expect(await namedTo(cast.ada)).toEqual([])
    expect(await namedTo(cast.thief)).toEqual(expect.arrayContaining([hidden, again]))
    const links = database().$count(memoryLinks, eq(memoryLinks.relatedId, again))
    expect(await links).toBe(2)
  })

  it.each([
    ['at once', false],
    ['when it is embedded later', true],
  ])(
    'word for word are known after their author deleted it, %s, and of nobody else',
    async (_, embedAsync) => {
      const first = await save(cast.thief)
      await decide(`quarantine/${first}`)
      await cast.thief.delete(first)
      cast.hub = await openHub(database(), { ...noLimits, embedAsync }, { clock })
      const repeat = async (agent: TestAgent, content: string): Promise<[id: string, similar: object[]]> => {
        const { id, similar } = await agent.save({ content, tags })
        await cast.hub.embedWaiting()
        return [id, similar]
      }
      const [again, similar] = await repeat(
        cast.thief,
        lesson('redis').toUpperCase().replaceAll(' ', ' \u200b- '),
      )
      expect([await stateOf(again), similar]).toEqual([[-1, first], []])
      const [copy] = await repeat(cast.ada, lesson('redis'))
      expect(await stateOf(copy)).toEqual([0, null])
      const [other] = await repeat(cast.thief, lesson('kafka'))
      expect(await stateOf(other)).toEqual([0, null])

      await cast.ada.delete(copy)
      await decide(`restore/${first}`)
      expect(await stateOf(again)).toEqual([0, null])
    },
  )

  it('word for word count as what they say 90 days after their author deleted it, and no earlier', async () => {
    const first = await save(cast.thief)
    await decide(`quarantine/${first}`)
    await cast.thief.delete(first)
    const pass = async (days: number): Promise<void> => {
      cast.now += days * 24 * 60 * 60 * 1000
      await decide('heartbeat')
      await cast.hub.maintain()
    }
    await pass(89)
    const early = await save(cast.thief)
    expect(await stateOf(early)).toEqual([-1, first])
    await cast.thief.delete(early)
    await pass(1)
    expect(await stateOf(await save(cast.thief))).toEqual([0, null])
  })

  it('of which their author wrote one that is in quarantine stay copies of that when the other is withdrawn', async () => {
    const hidden = await save(cast.thief)
    await decide(`quarantine/${hidden}`)
    const good = await save(cast.ada)
    const again = await save(cast.thief)
    await database().update(memories).set({ duplicateOf: good }).where(eq(memories.id, again))
    await cast.ada.delete(good)
    expect(await stateOf(again)).toEqual([-1, hidden])
  })

  it('repeated by their author are no originals of what repeats something that counts as well', async () => {
    const turned = await openHub(database(), noLimits, { clock, embedder: degrees })
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
    await decide(`quarantine/${await save(cast.thief)}`)
    await save(cast.thief)
    expect(await stateOf(await save(cast.ada))).toEqual([0, null])
  })

  it.each([
    ['once that is hidden', (first: string) => decide(`quarantine/${first}`)],
    [
      'from the next maintenance on, where that was hidden before',
      async (first: string) => {
        await database().update(memories).set({ quality: -2 }).where(eq(memories.id, first))
        await cast.hub.maintain()
      },
    ],
  ])('repeated by their author are the original of nothing that others say, %s', async (_, hide) => {
    const [first, again, copy] = [await save(cast.thief), await save(cast.thief), await save(cast.ada)]
    await database().update(memories).set({ duplicateOf: again }).where(eq(memories.id, copy))
    await hide(first)
    expect(await stateOf(copy)).toEqual([0, null])
    expect(await stateOf(again)).toEqual([-1, first])
  })

  it.each([false, true])(
    'are none of what is hidden as they are written, but by its author; embedded later: %j',
    async (embedAsync) => {
      const stolen = await save(cast.thief)
      const hiding = gated(database(), /<=>/, async (look) => {
        const found = await look()
        await decide(`quarantine/${stolen}`)
        return found
      })
      const via = await openHub(hiding, { ...noLimits, embedAsync }, { clock })
      const saved = async ({ key }: TestAgent): Promise<string> => {
        const body = { content: lesson('redis'), tags }
        const answer = await via.request('POST', '/api/v1/memory', { key, body })
        if (embedAsync) expect(await via.embedWaiting()).toBe(1)
        return ((await answer.json()) as { id: string }).id
      }
      expect(await stateOf(await saved(cast.ada))).toEqual([0, null])
      expect(await stateOf(await saved(cast.thief))).toEqual([-1, stolen])
    },
  )

  it.each([
    ['deleted', (first: string) => cast.ada.delete(first)],
    ['put in quarantine', (first: string) => decide(`quarantine/${first}`)],
  ])(
    'are no originals when they become repetitions of it, because that of both is %s',
    async (_, withdraw) => {
      const first = await save(cast.ada)
      const [hidden, again] = [await save(cast.thief), await save(cast.thief)]
      const copy = await save(await cast.hub.agent('bob', 1))
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
    [
      'their author is deleted',
      'author',
      0,
      (author, id) => cast.admin.cite(id).then(() => author.delete(id)),
    ],
  ])(
    'are originals when what was said before by %s, and that of both is deleted',
    async (_, who, angle, withdraw) => {
      const turned = await openHub(database(), noLimits, { clock, embedder: degrees })
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

  it('make what their author says like them a copy of it too, when they become repetitions of it', async () => {
    const turned = await openHub(database(), noLimits, { clock, embedder: degrees })
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
      [-1, hidden],
    ])
  })

  it.each([
    ['at once', false],
    ['embedded later', true],
  ])('stay hidden where their author leads away from it step by step, %s', async (_, embedAsync) => {
    const hub = await openHub(database(), { ...noLimits, embedAsync }, { clock, embedder: degrees })
    const author = await hub.agent('author', 1)
    const saveAt = async (angle: number): Promise<string> => {
      const body = { content: degrees.text(angle), tags }
      const answer = await hub.request('POST', '/api/v1/memory', { key: author.key, body })
      await hub.embedWaiting()
      return ((await answer.json()) as { id: string }).id
    }
    const hidden = await saveAt(0)
    await decide(`quarantine/${hidden}`)
    const steps: string[] = []
    const save = async (angle: number): Promise<void> => {
      const id = await saveAt(angle)
      expect(await stateOf(id)).toEqual([-1, hidden])
      const read = await hub.request('GET', `/api/v1/memory/${id}`, { key: cast.ada.key })
      expect(read.status).toBe(404)
      steps.push(id)
    }
    // The cosine of 12 degrees is 0.98, that of 24 is 0.91.
    for (const angle of [12, 24, 36]) await save(angle)
    // Its author deletes it: a tombstone remains.
    await author.delete(hidden)
    for (const angle of [48, 60]) await save(angle)
    for (const id of steps.splice(1)) expect(await author.delete(id)).toBe('deleted')
    await decide(`restore/${hidden}`)
    expect(await stateOf(steps[0] as string)).toEqual([0, null])
  })

  it.each([
    ['when its author deletes what is between', (id: string) => cast.thief.delete(id)],
    ['by the next maintenance', () => cast.hub.maintain()],
  ])('of what its author repeats of it become copies of it %s', async (_, mend) => {
    const [hidden, again, last] = [await save(cast.thief), await save(cast.thief), await save(cast.thief)]
    await decide(`quarantine/${hidden}`)
    await database().update(memories).set({ duplicateOf: again }).where(eq(memories.id, last))
    await mend(again)
    expect(await stateOf(last)).toEqual([-1, hidden])
  })

  it('may be deleted with it when their author is in quarantine', async () => {
    const hidden = await save(cast.thief)
    const again = await save(cast.thief)
    await decide(`agents/${cast.thief.id}/quarantine`)
    const answer = await cast.hub.request('DELETE', `/api/v1/admin/memory/${hidden}`, { key: cast.admin.key })
    expect(await answer.json()).toMatchObject({ status: 'deleted' })
    expect(await stateOf(again)).toEqual([-2, null])
  })

  it('are no copies of each other where they are linked both ways, as restored ones are', async () => {
    const stolen = await save(cast.thief)
    const [first, second] = [await save(cast.ada), await save(cast.ada)]
    const copies = inArray(memories.id, [first, second])
    await database().update(memories).set({ duplicateOf: stolen }).where(copies)
    const link = { memoryId: first, relatedId: second, relation: 'duplicate_candidate', similarity: 1 }
    await database().insert(memoryLinks).values(link)
    await decide(`quarantine/${stolen}`)
    expect([(await stateOf(first))[1], (await stateOf(second))[1]]).toEqual([null, first])
  })

  it('are mended by maintenance where they were marked before', async () => {
    const stolen = await save(cast.thief)
    const copy = await save(cast.ada)
    await database().update(memories).set({ quality: -2 }).where(eq(memories.id, stolen))
    expect(await cast.hub.maintain()).toMatchObject({ raised: 1, lowered: 0 })
    expect(await stateOf(copy)).toEqual([0, null])
  })
})
