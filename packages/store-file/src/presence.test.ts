import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../test/support/temporary-root.ts'
import { defaultFileSystem, type FileSystem } from './files/file-system.ts'
import { layouts } from './layout/layout.ts'
import { createPresence } from './presence.ts'

it('tells another disk that is mounted in its place from a memory that is gone', () => {
  const root = temporaryRoot()
  const memory = join(root, 'memory')
  mkdirSync(memory)
  let device = 1
  const lstatSync = ((path: string, options: { throwIfNoEntry: false }) => {
    const found = defaultFileSystem.lstatSync(path, options)
    return found && Object.assign(found, { dev: device })
  }) as FileSystem['lstatSync']
  const { assertPresent } = createPresence({ ...defaultFileSystem, lstatSync }, root, layouts.entity)
  assertPresent()
  device = 2
  expect(assertPresent).toThrow(`${memory} lies on another disk than when the memory was opened`)
  device = 1
  assertPresent()
  rmSync(memory, { recursive: true })
  expect(assertPresent).toThrow(`${memory} does not exist`)
})
