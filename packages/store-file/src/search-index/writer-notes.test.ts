import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/temporary-root.ts'
import { defaultFileSystem } from '../files/file-system.ts'
import { openWriterNotes } from './writer-notes.ts'

it('reads what a writer noted that was killed in a long import', () => {
  const folder = temporaryRoot()
  const paths = Array.from({ length: 300_000 }, (_, i) => `memory/long-term/${i}.md`)
  writeFileSync(join(folder, `${process.ppid}-1-00000000a`), `${paths.join('\n')}\n`)
  expect(openWriterNotes(defaultFileSystem, folder).others().paths).toEqual(paths)
})
