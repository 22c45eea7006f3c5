import { isMemoryError } from '@recall/core'
import { agents, type Database, memories } from '@recall/store-postgres'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { emptyTables, engines, lesson, noLimits, openHub, type TestAgent } from './support/open-hub.ts'

const authors = ['ada', 'bob', 'cid', 'newcomer', 'other newcomer']
const days = 24 * 60 * 60 * 1000

type World = Awaited<ReturnType<typeof createWorld>>

async function createWorld(database: Database) {
  await emptyTables(database)
  let now = Date.UTC(2026, 0, 1)
  const hub = await openHub(database, noLimits, { clock: () => now++ })
  const admin = await hub.agent('admin', 2)
  const people: TestAgent[] = []
  for (const name of authors) people.push(await hub.agent(name, name.endsWith('newcomer') ? 0 : 1))
  const saved: { id: string; author: TestAgent }[] = []
  return {
    saved,
    author: (i: number) => people[i % people.length] as TestAgent,
    maintain: () => hub.maintain(),
    wait: async () => (now += 3 * days),
    cite: (id: string) => admin.cite(id),
    decide: (path: string) => hub.request('POST', `/api/v1/admin/${path}`, { key: admin.key }),
    async save(author: TestAgent): Promise<void> {
      const { id } = await author.save({ content: lesson('redis'), tags: ['redis', 'pool'] })
      saved.push({ id, author })
    },
  }
}

/** What is done, to the author or the memory of a number; absent memories are passed over. */
const acts = {
  save: ({ save, author }: World, i: number) => save(author(i)),
  delete: ({ saved }: World, i: number) => saved[i]?.author.delete(saved[i].id),
  cite: ({ cite, saved }: World, i: number) => saved[i] && cite(saved[i].id),
  hide: ({ decide, saved }: World, i: number) => decide(`quarantine/${saved[i]?.id}`),
  restore: ({ decide, saved }: World, i: number) => decide(`restore/${saved[i]?.id}`),
  'hide author': ({ decide, author }: World, i: number) => decide(`agents/${author(i).id}/quarantine`),
  'restore author': ({ decide, author }: World, i: number) => decide(`agents/${author(i).id}/restore`),
  maintain: ({ maintain }: World) => maintain(),
  wait: ({ wait }: World) => wait(),
} satisfies Record<string, (world: World, i: number) => unknown>

const anyAct = fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[]))
const act = fc.oneof({ weight: 1, arbitrary: fc.constant('save' as const) }, { weight: 2, arbitrary: anyAct })
const courses = fc.array(fc.tuple(act, fc.nat({ max: 7 })), { minLength: 4, maxLength: 16 })

/** Passes over what is refused, to an agent in quarantine for example. */
async function carryOut(world: World, name: keyof typeof acts, i: number): Promise<void> {
  try {
    await acts[name](world, i)
  } catch (error) {
    if (!isMemoryError(error)) throw error
  }
}

async function expectOneToCount(database: Database): Promise<void> {
  const rows = await database.select().from(memories)
  const everybody = await database.select().from(agents)
  const trusted = new Set(everybody.filter(({ trustLevel }) => trustLevel > 0).map(({ id }) => id))
  const hasHidden = new Set(rows.filter(({ quality }) => quality <= -2).map(({ agentId }) => agentId))
  const seen = rows.filter(({ deletedAt, quality }) => !deletedAt && quality > -2)
  expect(seen.filter(({ quality, duplicateOf }) => quality === 0 && duplicateOf)).toEqual([])
  const counting = seen.filter(({ duplicateOf }) => duplicateOf === null)
  // What its author repeats of what is hidden need not count.
  if (seen.some(({ agentId }) => !hasHidden.has(agentId))) expect(counting).not.toEqual([])
  // A newcomer's, of low signal, may stand beside the one that counts.
  const weighty = counting.filter(({ agentId, quality }) => quality === 0 || trusted.has(agentId))
  expect((weighty.length > 0 ? weighty : counting).length).toBeLessThanOrEqual(1)
}

it.each(engines)(
  'of memories that say the same, whatever is done to them, one counts, on %s',
  async (_, open) => {
    const { database, close } = await open()
    try {
      await fc.assert(
        fc.asyncProperty(courses, async (course) => {
          const world = await createWorld(database)
          for (const [name, i] of course) await carryOut(world, name, i)
          await expectOneToCount(database)
        }),
        { numRuns: Number(process.env.RECALL_TEST_RUNS ?? 30) },
      )
    } finally {
      await close()
    }
  },
)
