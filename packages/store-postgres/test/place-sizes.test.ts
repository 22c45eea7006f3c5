import { createMemoryManager, isMemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../src/engines/database.ts'
import { placeId } from '../src/entries/address.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines } from './support/engines.ts'

const key = fc.constantFrom('a', 'b', 'c', 'd')
const step = fc.oneof(
  fc.record({
    kind: fc.constant('write'),
    key,
    value: fc.string({ maxLength: 40 }),
    ttl: fc.constantFrom(10, 1000),
  }),
  fc.record({ kind: fc.constant('delete'), key }),
  fc.record({ kind: fc.constant('read'), key }),
  fc.record({ kind: fc.constant('batch'), keys: fc.uniqueArray(key) }),
  fc.record({ kind: fc.constant('conflict'), key }),
  fc.record({ kind: fc.constant('clear') }),
  fc.record({ kind: fc.constant('cleanup') }),
  fc.record({ kind: fc.constant('archive'), before: fc.constantFrom(0, 7, 21) }),
  fc.record({ kind: fc.constant('restore'), key }),
)

describe.each(engines)('%s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  it('knows the size of a place after any course of writes', async () => {
    const store = createPostgresStore(engine.database)
    const place = { namespace: 'default', scope: 'working' } as const
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        await emptyTables(engine.database)
        let now = 0
        const memory = createMemoryManager({ stores: store, clock: () => now, redact: 'allow' })
        for (const each of steps) {
          now += 7
          if (each.kind === 'write') {
            const { key, value, ttl } = each
            await memory.write('working', key, value, {
              ttl,
              tags: ['ä'.repeat(value.length + 1)],
              type: key,
              embedding: [1, now],
            })
          }
          if (each.kind === 'delete') await memory.delete('working', each.key)
          if (each.kind === 'read') await memory.read('working', each.key)
          if (each.kind === 'batch') {
            await memory.batchWrite(
              'working',
              each.keys.map((key) => ({ key, value: { text: 'Größe' } })),
            )
          }
          if (each.kind === 'conflict') {
            const writes = [
              { key: 'new', value: 1 },
              { key: each.key, value: 2, options: { overwrite: false } },
            ]
            await memory.batchWrite('working', writes).catch((error: unknown) => {
              if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
            })
          }
          if (each.kind === 'clear') await memory.clear('working', { type: 'none' })
          if (each.kind === 'archive') {
            const selection = { ...place, before: now - each.before, now, dryRun: false }
            await store.cold.archive(selection)
          }
          if (each.kind === 'restore') {
            await memory.restore('working', each.key).catch((error: unknown) => {
              if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
            })
          }
          if (each.kind === 'cleanup') await memory.cleanup({ scope: 'working' })
        }
        const rows = await rowsOf<{ value: string }>(
          engine.database,
          sql`select value from entries where place = ${placeId(place, { tenant: '', archived: false })}`,
        )
        const values = rows.map(({ value }) => value)
        expect(await store.stats(place)).toEqual({
          entries: values.length,
          bytes: values.reduce((sum, value) => sum + Buffer.byteLength(value), 0),
        })
        const [counted] = await rowsOf(
          engine.database,
          sql`select (select coalesce(sum(held), 0)::int from place_sizes) as held,
            (select coalesce(sum(units), 0)::int from place_sizes) as units,
            (select coalesce(sum(entries), 0)::int from place_sizes) as entries`,
        )
        const [real] = await rowsOf(
          engine.database,
          sql`select coalesce(sum(octet_length(key || value || text || coalesce(type, '') || array_to_string(tags, ''))
            + 4 * unit_count * coalesce(dimensions, 0)), 0)::int as held, coalesce(sum(unit_count), 0)::int as units,
            count(*)::int as entries from entries`,
        )
        expect(counted).toEqual(real)
      }),
      { numRuns: 40 },
    )
  })

  it('adds up what backends counted that are gone', async () => {
    await emptyTables(engine.database)
    const store = createPostgresStore(engine.database)
    const memory = createMemoryManager({ stores: store })
    // What was added up before stays in the sum.
    for (const key of ['a', 'b']) {
      await memory.write('working', key, 'one')
      await engine.database.execute(sql`update place_sizes set backend = -7 where backend <> 0`)
      await memory.cleanup()
    }
    await memory.write('working', 'c', 'two')
    await memory.cleanup()
    expect(await store.stats({ namespace: 'default', scope: 'working' })).toEqual({ entries: 3, bytes: 15 })
    const left = await engine.database.$count(sql`place_sizes`, sql`backend = -7`)
    expect(left).toBe(0)
    const [sizes] = await rowsOf(
      engine.database,
      sql`select sum(units)::int as units, sum(worded)::int as worded, sum(words)::int as words, sum(held)::int as held
        from place_sizes`,
    )
    // Key, value and text.
    expect(sizes).toEqual({ units: 3, worded: 3, words: 3, held: 3 * (1 + 5 + 3) })
  })
})
