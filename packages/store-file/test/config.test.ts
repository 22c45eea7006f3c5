import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { readConfig, setConfig } from '../src/config.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openWithArchives } from './support/open-with-archives.ts'

it.each([
  [
    '# mine\r\n[ephemeral]\r\nmax_entries = 5 # five\r\n',
    '# mine\r\n[ephemeral]\r\nmax_entries = 7 # five\r\n',
  ],
  ['# mine\r\n', '# mine\r\n\r\n[ephemeral]\r\nmax_entries = 7\r\n'],
])('a setting keeps the line ends of Windows: %j', async (given, changed) => {
  const { root, store, memory } = await openWithArchives(0)
  const path = join(root, store.layout.config)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, given)
  setConfig(store, 'ephemeral.max_entries', '7')
  expect(readFileSync(path, 'utf8')).toBe(changed)
  await memory.close()
})

it('a setting that is misspelt is told, and the others count', async () => {
  const { root, store, memory } = await openWithArchives(0)
  const path = join(root, store.layout.config)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '[ephemeral]\nmax_entry = 3\nmax_entries = 7\n\n[other]\nx = 1\n')
  expect(readConfig(defaultFileSystem, root, store.layout)).toEqual({
    config: { ephemeral: { maxEntries: 7 } },
    problem: `${store.layout.config}: there is no setting ephemeral.max_entry, only ephemeral.max_entries`,
  })
  await memory.close()
})

it('a setting is added below a table that ends the file without a line end', async () => {
  const { root, store, memory } = await openWithArchives(0)
  const path = join(root, store.layout.config)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '[ephemeral]')
  setConfig(store, 'ephemeral.max_entries', '7')
  expect(readConfig(defaultFileSystem, root, store.layout).config.ephemeral.maxEntries).toBe(7)
  await memory.close()
})
