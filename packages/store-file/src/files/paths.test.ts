import { createHash } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem, type FileSystem } from './file-system.ts'
import { fileStem, isHandName, isInside, ownFile, refuseLinks } from './paths.ts'

const hostile = [
  '..',
  '.',
  '../x',
  '../../etc/passwd',
  '/etc/passwd',
  'a/b',
  'a\\b',
  '..\\..\\x',
  'C:',
  'C:\\x',
  '\\\\host\\share',
  'con',
  'CON',
  'nul.txt',
  'com1',
  'lpt9.md',
  'aux',
  '.hidden',
  '.tmp-1-aa',
  'a:b',
  'a*b',
  'a?b',
  'trail.',
  'trail ',
  ' lead',
  '~',
  'A',
  'É',
  'e\u0301',
  '\u00e9',
  '😀'.repeat(64),
  'x'.repeat(1024),
  '%2e%2e%2f',
  'a\u202eb',
] // prettier-ignore

describe('the file name of a key', () => {
  it.each(hostile)('is safe everywhere: %s', (key) => {
    const stem = fileStem(key)
    expect(stem).toMatch(/^[a-z0-9~][a-z0-9._~-]{0,80}$/)
    expect(stem).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/)
    expect(stem).not.toMatch(/\.$/)
  })

  it.each([
    ['preferences', 'preferences'],
    ['My notes: 2026', 'my-notes-2026~X'],
    ['--Über / Größe!--', 'u-ber-gro-e~X'],
    ['a - b - c', 'a-b-c~X'],
    ['記憶', '~X'],
    ['Word '.repeat(20), `${'word-'.repeat(12)}~X`],
  ])('stays what it is, for a file that has it: %s', (key, stem) => {
    const hash = createHash('sha256').update(key).digest('hex').slice(0, 16)
    expect(fileStem(key)).toBe(stem.replace('X', hash))
  })

  it('is shared by no two keys, not even where case does not matter', () => {
    const pairs = [...hostile, 'readme', 'README', 'Readme', 'a-b', 'a b', 'a_b', 'a--b']
    expect(new Set(pairs.map((key) => fileStem(key).toLowerCase())).size).toBe(pairs.length)
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (a, b) => {
        if (a !== b) expect(fileStem(a)).not.toBe(fileStem(b))
      }),
      { numRuns: 2000 },
    )
  })

  it.each(hostile)('as a person would spell it never leads out of the folder: %s', (key) => {
    const folder = temporaryRoot()
    const found = ownFile(defaultFileSystem, join(folder, 'notes'), key)
    expect(found).toBe(null)
  })
})

describe('a file that a person named', () => {
  it.each([
    'CON',
    'aux.old',
    'nul .txt',
    'COM¹',
    'conout$',
    'C:notes',
    'a:hidden',
    'notes.',
    'notes ',
    'what?',
    'up\\down',
    'last\u{10ffff}',
  ])('is not looked for on Windows under a name that it cannot have there: %s', (name) => {
    expect(isHandName(name, 'linux')).toBe(true)
    expect(isHandName(name, 'win32')).toBe(false)
  })

  it.each(['Ideas', 'a b', '記憶', 'x\u{10fffe}', 'console', 'com10'])(
    'may be called this everywhere: %s',
    (name) => {
      expect(isHandName(name, 'linux')).toBe(true)
      expect(isHandName(name, 'win32')).toBe(true)
    },
  )

  it('is not found under another name that the file system gives it', () => {
    const folder = temporaryRoot()
    writeFileSync(join(folder, 'LONGNA~1.md'), '')
    const named = (real: string): FileSystem => ({
      ...defaultFileSystem,
      realpathSync: Object.assign(() => '', { native: () => join(folder, real) }) as never,
    })
    expect(ownFile(named('LONGNA~1.md'), folder, 'LONGNA~1')).toBe(join(folder, 'LONGNA~1.md'))
    expect(ownFile(named('longname of a note.md'), folder, 'LONGNA~1')).toBe(null)
    expect(ownFile(named('longna~1.md'), folder, 'LONGNA~1')).toBe(null)
  })
})

describe('the inside of a root', () => {
  it('is told apart from what links and similar names lead to', () => {
    const place = temporaryRoot()
    const root = join(place, 'store')
    mkdirSync(join(root, 'notes/deep'), { recursive: true })
    mkdirSync(join(place, 'store-evil'))
    writeFileSync(join(place, 'store-evil/a.md'), '')
    symlinkSync(join(place, 'store-evil'), join(root, 'link'))
    symlinkSync(join(root, 'notes'), join(root, 'inner'))
    const inside = (path: string): boolean => isInside(defaultFileSystem, root, join(root, path))
    expect(inside('notes/deep')).toBe(true)
    expect(inside('.')).toBe(true)
    expect(inside('inner')).toBe(true)
    expect(inside('absent')).toBe(false)
    for (const path of ['link', '..', '../store-evil', 'notes/../..']) {
      try {
        inside(path)
        expect.unreachable(path)
      } catch (error) {
        expect(isMemoryError(error, 'MEMORY_FORBIDDEN'), path).toBe(true)
      }
    }
  })
})

it('refuses a pipe in a folder of plain files, which would never end', () => {
  const root = temporaryRoot()
  const pipe = {
    name: 'journal.json',
    isFile: () => false,
    isDirectory: () => false,
    isSymbolicLink: () => false,
  }
  const fileSystem = { ...defaultFileSystem, readdirSync: (() => [pipe]) as never }
  expect(() => refuseLinks(fileSystem, root, root)).toThrow('journal.json is a pipe')
})
