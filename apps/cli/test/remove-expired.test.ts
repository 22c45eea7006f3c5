import { writeFileSync } from 'node:fs'
import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { afterFirstCalls } from '../src/memory/after-first-calls.ts'
import { createShell, expiredIn, filesBelow, writeExpired } from './support.ts'

const hourAgo = Date.parse('2026-03-06T12:00:00Z') - 3600_000

describe('what has expired', () => {
  it('is removed by doctor --fix, from every namespace and scope and from the archive', async () => {
    const shell = createShell()
    await shell.run('init')
    await writeExpired(shell.root, hourAgo)
    await shell.run('doctor')
    expect(expiredIn(shell.root)).toHaveLength(3)
    expect((await shell.run('doctor', '--fix')).out).toContain('mended  expired entries: 3 entries removed\n')
    expect(expiredIn(shell.root)).toEqual([])
    expect(filesBelow(shell.root).filter((path) => path.endsWith('/episode.md'))).toHaveLength(1)
    expect((await shell.run('doctor', '--fix')).out).toContain('ok      expired entries: none\n')
  })

  it('is removed also beside an archived entry that cannot be read, which the doctor names', async () => {
    const shell = createShell()
    await shell.run('init')
    await writeExpired(shell.root, hourAgo)
    const [archived = ''] = expiredIn(shell.root).filter((path) => path.endsWith('.gz'))
    writeFileSync(archived, 'torn')
    const { code, out } = await shell.run('doctor', '--fix')
    expect(code).toBe(1)
    expect(out).toContain('wrong   expired entries:')
    expect(out).toContain('archived-over.json.gz')
    expect(expiredIn(shell.root)).toEqual([archived])
  })
})

it('goes on after the first calls only when no call is waiting', async () => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const stores = createInMemoryStore()
  const { get } = stores
  stores.get = async (...asked) => {
    if (asked[0].key === 'slow') await held
    return get(...asked)
  }
  let times = 0
  const memory = afterFirstCalls(createMemoryManager({ stores }), () => times++)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const slow = memory.read('long-term', 'slow')
  expect(await memory.read('long-term', 'quick')).toBe(null)
  await turn()
  expect(times).toBe(0)
  release()
  await slow
  expect(times).toBe(0)
  await turn()
  expect(times).toBe(1)
  await memory.read('long-term', 'quick')
  await turn()
  expect(times).toBe(1)
})
