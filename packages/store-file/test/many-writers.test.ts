import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ConversationArchive,
  conversationKey,
  createMemoryManager,
  type MemoryManager,
  sessionSummaryKey,
} from '@recall/core'
import { expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/open-file-memory.ts'
import { bundleScript, startChild } from './support/child-process.ts'
import { type StoreProcess, startStore, takingTurns } from './support/store-in-processes.ts'
import { openSealed } from './support/storm-values.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

it('loses and tears nothing when sixteen processes write to the same files', async () => {
  const root = temporaryRoot()
  const script = await bundleScript('writer-child.ts')
  const [processes, writes] = [16, 200]
  const children = numbers(processes).map((i) => startChild(script, [root, `w${i}`, String(writes)]))
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(numbers(processes).map(() => 0))

  const store = await openFileStore({ root })
  const memory = createMemoryManager({ stores: store })
  let found = 0
  const pauses: number[] = []
  for (const i of numbers(processes)) {
    let last = 0
    for (const n of numbers(writes)) {
      const id = `w${i}-${n}`
      if (n % 20 === 0) {
        const archive = await memory.read<ConversationArchive>('episodic', conversationKey(id))
        expect(openSealed(archive?.body.replace('## Summary\n\n', '').trimEnd()), id).toBe(n)
        const { log = 0 } = archive ?? {}
        pauses.push(log - last)
        last = log
      } else if (n % 20 === 5) {
        const session = await memory.read<{ summary: string }>('short-term', sessionSummaryKey(id))
        expect(openSealed(session?.summary), id).toBe(n)
      } else {
        const key = n % 10 === 3 ? `MEMORY.md#part-${id}` : `note ${id}`
        expect(openSealed(await memory.read('long-term', key)), id).toBe(n)
      }
      found++
    }
  }
  expect(found).toBe(3200)
  // How many archives were written from one of a process to its next: who is starved waits until the others have ended.
  expect(Math.max(...pauses)).toBeLessThan(80)
  const archives = readdirSync(join(root, 'memory/conversations')).sort()
  expect(archives).toEqual(numbers(160).map((n) => `conversation-${String(n).padStart(3, '0')}.md`))
  expect(checkUp(defaultFileSystem, store, { deep: true, fix: false }).filter(({ ok }) => !ok)).toEqual([])
  await memory.close()
})

it.each(['updates', 'archives'])('loses no write of an entry that another process %s', async (role) => {
  const root = temporaryRoot()
  const script = await bundleScript('race-child.ts')
  const other = startChild(script, [root, role])
  expect(await other.message()).toBe('ready')
  const writer = startChild(script, [root, 'writes', '300'])
  expect(await writer.message()).toBe(0)
  other.process.send('stop')
  expect(await Promise.all([writer.ended, other.ended])).toEqual([0, 0])
})

it('shows each of two processes at once what the other wrote, changed and deleted', async () => {
  const root = temporaryRoot()
  const script = await bundleScript('store-server.ts')
  const processes = [startStore(script), startStore(script)]
  try {
    await writeByTurns(root, processes)
  } finally {
    // Before their folder is removed.
    await Promise.all(processes.map((each) => each.kill()))
  }
})

/** Each of two processes writes, changes and deletes, and the other looks. */
async function writeByTurns(root: string, processes: readonly StoreProcess[]): Promise<void> {
  const [capabilities] = await Promise.all(processes.map((each) => each.open(root)))
  if (!capabilities) throw new Error('no process')
  const [one, other] = processes.map((each) =>
    createMemoryManager({ stores: takingTurns([each], capabilities) }),
  ) as [MemoryManager, MemoryManager]
  for (const n of numbers(60)) {
    const [writer, reader] = n % 2 === 0 ? [one, other] : [other, one]
    await writer.write('long-term', `key ${n}`, `first word${n}`)
    expect(await reader.read('long-term', `key ${n}`)).toBe(`first word${n}`)
    expect(await reader.search('long-term', { text: `word${n}` })).toHaveLength(1)
    await reader.write('long-term', `key ${n}`, `second text${n}`)
    expect(await writer.search('long-term', { text: `word${n}` })).toHaveLength(0)
    expect(await writer.search('long-term', { text: `text${n}` })).toHaveLength(1)
    if (n % 3 > 0) continue
    await writer.delete('long-term', `key ${n}`)
    expect(await reader.read('long-term', `key ${n}`)).toBe(null)
    expect(await reader.search('long-term', { text: `text${n}` })).toHaveLength(0)
  }
}
