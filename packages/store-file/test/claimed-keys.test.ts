import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { conversationKey } from '@recall/core'
import { describe, expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import type { FileStore } from '../src/file-store.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { keysOf, open } from './support/memory-in-files.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

describe('a key that two files claim', () => {
  it('is that of the note which is read by it, once the index is made anew, and then of the other one', async () => {
    const { memory, root, at } = await open()
    await memory.write('long-term', 'A', 'the harbour')
    const [written = ''] = readdirSync(at('long-term'))
    writeFileSync(at('long-term/A.md'), 'the lighthouse\n')
    await memory.close()
    rmSync(at('.recall'), { recursive: true })

    const again = await openFileMemory({ root })
    expect(await again.read('long-term', 'A')).toBe('the harbour')
    expect(await keysOf(again, 'harbour')).toEqual(['A'])
    expect(await keysOf(again, 'lighthouse')).not.toContain('A')
    const store = await openFileStore({ root })
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    expect(findings.find(({ ok }) => !ok)?.message).toBe(
      "memory/long-term/A.md cannot be read by its key 'A', which another file has",
    )
    await store.close()
    rmSync(at('long-term', written))
    expect(await keysOf(again, 'lighthouse')).toEqual(['A'])
    expect(await again.read('long-term', 'A')).toContain('the lighthouse')
    await again.close()
  })

  it('is that of the section, and of the note when the section gets another heading', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'MEMORY.md#people', 'the harbour', { ttl: 1_000_000 })
    await keysOf(memory, 'harbour')
    mkdirSync(dirname(at('MEMORY.md')), { recursive: true })
    writeFileSync(at('MEMORY.md'), '## People\n\nthe lighthouse\n')
    expect(await keysOf(memory, 'lighthouse')).toEqual(['MEMORY.md#people'])
    expect(await keysOf(memory, 'harbour')).not.toContain('MEMORY.md#people')
    expect(await memory.read('long-term', 'MEMORY.md#people')).toContain('the lighthouse')

    writeFileSync(at('MEMORY.md'), readFileSync(at('MEMORY.md'), 'utf8').replace('People', 'Places'))
    expect(await keysOf(memory, 'lighthouse')).toEqual(['MEMORY.md#places'])
    expect(await keysOf(memory, 'harbour')).toEqual(['MEMORY.md#people'])
    expect(await memory.read('long-term', 'MEMORY.md#people')).toBe('the harbour')
    await memory.close()
  })
})

describe('a session that several archives hold', () => {
  const address = { scope: 'episodic', namespace: 'default', key: conversationKey('s') } as const
  const own = 'memory/conversations'
  const archive = (body: string): string => `---\nsession_id: "s"\n---\n${body}\n`

  it.each([
    ['of the lower number', `${own}/conversation-005.md`, `${own}/conversation-007.md`],
    [
      'of the lower number, also with fewer digits',
      `${own}/conversation-999.md`,
      `${own}/conversation-1000.md`,
    ],
    ['of the own folder', `${own}/conversation-007.md`, 'memories/archive-log-005.md'],
    ['of the lower name', `${own}/archive-log-007.md`, `${own}/conversation-007.md`],
  ])('is the one %s, whichever was there first', async (_, first, second) => {
    const root = temporaryRoot()
    const put = (path: string, text: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), archive(text))
    }
    const there = () => [first, second].filter((path) => existsSync(join(root, path)))
    const bodyIn = async (store: FileStore) => (await store.get(address, 0))?.value
    // A root with files of both layouts says which of them it has.
    writeFileSync(join(root, '.recall-echo.json'), JSON.stringify({ layout: 'entity' }))
    put(second, 'second')
    const store = await openFileStore({ root })
    expect(await bodyIn(store)).toMatchObject({ body: 'second\n' })
    put(first, 'first')
    expect(await bodyIn(store)).toMatchObject({ body: 'first\n' })
    await store.reindex({ full: true })
    expect(await bodyIn(store)).toMatchObject({ body: 'first\n' })

    put(first, 'first and more')
    expect(await bodyIn(store)).toMatchObject({ body: 'first and more\n' })
    expect(await store.remove(address)).toBe(true)
    expect(there()).toEqual([second])
    expect(await bodyIn(store)).toMatchObject({ body: 'second\n' })
    await store.close()
  })
})

it('the note of a place is the one that is read there, not one in a folder called like its namespace', async () => {
  const { memory, at } = await open()
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
  }
  const keyOf = async (text: string) => (await memory.search('working', { text })).map(({ key }) => key)
  put('namespaces/default/working/a.md', 'the lighthouse\n')
  expect(await keyOf('lighthouse')).toEqual(['a'])
  put('working/a.md', 'the harbour\n')
  expect(await keyOf('harbour')).toEqual(['a'])
  expect(await keyOf('lighthouse')).not.toContain('a')
  expect(await memory.read('working', 'a')).toBe('the harbour')
})
