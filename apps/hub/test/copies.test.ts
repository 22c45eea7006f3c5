import { agents, memories, memoryLinks } from '@recall/store-postgres'
import { eq, isNotNull, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { newShortId } from '../src/short-id.ts'
import { degrees } from './support/degrees.ts'
import { engines, lesson, noLimits, openHub, type TestAgent, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['redis', 'pool']

describe.each(engines)('copies of what is deleted, on %s,', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let [ada, bob]: TestAgent[] = []
  beforeEach(async () => {
    hub = await openHub(database())
    ada = await hub.agent('ada', 1)
    bob = await hub.agent('bob', 1)
  })

  const save = async (agent?: TestAgent): Promise<string> =>
    (await agent?.save({ content: lesson('redis'), tags }))?.id ?? ''
  const stateOf = async (id: string) => {
    const [row] = await database().select().from(memories).where(eq(memories.id, id))
    return { quality: row?.quality, duplicateOf: row?.duplicateOf }
  }
  const original = { quality: 0, duplicateOf: null }

  it.each(['deleted', 'tombstone'] as const)(
    '%s, count as what they say, one after the other',
    async (status) => {
      const first = await save(ada)
      const copies = [await save(bob), await save(bob), await save(bob)] as [string, string, string]
      if (status === 'tombstone') await bob?.cite(first)
      expect((await stateOf(copies[0])).quality).toBe(-1)
      expect(await ada?.delete(first)).toBe(status)
      const copyOf = (duplicateOf: string) => ({ quality: -1, duplicateOf })
      expect(await Promise.all(copies.map(stateOf))).toEqual([original, copyOf(copies[0]), copyOf(copies[0])])
      await bob?.delete(copies[0])
      expect(await Promise.all(copies.slice(1).map(stateOf))).toEqual([original, copyOf(copies[1])])
    },
  )

  /** A link of the copy to what was there when it was saved. */
  interface Link {
    similarity: number
    to?: 'the deleted' | 'another'
    by?: 'ada' | 'bob'
    quality?: number
    deleted?: boolean
  }
  const same: Link = { similarity: 1, to: 'the deleted' }
  const near: Link = { similarity: 0.95, by: 'bob' }
  const times = (count: number, link: Link): Link[] => Array.from({ length: count }, () => link)

  it.each<[what: string, quality: number, links: Link[], own?: { quality: number }]>([
    ['of nothing else', 0, [same]],
    ['in quarantine', -2, [same], { quality: -2 }],
    ['not of it, but only like it', -1, [{ ...same, similarity: 0.96 }]],
    ['of another one', -1, [same, { similarity: 0.97 }]],
    ['of another tombstone alone', -1, [{ similarity: 1, deleted: true }]],
    ['also of another tombstone', 0, [same, { similarity: 1, deleted: true }]],
    ['also of what is in quarantine', 0, [same, { similarity: 1, quality: -2 }]],
    ['also like another one', 0, [same, { similarity: 0.96 }]],
    ['also like four of its author', 0, [same, ...times(4, near)]],
    ['also like five of its author', -1, [same, ...times(5, near)]],
    ['also like four of its author, and of one', 0, [{ ...same, by: 'bob' }, ...times(4, near)]],
    ['also like five of another author', 0, [same, ...times(5, { ...near, by: 'ada' })]],
    ['also a little like five of its author', 0, [same, ...times(5, { ...near, similarity: 0.9 })]],
    ['also like five of its author, one deleted', 0, [same, ...times(4, near), { ...near, deleted: true }]],
  ])('%s, have the quality %i', async (_, quality, links, own = { quality: -1 }) => {
    const insert = async (
      agent: TestAgent | undefined,
      values: { quality?: number; deletedAt?: Date | null },
    ) => {
      const row = { agentId: agent?.id ?? '', content: 'text', embeddingModel: 'fake', ...values }
      const [made] = await database()
        .insert(memories)
        .values({ ...row, shortId: newShortId() })
        .returning({ id: memories.id })
      return made?.id ?? ''
    }
    const author = links.some(({ to, by }) => to && by === 'bob') ? bob : ada
    const original = await insert(author, {})
    const copy = await insert(bob, own)
    for (const { similarity, to, by, quality: ofOther = 0, deleted } of links) {
      const other = { quality: ofOther, deletedAt: deleted ? new Date() : null }
      const relatedId = to === 'the deleted' ? original : await insert(by === 'bob' ? bob : ada, other)
      const relation = similarity >= 0.92 ? 'duplicate_candidate' : 'similar'
      await database().insert(memoryLinks).values({ memoryId: copy, relatedId, relation, similarity })
    }
    await author?.delete(original)
    expect((await stateOf(copy)).quality).toBe(quality)
  })

  it('stay of low signal when their author is not trusted, also once it is', async () => {
    const newcomer = await hub.agent('newcomer')
    const first = await save(ada)
    const weak = await save(newcomer)
    await bob?.cite(first)
    expect(await ada?.delete(first)).toBe('tombstone')
    expect(await stateOf(weak)).toEqual({ quality: -1, duplicateOf: null })
    await database().update(agents).set({ trustLevel: 1 }).where(eq(agents.id, newcomer.id))
    await hub.maintain()
    expect(await stateOf(weak)).toEqual({ quality: -1, duplicateOf: null })
  })

  it('are copies of the next one, so that a newcomer does not make several useful memories of one', async () => {
    const turned = await openHub(database(), noLimits, { embedder: degrees })
    const newcomer = await turned.agent('newcomer')
    const at = async (angle: number) => (await newcomer.save({ content: degrees.text(angle), tags })).id
    const [first, second, third] = [await at(0), await at(6), await at(-6)]
    expect((await stateOf(third)).duplicateOf).toBe(first)
    await newcomer.delete(first)
    expect([await stateOf(second), await stateOf(third)]).toEqual([
      { quality: -1, duplicateOf: null },
      { quality: -1, duplicateOf: second },
    ])
  })

  it.each(['another author', 'its author'])(
    'are the original of nothing: what only repeats a copy of %s counts, whatever becomes of that',
    async (who) => {
      const turned = await openHub(database(), noLimits, { embedder: degrees })
      const one = await turned.agent('one', 1)
      const at = async (angle: number) => {
        const author = who === 'its author' ? one : await turned.agent('somebody', 1)
        const { id } = await author.save({ content: degrees.text(angle), tags })
        return { id, author }
      }
      const [first, copy, last] = [await at(0), await at(12), await at(24)]
      expect((await stateOf(copy.id)).duplicateOf).toBe(first.id)
      expect(await stateOf(last.id)).toEqual(original)
      await copy.author.delete(copy.id)
      expect(await stateOf(last.id)).toEqual(original)
    },
  )

  it('may be thousands: they change some at a time', async () => {
    const first = await save(ada)
    await database().execute(sql`
      insert into memories (short_id, agent_id, content, embedding_model, quality, duplicate_of)
      select 'RCL-' || i, ${bob?.id}, 'a copy', 'fake', -1, ${first} from generate_series(1, 1200) as i`)
    await database().execute(sql`
      create function refuse_many() returns trigger language plpgsql as $$ begin
        if (select count(*) from changed) > 500 then raise 'too many at once'; end if;
        return null;
      end $$`)
    onTestFinished(async () => {
      await database().execute(sql`drop function refuse_many cascade`)
    })
    await database().execute(sql`
      create trigger refuse_many after update on memories referencing new table as changed
      for each statement execute function refuse_many()`)
    expect(await ada?.delete(first)).toBe('deleted')
    expect(await database().$count(memories, isNotNull(memories.duplicateOf))).toBe(0)
  })

  it('are mended by maintenance where they were marked as copies of a tombstone', async () => {
    const first = await save(ada)
    const copy = await save(bob)
    const weak = await save(await hub.agent('newcomer'))
    await bob?.cite(first)
    await ada?.delete(first)
    const living = await ada?.save({ content: lesson('nginx'), tags })
    const other = (await bob?.save({ content: lesson('nginx'), tags }))?.id ?? ''
    for (const id of [copy, weak])
      await database().update(memories).set({ quality: -1, duplicateOf: first }).where(eq(memories.id, id))
    expect(await hub.maintain()).toMatchObject({ raised: 1, lowered: 0 })
    expect(await stateOf(copy)).toEqual(original)
    expect(await stateOf(weak)).toEqual({ quality: -1, duplicateOf: copy })
    expect(await stateOf(other)).toEqual({ quality: -1, duplicateOf: living?.id })
    expect(await hub.maintain()).toMatchObject({ raised: 0, lowered: 0 })
  })
})

describe.each(engines)('of memories that several hubs saved at the same moment, on %s,', (_, open) => {
  const database = useDatabase(open)

  it('the later ones are copies of the first from the next maintenance on, also a day later', async () => {
    let now = Date.UTC(2026, 0, 1)
    const hub = await openHub(database(), noLimits, { clock: () => now })
    const content = lesson('redis')
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const saved: string[] = []
    for (const author of [ada, bob, bob]) {
      saved.push((await author.save({ content, tags })).id)
      now += 1
    }
    const [first = '', second, third] = saved
    // None of them saw another.
    await database().delete(memoryLinks)
    await database().update(memories).set({ quality: 0, duplicateOf: null })
    const copies = () =>
      database()
        .select({ id: memories.id, quality: memories.quality, of: memories.duplicateOf })
        .from(memories)
        .where(isNotNull(memories.duplicateOf))
        .orderBy(memories.createdAt)
    now += 24 * 60 * 60 * 1000
    await hub.maintain()
    expect(await copies()).toEqual([
      { id: second, quality: -1, of: first },
      { id: third, quality: -1, of: first },
    ])
    await ada.delete(first)
    expect(await copies()).toEqual([{ id: third, quality: -1, of: second }])
  })
})

it.each(engines)(
  'of memories that are saved at once with the same content, on %s, one is the original',
  async (_, open) => {
    const engine = await open()
    try {
      const hub = await openHub(engine.database)
      const agents = [await hub.agent('ada', 1), await hub.agent('bob', 1), await hub.agent('cid', 1)]
      const saved = await Promise.all(agents.map((agent) => agent.save({ content: lesson('redis'), tags })))
      expect(saved.map(({ similar }) => similar.length).toSorted()).toEqual([0, 1, 2])
      expect(await engine.database.$count(memories, isNotNull(memories.duplicateOf))).toBe(2)
      expect(await engine.database.$count(memories, eq(memories.quality, 0))).toBe(1)
    } finally {
      await engine.close()
    }
  },
)
