import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isPosix } from '../../test/support/platform.ts'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem, type FileSystem } from '../files/file-system.ts'
import { openWriterNotes } from './writer-notes.ts'

it('reads what a writer noted that was killed in a long import', () => {
  const folder = temporaryRoot()
  const paths = Array.from({ length: 300_000 }, (_, i) => `memory/long-term/${i}.md`)
  writeFileSync(join(folder, `${process.ppid}-1-00000000a`), `${paths.join('\n')}\n`)
  expect(openWriterNotes(defaultFileSystem, folder).others().paths).toEqual(paths)
})

it('clears its notes and goes on where Windows refuses to shorten a file that is open to append', () => {
  const folder = temporaryRoot()
  const appended = new Set<number>()
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    openSync(path, flags, mode) {
      const descriptor = defaultFileSystem.openSync(path, flags, mode)
      if (flags === 'a') appended.add(descriptor)
      return descriptor
    },
    ftruncateSync(descriptor, length) {
      if (appended.has(descriptor)) throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
      defaultFileSystem.ftruncateSync(descriptor, length)
    },
  }
  const notes = openWriterNotes(fileSystem, folder)
  const seen = (): string[] => openWriterNotes(fileSystem, folder).others().paths
  for (const path of ['a.md', 'é.md', 'b.md']) notes.add(path)
  expect(seen()).toEqual(['a.md', 'é.md', 'b.md'])
  notes.done()
  expect(seen()).toEqual([])
  notes.add('c.md')
  expect(seen()).toEqual(['c.md'])
  notes.close(false)
})

it('leaves its notes to others when it is closed before their files are indexed, and else none', () => {
  const folder = temporaryRoot()
  const others = openWriterNotes(defaultFileSystem, folder)
  for (const [keep, left] of [
    [false, []],
    [true, ['a.md']],
  ] as const) {
    const notes = openWriterNotes(defaultFileSystem, folder)
    notes.add('a.md')
    notes.close(keep)
    expect(others.others().paths).toEqual(left)
  }
})

it.runIf(isPosix)('goes on in a new file when its own is deleted', () => {
  const folder = join(temporaryRoot(), 'writers')
  const notes = openWriterNotes(defaultFileSystem, folder)
  notes.add('a.md')
  rmSync(folder, { recursive: true })
  notes.add('b.md')
  expect(openWriterNotes(defaultFileSystem, folder).others().paths).toEqual(['b.md'])
  notes.close(false)
})
