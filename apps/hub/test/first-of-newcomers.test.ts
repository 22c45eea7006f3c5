import { memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { engines, lesson, noLimits, openHub, type TestAgent, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['redis', 'pool']

describe.each(engines)('what a newcomer says first, on %s,', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let [newcomer, ada, bob, admin]: TestAgent[] = []
  const begin = async (settings = {}) => {
    let now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), { ...noLimits, ...settings }, { clock: () => now++ })
    newcomer = await hub.agent('newcomer')
    ada = await hub.agent('ada', 1)
    bob = await hub.agent('bob', 1)
    admin = await hub.agent('admin', 2)
  }
  beforeEach(() => begin())

  const save = async (agent?: TestAgent) => (await agent?.save({ content: lesson('redis'), tags }))?.id ?? ''
  const stateOf = async (id: string) => {
    const [row] = await database().select().from(memories).where(eq(memories.id, id))
    return [row?.quality, row?.duplicateOf]
  }
  const decide = async (path: string): Promise<void> => {
    const answer = await hub.request('POST', `/api/v1/admin/${path}`, { key: admin?.key ?? '' })
    expect(answer.status).toBe(200)
  }

  it('does not hide what a trusted agent says, also after maintenance', async () => {
    const first = await save(newcomer)
    const said = await save(ada)
    await hub.maintain()
    expect([await stateOf(first), await stateOf(said)]).toEqual([
      [-1, null],
      [0, null],
    ])
    expect((await bob?.search(lesson('redis')))?.map(({ id }) => id)).toEqual([said])
  })

  it('does not hide what a trusted agent deletes and saves again', async () => {
    const before = await save(ada)
    expect(await stateOf(await save(newcomer))).toEqual([-1, before])
    await ada?.delete(before)
    expect(await stateOf(await save(ada))).toEqual([0, null])
  })

  it('does not hide it where vectors are made later, whichever is made first', async () => {
    await begin({ embedAsync: true })
    const ids = [await save(newcomer), await save(ada)]
    for (const id of ids.toReversed()) {
      // Only this one is due.
      await database()
        .update(memories)
        .set({ embedAfter: new Date(Date.UTC(2026, 0, 1) + 60_000) })
      await database().update(memories).set({ embedAfter: null }).where(eq(memories.id, id))
      expect(await hub.embedWaiting()).toBe(1)
    }
    expect(await Promise.all(ids.map(stateOf))).toEqual([
      [-1, null],
      [0, null],
    ])
  })

  it.each(['deleted', 'put in quarantine', 'put in quarantine and restored'])(
    'does not hide it when its original is %s',
    async (what) => {
      const original = await save(bob)
      const [first, said] = [await save(newcomer), await save(ada)]
      if (what === 'deleted') await bob?.delete(original)
      else await decide(`quarantine/${original}`)
      if (what.endsWith('restored')) await decide(`restore/${original}`)
      expect([await stateOf(first), await stateOf(said)]).toEqual([
        [-1, null],
        [0, null],
      ])
      if (what.endsWith('restored')) expect(await stateOf(original)).toEqual([-1, said])
    },
  )

  it('does not hide it when that comes out of quarantine', async () => {
    const first = await save(newcomer)
    const said = await save(ada)
    await decide(`quarantine/${said}`)
    await decide(`restore/${said}`)
    expect([await stateOf(first), await stateOf(said)]).toEqual([
      [-1, null],
      [0, null],
    ])
  })

  it('is the original of what other newcomers say, and of all once it counts', async () => {
    const first = await save(newcomer)
    expect(await stateOf(await save(await hub.agent('other')))).toEqual([-1, first])
    await database().update(memories).set({ quality: 0 }).where(eq(memories.id, first))
    expect(await stateOf(await save(ada))).toEqual([-1, first])
  })
})
