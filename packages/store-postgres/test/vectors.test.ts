import {
  createMemoryManager,
  type Embedder,
  type Found,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type StoreQuery,
} from '@recall/core'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../src/engines/database.ts'
import { placeId } from '../src/entries/address.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { reembed } from '../src/reembed.ts'
import { type Engine, emptyTables, engines, indexVectors, plainEntry } from './support/engines.ts'

/** A model that counts letters, and another one that counts others. */
const letters = (model: string, alphabet: string): Embedder => ({
  model,
  dimensions: alphabet.length + 1,
  async embed(texts) {
    return texts.map((text) => {
      const counts = [...alphabet].map((letter) => text.split(letter).length - 1)
      const length = Math.hypot(...counts, 0.1)
      return Float32Array.from([...counts, 0.1], (count) => count / length)
    })
  },
})
const first = letters('letters/1', 'abcdef')
const second = letters('letters/2', 'xyz')

/** A model that does something before each of its first calls. */
function doing(embedder: Embedder, steps: (() => unknown)[]): Embedder {
  const left = [...steps]
  return {
    ...embedder,
    async embed(texts, mode) {
      await left.shift()?.()
      return embedder.embed(texts, mode)
    },
  }
}

function gate() {
  let pass = (): void => {}
  const opened = new Promise<void>((resolve) => {
    pass = resolve
  })
  /** Opens it and, where something is given, waits for that. */
  const open = async (then?: Promise<unknown>): Promise<void> => {
    pass()
    await then
  }
  return { open, opened }
}

describe.each(engines)('%s', (name, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  it('gives an entry its own vectors alone, whatever others keep under its key', async () => {
    await emptyTables(engine.database)
    const owners = ['one', 'two'] as const
    const stores = owners.map((tenant) => createPostgresStore(engine.database, { tenant }))
    const vectors = [
      [1, 0],
      [0, 1],
    ]
    const entryIn = (i: number) =>
      plainEntry('key', {
        text: 'tide',
        embedding: { model: 'two', vector: vectors[i] ?? [] },
      })
    for (const [i, store] of stores.entries()) await store.put(entryIn(i), { overwrite: true, now: 1 })
    for (const [i, store] of stores.entries()) {
      const { namespace, scope, key, embedding } = entryIn(i)
      expect((await store.get({ namespace, scope, key }, 1))?.embedding).toEqual(embedding)
      const query = { namespace, scope, limit: 5, offset: 0, minScore: 0, now: 1 } as const
      const order = { sortBy: 'relevance', sortOrder: 'desc' } as const
      for (const found of [
        await store.find({ ...query, ...order }),
        await store.find({ ...query, ...order, text: 'tide' }),
      ])
        expect(found.map(({ entry }) => entry.embedding)).toEqual([embedding])
    }
  })

  it('takes no offence at a vector of another model in what has expired', async () => {
    await emptyTables(engine.database)
    const store = createPostgresStore(engine.database)
    const embedded = (key: string, model: string, expiresAt: number | null) =>
      plainEntry(key, { expiresAt, embedding: { model, vector: [1, 0] } })
    await store.put(embedded('gone', 'old', 5), { overwrite: true, now: 1 })
    await store.put(embedded('stays', 'new', null), { overwrite: true, now: 1 })
    const { namespace, scope } = plainEntry('')
    const page = { sortBy: 'relevance', sortOrder: 'desc', minScore: 0, limit: 5, offset: 0 } as const
    const ask = (now: number) =>
      store.find({ namespace, scope, ...page, embedding: { model: 'new', vector: [1, 0] }, now })
    await expect(ask(4)).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
    expect((await ask(5)).map(({ entry }) => entry.key)).toEqual(['stays'])
  })

  it('tells of another model also behind vectors of another length', async () => {
    await emptyTables(engine.database)
    const store = createPostgresStore(engine.database)
    const { namespace, scope } = plainEntry('')
    const page = { sortBy: 'relevance', sortOrder: 'desc', minScore: 0, limit: 5, offset: 0 } as const
    const ask = () =>
      store.find({ namespace, scope, ...page, embedding: { model: 'new', vector: [1, 0] }, now: 1 })
    const put = (key: string, model: string, vector: number[]) =>
      store.put(plainEntry(key, { embedding: { model, vector } }), { overwrite: true, now: 1 })
    await put('short', 'new', [1])
    await expect(ask()).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    await put('fitting', 'new', [1, 0])
    expect((await ask()).map(({ entry }) => entry.key)).toEqual(['fitting'])
    await put('long', 'old', [1, 0, 0])
    await expect(ask()).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
  })

  it('refuses another model until everything was embedded again, in use and after an interruption', async () => {
    await emptyTables(engine.database)
    const stores = createPostgresStore(engine.database)
    const before = createMemoryManager({ stores, embedder: first })
    const after = createMemoryManager({ stores, embedder: second })
    for (let i = 0; i < 20; i++) await before.write('long-term', `n${i}`, i % 2 ? 'xxx' : 'zzz')
    const conflict = async () => {
      const error: unknown = await after.search('long-term', { text: 'x' }).catch((error) => error)
      return isMemoryError(error, MemoryErrorCode.CONFLICT)
    }
    expect(await conflict()).toBe(true)

    const stop = new AbortController()
    const interrupted = reembed(engine.database, 'entries', second, {
      batch: 4,
      signal: stop.signal,
      onProgress: ({ done }) => done === 12 && stop.abort(),
    })
    await expect(interrupted).rejects.toThrow()
    expect(await conflict()).toBe(true)
    // By the old model searches go on, and compare its vectors.
    expect((await before.search('long-term', { text: 'xxx' }))[0]?.mode).toBe('hybrid')

    let wrote = false
    const busy: Embedder = {
      ...second,
      async embed(texts, mode) {
        // Rows that are written or rewritten meanwhile.
        if (!wrote)
          await before.batchWrite(
            'long-term',
            ['n0', 'new'].map((key) => ({ key, value: 'yyy' })),
          )
        wrote = true
        return second.embed(texts, mode)
      },
    }
    const made = await reembed(engine.database, 'entries', busy, { batch: 4 })
    expect(made).toBeGreaterThanOrEqual(8)
    const found = await after.search('long-term', { embedding: [0, 1, 0, 0] }, { limit: 2 })
    expect(found.map(({ key }) => key).sort()).toEqual(['n0', 'new'])
    expect(found[0]?.score).toBeGreaterThan(0.9)
    expect(await reembed(engine.database, 'entries', second)).toBe(0)
  })

  it.each([
    ['while their vectors are made', []],
    ['once some of these are made', [() => {}]],
  ])('gives texts that are written anew %s vectors of their own', async (_, before) => {
    await emptyTables(engine.database)
    const stores = createPostgresStore(engine.database)
    const writer = createMemoryManager({ stores, embedder: first })
    const write = (value: string) =>
      writer.batchWrite(
        'long-term',
        Array.from({ length: 8 }, (_, i) => ({ key: `n${i}`, value })),
      )
    await write('xxx')
    await reembed(engine.database, 'entries', doing(second, [...before, () => write('zzz')]), { batch: 4 })
    const reader = createMemoryManager({ stores, embedder: second })
    const found = await reader.search('long-term', { embedding: [0, 0, 1, 0] })
    expect(found.map(({ score }) => score > 0.9)).toEqual(Array(8).fill(true))
  })

  it('ends when another run makes vectors of another model, and takes over from one that was given up', async () => {
    await emptyTables(engine.database)
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database), embedder: first })
    for (let i = 0; i < 12; i++) await memory.write('long-term', `n${i}`, i % 2 ? 'aaa' : 'bbb')
    const third = letters('letters/3', 'ab')
    const run = (embedder: Embedder) => reembed(engine.database, 'entries', embedder, { batch: 4 })
    const [begin, atWork, keptMore] = [gate(), gate(), gate()]
    const other = begin.opened.then(() => run(doing(third, [() => atWork.open(keptMore.opened)])))
    const one = run(
      doing(second, [
        () => {},
        () => begin.open(atWork.opened),
        () => keptMore.open(Promise.allSettled([other])),
      ]),
    )
    const conflict = { status: 'rejected', reason: { code: MemoryErrorCode.CONFLICT } }
    expect(await Promise.allSettled([one, other])).toMatchObject([conflict, conflict])
    await reembed(engine.database, 'entries', third, { batch: 4 })
    const after = createMemoryManager({ stores: createPostgresStore(engine.database), embedder: third })
    expect(await after.search('long-term', { embedding: [1, 0, 0] }, { limit: 6 })).toHaveLength(6)
  })

  it('may take its time for what changes every row', async () => {
    const { database } = engine
    await emptyTables(database)
    const memory = createMemoryManager({ stores: createPostgresStore(database), embedder: first })
    await memory.write('long-term', 'n', 'xxx')
    await database.execute(sql`update units set next_embedding = '[1]', next_embedding_model = 'given up'`)
    await database.execute(sql`
      create function refuse_hurry() returns trigger language plpgsql as $$ begin
        if current_setting('statement_timeout') <> '0' then raise 'this may take longer'; end if;
        return new;
      end $$`)
    await database.execute(sql`
      create trigger refuse_hurry before update on units for each row when (new.next_embedding is null)
      execute function refuse_hurry()`)
    expect(await reembed(database, 'entries', second)).toBe(1)
    const [after] = await rowsOf<{ setting: string }>(
      database,
      sql`select current_setting('statement_timeout') as setting`,
    )
    expect(after?.setting).toBe(name === 'pglite' ? '0' : '10s')
    await database.execute(sql`drop function refuse_hurry cascade`)
  })

  it('lists an entry with the mean of its vectors, and loses none of them where it is moved or changed', async () => {
    await emptyTables(engine.database)
    const store = createPostgresStore(engine.database)
    const memory = createMemoryManager({ stores: store, embedder: first })
    const value = ['a ', 'b '].map((letter) => letter.repeat(3000)).join('\n\n')
    await memory.write('episodic', 'long', value)
    const place = { namespace: 'default', scope: 'episodic' } as const
    const now = Date.now() + 1
    const get = async () => (await store.get({ ...place, key: 'long' }, now))?.embedding
    const whole = await get()
    expect(whole?.units?.length).toBeGreaterThan(1)
    const listed = {
      ...place,
      sortBy: 'recency',
      sortOrder: 'desc',
      minScore: 0,
      limit: 9,
      offset: 0,
      now,
    } as const
    const close = (vector: number[] = []) => vector.map((x) => expect.closeTo(x, 5))
    const mean = { model: first.model, vector: close(whole?.vector) }
    expect((await store.find(listed)).map(({ entry }) => entry.embedding)).toEqual([mean])
    await memory.cleanup({ archiveBefore: now })
    expect((await store.cold.find(listed)).map(({ entry }) => entry.embedding)).toEqual([mean])
    await memory.restore('episodic', 'long')
    // Scaled to length 1 once more.
    const units = whole?.units?.map((unit) => close(unit))
    expect((await get())?.units).toEqual(units)
    const record = await memory.read('episodic', 'long', { includeMetadata: true })
    const ifUpdatedAt = record?.metadata.updatedAt ?? 0
    const same = { operation: 'set', key: 'long', value, ifUpdatedAt, keepOptions: true } as const
    await createMemoryManager({ stores: store }).atomicUpdate('episodic', [same])
    expect((await get())?.units).toEqual(units)
  })

  it('does not drop a vector that it cannot make again', async () => {
    await emptyTables(engine.database)
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database) })
    await memory.write('long-term', 'own', 1, { embedding: [1, 0] })
    await expect(reembed(engine.database, 'entries', second)).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
    })
    expect(await memory.search('long-term', { embedding: [1, 0] })).toHaveLength(1)
  })

  it('names the texts that the new model refuses, once all others have their vectors', async () => {
    await emptyTables(engine.database)
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database), embedder: first })
    for (let i = 0; i < 20; i++) await memory.write('long-term', `n${i}`, i % 7 ? 'xxx' : 'too long')
    const embed: Embedder['embed'] = async (texts, mode) => {
      if (!texts.includes('too long')) return second.embed(texts, mode)
      throw new MemoryError('the server answered 400', MemoryErrorCode.UNAVAILABLE, {
        details: { refusesText: true },
      })
    }
    const move = () => reembed(engine.database, 'entries', { ...second, embed }, { batch: 6 })
    const refusal = {
      code: MemoryErrorCode.CONFLICT,
      message: expect.stringMatching(
        /refuses 3 texts \(.*answered 400\), of (?:default\/long-term\/n(?:0|7|14)(?:, |:)){3}/,
      ),
    }
    await expect(move()).rejects.toMatchObject(refusal)
    expect((await memory.search('long-term', { text: 'xxx' }))[0]?.mode).toBe('hybrid')
    // Another run sends them alone.
    await expect(move()).rejects.toMatchObject(refusal)
    await memory.delete('long-term', 'n0')
    await memory.delete('long-term', 'n7')
    await memory.write('long-term', 'n14', 'zzz')
    expect(await move()).toBe(1)
    const after = createMemoryManager({ stores: createPostgresStore(engine.database), embedder: second })
    const found = await after.search('long-term', { embedding: [1, 0, 0, 0] }, { limit: 100 })
    expect(found.filter(({ score }) => score > 0.9)).toHaveLength(17)
  })

  it('keeps vectors of any finite numbers, and compares them by direction', async () => {
    await emptyTables(engine.database)
    await indexVectors(engine.database, 2)
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database) })
    for (const [key, embedding] of Object.entries({ huge: [1e300, 0], tiny: [1e-300, 0], zero: [0, 0] })) {
      await memory.write('long-term', key, key, { embedding })
    }
    const found = await memory.search('long-term', { embedding: [1e-200, 0] })
    expect(found.map(({ key, score }) => [key, score]).sort()).toEqual([
      ['huge', 1],
      ['tiny', 1],
      ['zero', 0],
    ])
  })

  it('finds as many as are asked for under a filter, and nearly all of the nearest', async () => {
    await emptyTables(engine.database)
    const rows = name === 'pglite' ? 6000 : 20_000
    const dimensions = 32
    await fill(engine, rows, dimensions)
    await indexVectors(engine.database, dimensions)
    await engine.database.execute(sql`analyze entries, units`)
    const store = createPostgresStore(engine.database)
    const search = (vector: number[], tags: string[], limit = 10): Promise<Found[]> =>
      store.find({ ...query, embedding: { model: 'clusters', vector }, tags, limit })
    for (const tags of [[], ['half'], ['rare']]) {
      let hits = 0
      for (let i = 0; i < 20; i++) {
        const vector = clustered(i * 37, dimensions, 0.6)
        const found = (await search(vector, tags)).map(({ entry }) => entry.key)
        expect(found).toHaveLength(10)
        const exact = await nearest(engine, vector, tags)
        hits += found.filter((key) => exact.includes(key)).length
      }
      expect(hits / 200, `recall under ${tags}`).toBeGreaterThanOrEqual(0.95)
    }
  })
})

const query: Omit<StoreQuery, 'embedding' | 'limit'> = {
  namespace: 'default',
  scope: 'long-term',
  offset: 0,
  sortBy: 'relevance',
  sortOrder: 'desc',
  minScore: 0,
  now: 1,
}

/**
 * Near one of 50 centres: random directions would be no test, they are all equally far. With less noise than 0.5 the
 * clusters stand apart, and by chance a graph has no way into one of them.
 */
function clustered(i: number, dimensions: number, noise: number): number[] {
  return Array.from({ length: dimensions }, (_, d) => {
    const centre = Math.sin((i % 50) * 12.9898 + d * 78.233) * 43758.5453
    const own = Math.sin(i * 39.3468 + d * 11.135) * 23421.631
    return centre - Math.floor(centre) - 0.5 + noise * (own - Math.floor(own) - 0.5)
  })
}

async function fill(engine: Engine, rows: number, dimensions: number): Promise<void> {
  const place = placeId(query, { tenant: '', archived: false })
  for (let from = 0; from < rows; from += 2000) {
    const some = Array.from({ length: 2000 }, (_, k) => {
      const i = from + k
      const tags = [...(i % 2 ? ['half'] : []), ...(i % 97 === 0 ? ['rare'] : [])]
      return { key: `k${i}`, vector: JSON.stringify(clustered(i, dimensions, 0.8)), tags }
    })
    await engine.database.execute(sql`
      with made as (
        insert into entries (place, id, namespace, scope, key, value, fields, text, word_count, tags, created_at,
          updated_at, accessed_at, access_count, encrypted, embedding_model, dimensions)
        select ${place}, md5(row ->> 'key')::uuid, 'default', 'long-term', row ->> 'key', '1', '{}', '', 0,
          array(select jsonb_array_elements_text(row -> 'tags')), 0, 0, 0, 0, false, 'clusters', ${dimensions}
        from jsonb_array_elements(${JSON.stringify(some)}::text::jsonb) as row
        returning place, id
      )
      insert into units (place, entry, unit, words, word_count, label, embedding)
      select place, id, 0, '', 0, '', (row ->> 'vector')::vector
      from made join jsonb_array_elements(${JSON.stringify(some)}::text::jsonb) as row
        on md5(row ->> 'key')::uuid = made.id`)
  }
}

async function nearest(engine: Engine, vector: number[], tags: string[]): Promise<string[]> {
  const wanted = tags.length === 0 ? sql`true` : sql`tags @> array[${tags[0]}]`
  const result = (await engine.database.execute(sql`
    with visible as materialized (select key, embedding from entries join units on entry = id where ${wanted})
    select key from visible order by embedding <=> ${JSON.stringify(vector)}::text::vector limit 10`)) as unknown
  const rows = (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as { key: string }[]
  return rows.map(({ key }) => key)
}
