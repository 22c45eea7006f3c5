import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { copiesWithOrigin, type KnownEcho, mirrorEchoes, openEchoes, removeCopies } from '../src/index.ts'
import { entryOf } from './support.ts'

async function open() {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  return { root, echoes: openEchoes({ root, lead: true }), memory }
}

it('makes echoes findable in a memory, follows them, and changes nothing the second time', async () => {
  const { echoes, memory } = await open()
  await echoes.add('reviewer', entryOf())
  await echoes.add('workers', entryOf({ title: 'Slow tests', learning: 'Run the fast ones first.' }))
  await memory.write('long-term', 'echo:mine', 'written by hand', { tags: ['echo'] })
  expect(await mirrorEchoes(echoes, memory)).toEqual({ written: 2, removed: 0, unchanged: 0, problems: [] })
  expect(await mirrorEchoes(echoes, memory)).toEqual({ written: 0, removed: 0, unchanged: 2, problems: [] })
  const [found] = await memory.search('long-term', { text: 'fast tests', filters: { type: 'pattern' } })
  expect(found).toMatchObject({ key: 'echo:workers/inscribed-001', value: { title: 'Slow tests' } })
  await echoes.applyEdit(await echoes.planMove('workers', 'inscribed-001', 'traced'))
  expect(await mirrorEchoes(echoes, memory)).toEqual({ written: 1, removed: 1, unchanged: 1, problems: [] })
  expect(await memory.exists('long-term', 'echo:workers/traced-001')).toBe(true)
  expect(await memory.exists('long-term', 'echo:mine')).toBe(true)
})

it('removes many echoes in one call', async () => {
  const { echoes, memory } = await open()
  for (let n = 0; n < 20; n++) await echoes.add('reviewer', entryOf({ title: `Title ${n}` }))
  await mirrorEchoes(echoes, memory)
  await echoes.applyEdit(await echoes.planRemoval('reviewer'))
  const [one, many] = [vi.spyOn(memory, 'delete'), vi.spyOn(memory, 'atomicUpdate')]
  expect(await mirrorEchoes(echoes, memory)).toEqual({ written: 0, removed: 20, unchanged: 0, problems: [] })
  expect([one.mock.calls.length, many.mock.calls.length]).toEqual([0, 1])
  expect(await memory.search('long-term', {})).toEqual([])
})

it('follows an echo of which a person changed the words', async () => {
  const { root, echoes, memory } = await open()
  await echoes.add('reviewer', entryOf())
  await mirrorEchoes(echoes, memory)
  const path = join(root, 'reviewer/MEMORY.md')
  await writeFile(path, (await readFile(path, 'utf8')).replace('one query', 'two queries'))
  expect(await mirrorEchoes(echoes, memory)).toEqual({ written: 1, removed: 0, unchanged: 0, problems: [] })
  const value = await memory.read('long-term', 'echo:reviewer/inscribed-001')
  expect(value).toMatchObject({ learning: 'Load what a list shows with two queries.' })
})

it('mirrors more echoes than a memory takes or tells at once', async () => {
  const { echoes, memory } = await open()
  await echoes.add('reviewer', entryOf())
  const whole = await echoes.read('reviewer')
  const many = Array.from({ length: 2001 }, (_, n) => ({ ...whole.echoes[0], id: `inscribed-${1000 + n}` }))
  const read = (count: number) => ({
    ...echoes,
    read: async () => ({ ...whole, echoes: many.slice(0, count) as KnownEcho[] }),
  })
  expect(await mirrorEchoes(read(2001), memory)).toEqual({
    written: 2001,
    removed: 0,
    unchanged: 0,
    problems: [],
  })
  expect(await mirrorEchoes(read(2001), memory)).toEqual({
    written: 0,
    removed: 0,
    unchanged: 2001,
    problems: [],
  })
  expect(await mirrorEchoes(read(0), memory)).toEqual({
    written: 0,
    removed: 2001,
    unchanged: 0,
    problems: [],
  })
  expect(await memory.search('long-term', {})).toEqual([])
})

it('keeps what it holds of a role that cannot be read, and follows the others', async () => {
  const { root, echoes, memory } = await open()
  for (const role of ['reviewer', 'workers']) await echoes.add(role, entryOf())
  await mirrorEchoes(echoes, memory)
  await writeFile(join(root, 'reviewer/MEMORY.md'), Buffer.from([0xff, 0xfe]))
  await echoes.add('workers', entryOf({ title: 'Slow tests' }))
  expect(await mirrorEchoes(echoes, memory)).toEqual({
    written: 1,
    removed: 0,
    unchanged: 1,
    problems: [expect.stringContaining('is not UTF-8')],
  })
  expect(await memory.exists('long-term', 'echo:reviewer/inscribed-001')).toBe(true)
})

it('keeps projects that share a memory apart', async () => {
  const { echoes, memory } = await open()
  const other = (await open()).echoes
  await echoes.add('reviewer', entryOf())
  await other.add('reviewer', entryOf({ title: 'Other' }))
  await mirrorEchoes(echoes, memory)
  await mirrorEchoes(other, memory, { prefix: 'echo:shop/' })
  await other.applyEdit(await other.planRemoval('reviewer'))
  expect(await mirrorEchoes(other, memory, { prefix: 'echo:shop/' })).toMatchObject({ removed: 1 })
  expect(await mirrorEchoes(echoes, memory)).toEqual({ written: 0, removed: 0, unchanged: 1, problems: [] })
})

it('stores no evidence that is told to nobody', async () => {
  const { root, echoes, memory } = await open()
  await echoes.add('reviewer', entryOf({ evidence: '`src/a.ts:3` — of ada' }))
  const path = join(root, 'reviewer/MEMORY.md')
  await writeFile(path, (await readFile(path, 'utf8')).replace('of ada', 'ada@example.com'))
  await mirrorEchoes(echoes, memory)
  expect(JSON.stringify(await memory.search('long-term', {}))).not.toContain('ada@example.com')
})

it('stores no secret that a person wrote into the files, and does not write it again', async () => {
  const { root, echoes, memory } = await open()
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  await echoes.add('reviewer', entryOf())
  const path = join(root, 'reviewer/MEMORY.md')
  await writeFile(path, (await readFile(path, 'utf8')).replace('one query', `one query, ${secret}`))
  await mirrorEchoes(echoes, memory)
  expect(JSON.stringify(await memory.search('long-term', {}))).not.toContain(secret)
  expect(await mirrorEchoes(echoes, memory)).toMatchObject({ written: 0, unchanged: 1, problems: [] })
})

it('says in copies where their echoes lie, also in those that did not say it, and removes them by that', async () => {
  const { echoes, memory } = await open()
  const prefix = 'echo:shop/'
  const origin = { folder: '/src/shop/.recall/echoes', host: 'workstation' }
  await echoes.add('reviewer', entryOf())
  await mirrorEchoes(echoes, memory, { prefix })
  await memory.write('long-term', 'echo:mine', { ...origin }, { tags: ['echo'] })
  expect(await copiesWithOrigin(memory)).toEqual(new Map())
  expect(await mirrorEchoes(echoes, memory, { prefix, origin })).toMatchObject({ written: 1, removed: 0 })
  expect(await mirrorEchoes(echoes, memory, { prefix, origin })).toMatchObject({ written: 0, unchanged: 1 })
  expect(await copiesWithOrigin(memory)).toEqual(new Map([['echo:shop/reviewer/inscribed-001', origin]]))
  await removeCopies(memory, [...(await copiesWithOrigin(memory)).keys()])
  expect((await memory.search('long-term', {})).map(({ key }) => key)).toEqual(['echo:mine'])
})

it('is not written again by every machine that shares memory and echoes', async () => {
  const { echoes, memory } = await open()
  const prefix = 'echo:shop/'
  const folder = '/src/shop/.recall/echoes'
  await echoes.add('reviewer', entryOf())
  await mirrorEchoes(echoes, memory, { prefix, origin: { folder, host: 'workstation' } })
  const again = await mirrorEchoes(echoes, memory, { prefix, origin: { folder, host: 'laptop' } })
  expect(again).toMatchObject({ written: 0, unchanged: 1 })
})

it('says nothing of a folder whose path holds a secret: what is left of it is another path', async () => {
  const { echoes, memory } = await open()
  const origin = {
    folder: '/src/ghp_abcdefghijklmnopqrstuvwxyz0123456789/.recall/echoes',
    host: 'workstation',
  }
  await echoes.add('reviewer', entryOf())
  await mirrorEchoes(echoes, memory, { prefix: 'echo:shop/', origin })
  expect(await copiesWithOrigin(memory)).toEqual(new Map())
  const [found] = await memory.search<object>('long-term', {})
  expect(Object.keys(found?.value ?? {})).not.toContain('folder')
})
