import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { caseBlindFileSystem } from '../../test/support/case-blind-file-system.ts'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem } from '../files/file-system.ts'
import { layouts } from './layout.ts'
import { secondNames } from './second-names.ts'

it('tells names of one folder that differ in case from names of two folders', () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memories'))
  const ofUser = { ...layouts.user, archives: 'Memories' }
  expect(secondNames(caseBlindFileSystem, root, ofUser)).toEqual(new Set(['memories']))
  mkdirSync(join(root, 'memory/conversations'), { recursive: true })
  expect(secondNames(defaultFileSystem, root, layouts.entity)).toEqual(new Set())
})
