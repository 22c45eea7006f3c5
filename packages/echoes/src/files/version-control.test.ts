import { lstatSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { applyVersionControl } from './version-control.ts'

const project = (gitignore: string, talisman?: string, below = '.recall/echoes') => {
  const folder = mkdtempSync(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const settings = join(folder, 'talisman.yml')
  writeFileSync(join(folder, '.gitignore'), gitignore)
  if (talisman !== undefined) writeFileSync(settings, talisman)
  return {
    folder,
    apply: () => applyVersionControl({ project: folder, folder: below, settings }),
    ignored: () => readFileSync(join(folder, '.gitignore'), 'utf8'),
  }
}

it.each([
  ['excludes the folder by default', 'dist', undefined, 'dist\n/.recall/echoes/\n'],
  ['keeps the line endings', 'dist\r\n', undefined, 'dist\r\n/.recall/echoes/\r\n'],
  ['knows the line in other spellings', '/.recall/echoes\n', '', '/.recall/echoes\n'],
  ['knows the line without a slash in front', '.recall/echoes/\n', '', '.recall/echoes/\n'],
  ['excludes it when told so', '', 'echoes:\n  version_controlled: false\n', '/.recall/echoes/\n'],
  [
    'takes the line out on demand',
    'a\n.recall/echoes/\nb\n',
    'echoes:\n  version_controlled: true\n',
    'a\nb\n',
  ],
])('%s, once', (_, before, talisman, after) => {
  const { apply, ignored } = project(before, talisman)
  expect(apply().changed).toBe(before !== after)
  expect(ignored()).toBe(after)
  expect(apply().changed).toBe(false)
  expect(ignored()).toBe(after)
})

it.each([
  ['notes', '/notes/\n'],
  ['./notes/', '/notes/\n'],
  ['..notes', '/..notes/\n'],
  ['a [b]/*?\\', '/a \\[b\\]/\\*\\?\\\\/\n'],
])('excludes the folder %s and no other, until it is told not to', (below, line) => {
  const { apply, ignored, folder } = project('', undefined, below)
  expect(apply().changed).toBe(true)
  expect(ignored()).toBe(line)
  expect(apply().changed).toBe(false)
  writeFileSync(join(folder, 'talisman.yml'), 'echoes:\n  version_controlled: true\n')
  expect(apply().changed).toBe(true)
  expect(ignored()).toBe('')
})

it('takes no line for that of a folder which does not exclude it', () => {
  const { apply, ignored } = project('a [b]/\n', undefined, 'a [b]')
  expect(apply().changed).toBe(true)
  expect(ignored()).toBe('a [b]/\n/a \\[b\\]/\n')
})

it.each(['', '.', './'])('does not say that it excludes the project itself, as %o', (below) => {
  const { apply, ignored, folder } = project('a\n\n/\n', undefined, below)
  expect(apply).toThrow(expect.objectContaining({ code: 'MEMORY_INVALID_INPUT', details: { path: folder } }))
  expect(ignored()).toBe('a\n\n/\n')
  writeFileSync(join(folder, 'talisman.yml'), 'echoes:\n  version_controlled: true\n')
  expect(apply()).toEqual({ versionControlled: true, changed: false })
  expect(ignored()).toBe('a\n\n/\n')
})

it('changes nothing when the settings cannot be read', () => {
  const { apply, ignored } = project('a\n', 'echoes: [')
  expect(apply).toThrow(expect.objectContaining({ code: 'MEMORY_INVALID_INPUT' }))
  expect(ignored()).toBe('a\n')
})

it('keeps a link to a .gitignore that is kept elsewhere', () => {
  const { apply, ignored, folder } = project('dist\n')
  renameSync(join(folder, '.gitignore'), join(folder, 'shared-ignore'))
  symlinkSync(join(folder, 'shared-ignore'), join(folder, '.gitignore'))
  expect(apply().changed).toBe(true)
  expect(lstatSync(join(folder, '.gitignore')).isSymbolicLink()).toBe(true)
  expect(ignored()).toContain('/.recall/echoes/')
})
