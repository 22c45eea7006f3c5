import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepared } from '../src/engines/database.ts'
import { openPostgres } from '../src/postgres.ts'
import { type Engine, engines } from './support/engines.ts'
import { serverUrl } from './support/server-database.ts'

const { placeholder } = sql
const longest = prepared<{ text: string; size: number }>(sql`
  select ${placeholder('text')}::text as text, length(${placeholder('text')}::text) + ${1}::integer as size`)

describe.each(engines)('a prepared statement on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  it('takes other values each time', async () => {
    for (const text of ['a', 'quote " and \\', '', 'ünïcode 🐘']) {
      expect(await longest(engine.database, { text })).toEqual([{ text, size: [...text].length + 1 }])
    }
  })

  it('is refused within a transaction, which has no connection to give', async () => {
    const refused = engine.database.transaction((transaction) => longest(transaction, { text: 'a' }))
    await expect(refused).rejects.toThrow('not a transaction')
  })
})

it.runIf(serverUrl)(
  'is sent whole each time where a pooler does not follow prepared statements',
  async () => {
    const url = new URL(serverUrl ?? '')
    url.searchParams.set('prepare', 'false')
    const { database, close } = await openPostgres({ url: url.href, migrations: false, connections: 1 })
    try {
      for (const text of ['a', 'bc']) await longest(database, { text })
      const kept = prepared<{ count: number }>(
        sql`select count(*)::integer as count from pg_prepared_statements where statement like '%length(%'`,
      )
      expect(await kept(database)).toEqual([{ count: 0 }])
    } finally {
      await close()
    }
  },
)
