import { memories } from '@recall/store-postgres'
import { type Query, sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { mostLooks, sessionOf } from '../../../packages/store-postgres/test/support/engines.ts'
import { engines, noLimits, openHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

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

  it('looks for the copies of what is put in quarantine at no memory once for each other', async () => {
    const hub = await openHub(database(), noLimits)
    const [ada, bob, admin] = [
      await hub.agent('ada', 1),
      await hub.agent('bob', 1),
      await hub.agent('root', 2),
    ]
    const insert = (agent: string, short: string, said: string) => sql`
      insert into memories (short_id, agent_id, content, embedding_model, embedding, created_at)
      select ${short} || i, ${agent}, ${said} || i, 'fake', array[1, i]::real[]::vector, ${short === 'A' ? '2026-01-01' : '2026-01-02'}
      from generate_series(1, ${count}) as i`
    await database().execute(insert(ada.id, 'A', 'text '))
    await database().execute(insert(bob.id, 'B', 'as was said '))
    const marked = sql`
      update memories set quality = -1, duplicate_of = (
        select id from memories original where original.short_id = 'A' || substr(memories.short_id, 2)
      ) where agent_id = ${bob.id}`
    await database().execute(marked)
    await database().execute(sql`
      insert into memory_links (memory_id, related_id, relation, similarity)
      select id, duplicate_of, 'duplicate_candidate', 1 from memories where duplicate_of is not null`)
    const statements = vi.spyOn(sessionOf(database()), 'prepareQuery')
    const path = `/api/v1/admin/agents/${ada.id}/quarantine`
    expect((await hub.request('POST', path, { key: admin.key })).status).toBe(200)
    const queries = statements.mock.calls.map(([each]) => each as Query)
    statements.mockRestore()
    const looking = queries.filter((each) => each.sql.includes('with gone as'))
    expect(looking).not.toHaveLength(0)
    for (const each of looking) {
      // Each of them as before the first.
      await database().execute(marked)
      expect(await mostLooks(database(), each), each.sql).toBeLessThan((count * count) / 10)
    }
  })
})
