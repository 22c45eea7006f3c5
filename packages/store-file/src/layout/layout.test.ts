import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem } from '../files/file-system.ts'
import { layoutOf } from './find-layout.ts'
import { archiveFile, archiveNumber, copyOfArchive, type Layout, layouts } from './layout.ts'

it.each(['conversation-001.md', 'archive-log-001.md', 'conversation-1000.md'])('an archive is %s', (name) => {
  expect(archiveFile.test(name)).toBe(true)
  expect(copyOfArchive.test(name)).toBe(false)
})

it.each([
  'my-conversation-001.md',
  'my-conversation-001 2.md',
  'conversation-01.md',
  'conversation-001.md.bak',
  'conversation-20261127153000123.md',
  'conversation-20261127153000123 2.md',
  'conversation-001 2.md.bak',
])('no archive is %s, nor a copy of one', (name) => {
  expect(archiveFile.test(name)).toBe(false)
  expect(copyOfArchive.test(name)).toBe(false)
})

it.each([
  'conversation-001.sync-conflict-20261118-100000-ABCDEFG.md',
  'archive-log-001 (conflicted copy).MD',
  'conversation-001 2.md',
])('a copy of an archive is %s', (name) => {
  expect(archiveFile.test(name)).toBe(false)
  expect(copyOfArchive.test(name)).toBe(true)
  expect(archiveNumber(name)).toBe(1)
})

const rootWith = (...paths: string[]): string => {
  const root = temporaryRoot()
  for (const path of paths) mkdirSync(join(root, path), { recursive: true })
  return root
}
const signsOf = ({ window, archiveIndex, archives }: Layout): string[] => [window, archiveIndex, archives]

it.each(signsOf(layouts.user))('a root that has %s is that of a person', (path) => {
  expect(layoutOf(defaultFileSystem, rootWith(path)).name).toBe('user')
})

it.each(signsOf(layouts.entity))('a root that has %s and archives of a person is refused', (path) => {
  const root = rootWith(path, layouts.user.archives)
  expect(() => layoutOf(defaultFileSystem, root)).toThrow('both layouts')
  expect(layoutOf(defaultFileSystem, root, 'user').name).toBe('user')
})
