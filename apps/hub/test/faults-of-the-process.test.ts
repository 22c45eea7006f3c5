import { memories } from '@recall/store-postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  openServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import { runOnSmallDisk } from '../../../packages/store-postgres/test/support/small-disk.ts'
import { lesson, register, save, storming } from './support/faults.ts'
import { startHub, until } from './support/processes.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('a hub that ends', () => {
  it('SIGTERM under load: what was taken is answered and kept, and the process ends well', async () => {
    const own = await openServerDatabase()
    onTestFinished(() => own.close())
    const hub = await startHub(storming(own.url))
    const key = await register(hub.url)
    const answers: Promise<number>[] = []
    for (let n = 0; n < 40; n++) answers.push(save(hub.url, key, n).then(({ status }) => status))
    await answers[0]
    expect(await hub.stop('SIGTERM')).toBe(0)
    const statuses = await Promise.all(answers)
    expect(statuses.filter((status) => status !== 201 && status !== 0)).toEqual([])
    expect(await own.database.$count(memories)).toBeGreaterThanOrEqual(
      statuses.filter((status) => status === 201).length,
    )
    expect(hub.stderr()).not.toContain('request failed')
  })

  it('SIGKILL at random points of a storm of writes loses nothing that was acknowledged', async () => {
    const kills = Number(process.env.RECALL_TEST_KILLS ?? 4)
    const own = await openServerDatabase()
    onTestFinished(() => own.close())
    let random = 1
    const acknowledged = new Map<number, string>()
    const doubtful = new Set<number>()
    let next = 0
    let key = ''
    for (let kill = 0; kill < kills; kill++) {
      const hub = await startHub(storming(own.url))
      key ||= await register(hub.url)
      let isDead = false
      const writer = async (): Promise<void> => {
        while (!isDead) {
          const [again] = doubtful
          const n = again ?? next++
          doubtful.delete(n)
          const { status, json } = await save(hub.url, key, n)
          if (status === 201) acknowledged.set(n, json.id as string)
          // One that a dead hub was at (409) may be tried again after a minute: nothing waits for that here.
          else if (status !== 409) doubtful.add(n)
        }
      }
      const writers = Array.from({ length: 6 }, writer)
      // A count of writes, not a time: the same points on a slow machine.
      random = (random * 16_807) % 2_147_483_647
      const target = acknowledged.size + (random % 25)
      await until(
        async () => acknowledged.size,
        (size) => size >= target,
      )
      expect(await hub.stop('SIGKILL')).toBe('SIGKILL')
      isDead = true
      await Promise.all(writers)
    }
    const rows = await own.database.select({ id: memories.id, content: memories.content }).from(memories)
    const contents = rows.map(({ content }) => content)
    expect(new Set(contents).size, 'written twice').toBe(contents.length)
    const ids = new Map(rows.map(({ id, content }) => [content, id]))
    for (const [n, id] of acknowledged) expect(ids.get(lesson(n)), `write ${n}`).toBe(id)
    process.stderr.write(`${kills} kills, ${acknowledged.size} acknowledged writes, none lost\n`)
  }, 600_000)
})

it('a full disk under the embedded database is told, and the hub goes on by itself when there is room', ({
  skip,
}) => {
  const ran = runOnSmallDisk(new URL('children/full-disk-child.ts', import.meta.url), temporaryFolder())
  if ('refused' in ran) skip(`no small disk can be mounted here: ${ran.refused}`)
  else expect(ran.output).toMatch(/^ok /m)
})
