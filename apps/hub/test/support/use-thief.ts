import { memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, expect } from 'vitest'
import { type Engine, lesson, noLimits, openHub, type TestAgent, type TestHub } from './open-hub.ts'
import { useDatabase } from './use-database.ts'

export const tags = ['redis', 'pool']

interface Cast {
  hub: TestHub
  thief: TestAgent
  ada: TestAgent
  admin: TestAgent
  now: number
}

/** A hub, made anew for each test, on which a thief and Ada say the same and an administrator hides and restores. */
export function useThief(open: () => Promise<Engine>) {
  const database = useDatabase(open)
  const cast = {} as Cast
  const clock = (): number => cast.now++
  beforeEach(async () => {
    cast.now = Date.UTC(2026, 0, 1)
    cast.hub = await openHub(database(), noLimits, { clock })
    cast.thief = await cast.hub.agent('thief', 1)
    cast.ada = await cast.hub.agent('ada', 1)
    cast.admin = await cast.hub.agent('admin', 2)
  })

  return {
    database,
    cast,
    clock,

    async save(agent: TestAgent, subject = 'redis'): Promise<string> {
      return (await agent.save({ content: lesson(subject), tags })).id
    },

    /** The quality of a memory, and what it is a copy of. */
    async stateOf(id: string): Promise<(number | string | null | undefined)[]> {
      const [row] = await database().select().from(memories).where(eq(memories.id, id))
      return [row?.quality, row?.duplicateOf]
    },

    /** Has the administrator call an address. */
    async decide(path: string): Promise<void> {
      const answer = await cast.hub.request('POST', `/api/v1/admin/${path}`, { key: cast.admin.key })
      expect(answer.status).toBe(200)
    },
  }
}
