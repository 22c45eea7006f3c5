import type { Database } from '@recall/store-postgres'
import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { describe, expect, it } from 'vitest'
import { gate } from './support/held-statements.ts'
import { engines, lesson, noLimits, openHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

/** A database whose statements on units of private entries wait. */
const holdingUnits = (database: Database, hold: () => Promise<void>): Database =>
  new Proxy(database, {
    get(of, name) {
      if (name !== 'execute') return Reflect.get(of, name)
      return async (statement: SQL) => {
        if (/"units"/.test(new PgDialect().sqlToQuery(statement).sql)) await hold()
        return of.execute(statement)
      }
    },
  })

describe.each(engines)('searches of private memory on %s', (_, open) => {
  const database = useDatabase(open)

  it('of one agent that take long leave room for all other calls', async () => {
    const { open: release, opened } = gate()
    let begun = 0
    const held = holdingUnits(database(), async () => {
      begun++
      await opened
    })
    const hub = await openHub(held, noLimits)
    const agent = await hub.agent('ada', 1)
    const find = () =>
      hub.request('POST', '/api/v1/private/long-term/find', { key: agent.key, body: { text: 'harbour' } })
    const finds = Array.from({ length: 20 }, find)
    await agent.save({ content: lesson('redis'), tags: ['cache', 'restart'] })
    expect(await agent.search(lesson('redis'))).toHaveLength(1)
    expect(begun).toBe(2)
    release()
    expect((await Promise.all(finds)).map(({ status }) => status)).toEqual(Array(20).fill(200))
  })
})
