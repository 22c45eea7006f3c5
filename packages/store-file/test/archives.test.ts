import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  conversationKey,
  conversationType,
  type JsonObject,
  MemoryErrorCode,
  sessionSummaryKey,
  sessionSummaryType,
} from '@recall/core'
import { thisProcess } from '@recall/core/process'
import { expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { archiveRows } from '../src/documents/archive-index.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory } from '../src/open-file-memory.ts'
import { openWithArchives } from './support/open-with-archives.ts'
import { archiveOf, summaryOf } from './support/storm-values.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const asArchive = { type: conversationType }

it('an archive that is written again stays the file and the row that it was', async () => {
  const { memory, at } = await openWithArchives(2)
  const before = readFileSync(at('ARCHIVE.md'), 'utf8')
  await memory.write('episodic', conversationKey('s1'), { ...archiveOf('s1', 1), messageCount: 7 }, asArchive)
  expect(readdirSync(at('conversations')).sort()).toEqual(['conversation-001.md', 'conversation-002.md'])
  expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(before.replace('| s1 | 1 |', '| s1 | 7 |'))
  expect(readFileSync(at('conversations/conversation-001.md'), 'utf8')).toContain('log: 1\n')
  await memory.close()
})

it('an archive that was edited by hand is another version than the one that an update has seen', async () => {
  const { memory, at } = await openWithArchives(1)
  const key = conversationKey('s1')
  const seen = await memory.read('episodic', key, { includeMetadata: true })
  appendFileSync(at('conversations/conversation-001.md'), 'Mine.\n')
  const change = { operation: 'set', key, value: archiveOf('s1', 1), options: asArchive } as const
  const update = memory.atomicUpdate('episodic', [{ ...change, ifUpdatedAt: seen?.metadata.updatedAt ?? 0 }])
  await expect(update).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
  expect(readFileSync(at('conversations/conversation-001.md'), 'utf8')).toContain('Mine.')
  await memory.close()
})

it('archives that are written at once have a number each', async () => {
  const { memory, at } = await openWithArchives(1)
  const writes = [2, 3].map((n) => ({
    key: conversationKey(`s${n}`),
    value: archiveOf(`s${n}`, n),
    options: asArchive,
  }))
  await memory.batchWrite('episodic', writes)
  expect(archiveRows(readFileSync(at('ARCHIVE.md'), 'utf8'))).toEqual([1, 2, 3])
  for (const { key, value } of writes) expect(await memory.read('episodic', key)).toMatchObject(value)
  await memory.close()
})

it('an archive goes with its row, and nothing else with it', async () => {
  const { store, memory, at } = await openWithArchives(3)
  await memory.delete('episodic', conversationKey('s2'))
  const place = { namespace: 'default', scope: 'episodic' } as const
  expect(await store.remove({ ...place, key: conversationKey('s2') })).toBe(false)
  expect(await store.remove({ ...place, key: conversationKey('s3') })).toBe(true)
  expect(readdirSync(at('conversations'))).toEqual(['conversation-001.md'])
  expect(archiveRows(readFileSync(at('ARCHIVE.md'), 'utf8'))).toEqual([1])
  await memory.close()
})

it('a session of the window names the file of its archive, once there is one', async () => {
  const { memory, at } = await openWithArchives(1)
  renameSync(at('conversations/conversation-001.md'), at('conversations/conversation-007.md'))
  const kept = { type: sessionSummaryType, ttl: Number.POSITIVE_INFINITY }
  for (const id of ['s1', 's2'])
    await memory.write('short-term', sessionSummaryKey(id), summaryOf(id, 1), kept)
  const told = readFileSync(at('EPHEMERAL.md'), 'utf8').match(/(?<=\*\*Archive\*\*: ).*/g)
  expect(told).toEqual(['conversations/conversation-007.md', 'conversation:s2'])
  await memory.close()
})

it('a file with so long a number that none can follow it is no archive, and disturbs nobody', async () => {
  const { store, memory, at } = await openWithArchives(1)
  writeFileSync(at('conversations/conversation-20261127153000123.md'), '### User\n\nAbout the bridge\n')
  expect(await memory.search('episodic', { text: 'bridge' })).toEqual([])
  for (const n of [2, 3])
    await memory.write('episodic', conversationKey(`s${n}`), archiveOf(`s${n}`, n), asArchive)
  expect(readdirSync(at('conversations')).sort()).toEqual([
    'conversation-001.md',
    'conversation-002.md',
    'conversation-003.md',
    'conversation-20261127153000123.md',
  ])
  const bad = checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
  expect(bad.map(({ message }) => message)).toEqual([
    'memory/conversations/conversation-20261127153000123.md is not read',
  ])
  await memory.close()
})

it('a filter looks into the body of an archive, wherever it names it', async () => {
  const { memory } = await openWithArchives(3)
  const found = async (filters: JsonObject) =>
    (await memory.search('episodic', { filters })).map(({ key }) => key).sort()
  const second = { body: { contains: 'number 2 ' } }
  const keysOf = (...numbers: number[]) => numbers.map((n) => conversationKey(`s${n}`))
  expect(await found(second)).toEqual(keysOf(2))
  expect(await found({ $not: second })).toEqual(keysOf(1, 3))
  expect(await found({ $or: [{ messageCount: 1 }, second] })).toEqual(keysOf(1, 2))
  expect(await found({ topics: ['storm'], body: { exists: false } })).toEqual([])
  await memory.close()
})

it('an archive is found by a word that turns side by side hold', async () => {
  const { memory } = await openWithArchives(0)
  const { body, ...facts } = archiveOf('s', 1)
  const turn = (who: string): string =>
    `### ${who}\n\nThe ferry. ${'Ropes and buoys lie here. '.repeat(30)}\n\n`
  const archive = { ...facts, body: turn('User') + turn('Assistant') }
  await memory.write('episodic', conversationKey('s'), archive, asArchive)
  const found = await memory.search('episodic', { text: 'ferry' })
  expect(found.map(({ key }) => key)).toEqual([conversationKey('s')])
  await memory.close()
})

it('the table of the layout user is finished where a process died before it was in place', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory/.recall'), { recursive: true })
  const temporary = `.tmp-999999999-${thisProcess().place}00`
  writeFileSync(join(root, temporary), '# Archive\n')
  const steps = [{ path: 'ARCHIVE.md', temporary, before: null }]
  writeFileSync(join(root, 'memory/.recall/journal.json'), JSON.stringify({ version: 1, steps }))
  const memory = await openFileMemory({ root, layout: 'user' })
  await memory.write('long-term', 'key', 'text')
  expect(readFileSync(join(root, 'ARCHIVE.md'), 'utf8')).toBe('# Archive\n')
  await memory.close()
})
