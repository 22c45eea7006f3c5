import { memories } from '@recall/store-postgres'
import { type Query, sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { mostLooks, sessionOf } from '../../../packages/store-postgres/test/support.ts'
import { engines, noLimits, openHub } from './support.ts'
import { useDatabase } from './use-database.ts'

const count = 2000

describe.each(engines)('a hub on %s whose tables nobody analyzed yet', (_, open) => {
  const database = useDatabase(open)

  it('looks in its maintenance at no memory once for each other', async () => {
    const hub = await openHub(database(), noLimits)
    const ada = await hub.agent('ada', 1)
    await database().execute(sql`
      insert into memories (short_id, agent_id, content, embedding_model, embedding)
      select 'RCL-' || i, ${ada.id}, 'text ' || i, 'fake', array[1, i]::real[]::vector
      from generate_series(1, ${count}) as i`)
    const statements = vi.spyOn(sessionOf(database()), 'prepareQuery')
    await hub.maintain()
    const queries = statements.mock.calls.map(([each]) => each as Query)
    statements.mockRestore()
    const looking = queries.filter((each) => /\b(?:from|update|join) "?memories\b/.test(each.sql))
    expect(looking).not.toHaveLength(0)
    for (const each of looking)
      expect(await mostLooks(database(), each), each.sql).toBeLessThan((count * count) / 10)
    expect(await database().$count(memories)).toBe(count)
  })
})
