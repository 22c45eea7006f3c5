import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem, type FileSystem } from '../files/file-system.ts'
import { layouts } from '../layout/layout.ts'
import { createFileIndexer } from './file-indexer.ts'
import { createFolderWalk } from './folder-walk.ts'
import { schema } from './schema.ts'
import { createSearchIndex, type SearchIndex } from './search-index.ts'

/** A memory of two notes whose files were looked at, and the folders that a look compares file by file. */
function walkedMemory() {
  const root = temporaryRoot()
  const notes = join(root, 'memory/long-term')
  mkdirSync(notes, { recursive: true })
  for (const name of ['a.md', 'b.md']) writeFileSync(join(notes, name), `note ${name}`)

  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  database.exec(schema)
  const index = createSearchIndex(database, layouts.entity)
  const compared: string[] = []
  const observed: SearchIndex = {
    ...index,
    stamps(folder) {
      compared.push(index.folders().find(({ id }) => id === folder)?.path ?? '')
      return index.stamps(folder)
    },
  }
  const followed: string[] = []
  const realpathSync = {
    native(path: string) {
      followed.push(path)
      return defaultFileSystem.realpathSync.native(path)
    },
  } as FileSystem['realpathSync']
  const options = {
    fileSystem: { ...defaultFileSystem, realpathSync },
    root,
    layout: layouts.entity,
    slidExpiry: () => null,
  }
  const internal = join(root, layouts.entity.internal)
  const { walkAll } = createFolderWalk({ ...options, internal, indexer: createFileIndexer(options) })
  const look = (): string[] => {
    compared.length = 0
    walkAll(observed)
    return [...compared]
  }
  look()
  return { notes, look, index, followed }
}

it('a folder that says that it changed is not compared file by file where its files are what they were', () => {
  const { notes, look, index } = walkedMemory()
  utimesSync(notes, 1, 1)
  expect(look()).toEqual([])
  expect(index.knownFolder('memory/long-term')).toMatchObject({ modified: 1000, count: 2 })
})

it.each([
  ['a new name', (notes: string) => renameSync(join(notes, 'a.md'), join(notes, 'c.md'))],
  ['another text', (notes: string) => writeFileSync(join(notes, 'a.md'), 'changed')],
  ['a file less', (notes: string) => rmSync(join(notes, 'a.md'))],
])('%s is found', (_, change) => {
  const { notes, look } = walkedMemory()
  change(notes)
  expect(look()).toEqual(['memory/long-term'])
  expect(look()).toEqual([])
})

it('no folder is followed that does not exist: of each namespace most may be missing', () => {
  const { notes, look, followed } = walkedMemory()
  followed.length = 0
  look()
  expect(followed).toEqual([dirname(notes), notes])
})
