import { createMemoryManager, isMemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines } from './support.ts'

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
          if (each.kind === 'write') await memory.write('working', each.key, each.value, { ttl: each.ttl })
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
          if (each.kind === 'cleanup') await memory.cleanup({ scope: 'working' })
        }
        const rows = (await engine.database.execute(sql`select value from entries`)) as unknown as
          | { value: string }[]
          | { rows: { value: string }[] }
        const values = (Array.isArray(rows) ? rows : rows.rows).map(({ value }) => value)
        expect(await store.stats(place)).toEqual({
          entries: values.length,
          bytes: values.reduce((sum, value) => sum + Buffer.byteLength(value), 0),
        })
      }),
      { numRuns: 40 },
    )
  })

  it('adds up what backends counted that are gone', async () => {
    await emptyTables(engine.database)
    const store = createPostgresStore(engine.database)
    const memory = createMemoryManager({ stores: store })
    await memory.write('working', 'a', 'one')
    await engine.database.execute(sql`update place_sizes set backend = -7`)
    await memory.write('working', 'b', 'two')
    await memory.cleanup()
    expect(await store.stats({ namespace: 'default', scope: 'working' })).toEqual({ entries: 2, bytes: 10 })
    const left = await engine.database.$count(sql`place_sizes`, sql`backend = -7`)
    expect(left).toBe(0)
  })
})
