import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { defaultFileSystem } from '../files/file-system.ts'
import { readSeal, writeSeal } from './seal.ts'

const facts = { documents: 3, folders: { 'memory/long-term': 12.5 } }
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recall-seal-'))
  writeFileSync(join(folder, 'index.db'), 'an index')
})
afterEach(() => rmSync(folder, { recursive: true }))

const write = () => writeSeal(defaultFileSystem, folder, facts)
const read = () => readSeal(defaultFileSystem, folder)

it('tells of an index that nobody touched since, also when it left an empty log', () => {
  write()
  expect(read()).toMatchObject(facts)
  writeFileSync(join(folder, 'index.db-wal'), '')
  writeFileSync(join(folder, 'index.db-shm'), 'shared memory')
  expect(read()).toMatchObject(facts)
})

it.each(['size', 'mtimeMs', 'ctimeMs', 'ino'] as const)(
  'tells nothing of an index that has another %s',
  (what) => {
    write()
    const { lstatSync } = defaultFileSystem
    const changed = ((...parameters: Parameters<typeof lstatSync>) => {
      const stats = lstatSync(...parameters)
      if (stats) stats[what] = Number(stats[what]) + 1
      return stats
    }) as typeof lstatSync
    expect(readSeal({ ...defaultFileSystem, lstatSync: changed }, folder)).toBeNull()
  },
)

it.each<[string, (index: string) => void]>([
  ['is gone', (index) => rmSync(index)],
  ['has a log that is not in it yet', (index) => writeFileSync(`${index}-wal`, 'x')],
  ['has no seal', () => rmSync(join(folder, 'index.seal'))],
  ['has half a seal', () => truncateSync(join(folder, 'index.seal'), 20)],
  ['has a seal of nothing', () => writeFileSync(join(folder, 'index.seal'), 'null')],
])('tells nothing of an index that %s', (_, change) => {
  write()
  change(join(folder, 'index.db'))
  expect(read()).toBeNull()
})

it('is not put on an index that is gone, or that has a log which is not in it yet', () => {
  writeFileSync(join(folder, 'index.db-wal'), 'x')
  write()
  rmSync(join(folder, 'index.db-wal'))
  expect(read()).toBeNull()
  rmSync(join(folder, 'index.db'))
  write()
  expect(read()).toBeNull()
})

it('replaces a longer one', () => {
  writeSeal(defaultFileSystem, folder, { documents: 3, folders: { [`memory/${'x'.repeat(100)}`]: 1 } })
  write()
  expect(read()).toMatchObject(facts)
})
