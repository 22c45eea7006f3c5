import { agents, memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { expect } from 'vitest'
import type { TestAgent, TestHub } from './open-hub.ts'

export async function isTrustedIn(hub: TestHub, { id }: TestAgent): Promise<boolean> {
  const [row] = await hub.database.select().from(agents).where(eq(agents.id, id))
  return (row?.trustLevel ?? 0) > 0
}

const animals = ['walrus', 'ocelot', 'tamarin', 'wombat', 'marmot', 'lynx', 'stoat']
let subjects = 0

/** A new agent writes of something that nobody else knows, and another one finds it. */
export async function newcomerFoundBy(hub: TestHub, reader: TestAgent): Promise<TestAgent> {
  const subject = animals[subjects++ % animals.length] as string
  const agent = await hub.agent(subject)
  const content = `${subject} ${subject} ${subject}: ${subject} settings of run ${subjects} were lost after a restart, ${subject} keeps them in memory.`
  const { id } = await agent.save({ content, tags: [subject, 'restart'] })
  const found = await reader.search(content)
  expect(found.map((memory) => memory.id)).toContain(id)
  return agent
}

export async function savedIn(hub: TestHub, author: TestAgent) {
  const rows = await hub.database.select().from(memories).where(eq(memories.agentId, author.id))
  return rows.map(({ id, content, quality }) => ({ id, content, quality }))
}
