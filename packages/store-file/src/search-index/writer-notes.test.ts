import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/temporary-root.ts'
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
