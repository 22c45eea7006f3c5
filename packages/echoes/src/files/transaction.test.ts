import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { sha256 } from '../documents/digest.ts'
import { finishJournal } from './transaction.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-echoes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

it.each(['reviewer/config', 'reviewer/archive/config', '../config', '/config'])(
  'finishes no journal that leads out of the folder: %s',
  (path) => {
    const root = temporaryFolder()
    const outside = temporaryFolder()
    mkdirSync(join(root, 'team'))
    symlinkSync(outside, join(root, 'reviewer'))
    const steps = [
      { path: 'team/MEMORY.md', content: 'first', before: null },
      { path, content: 'of somebody else', before: null },
    ]
    writeFileSync(join(root, '.journal.json'), JSON.stringify({ version: 1, steps }))
    expect(() => finishJournal(root)).toThrow('cannot be read: it should describe an unfinished write')
    expect(readdirSync(outside)).toEqual([])
    expect(existsSync(join(root, 'team/MEMORY.md'))).toBe(false)
  },
)

it('takes nothing away behind a file that somebody has changed since', () => {
  const root = temporaryFolder()
  const steps = [
    { path: 'MEMORY.md', content: 'merged', before: sha256('before') },
    { path: 'findings.md', content: null, before: sha256('found') },
  ]
  writeFileSync(join(root, '.journal.json'), JSON.stringify({ version: 1, steps }))
  writeFileSync(join(root, 'MEMORY.md'), 'of a person')
  writeFileSync(join(root, 'findings.md'), 'found')
  expect(finishJournal(root)).toBe('MEMORY.md')
  expect(readFileSync(join(root, 'MEMORY.md'), 'utf8')).toBe('of a person')
  expect(readFileSync(join(root, 'findings.md'), 'utf8')).toBe('found')
  expect(finishJournal(root)).toBe(null)
})

it('finishes a journal behind the file that was changed last', () => {
  const root = temporaryFolder()
  const steps = ['a.md', 'b.md'].map((path) => ({ path, content: 'after', before: sha256('before') }))
  writeFileSync(join(root, '.journal.json'), JSON.stringify({ version: 1, steps }))
  writeFileSync(join(root, 'a.md'), 'after')
  writeFileSync(join(root, 'b.md'), 'before')
  expect(finishJournal(root)).toBe(null)
  expect(readFileSync(join(root, 'b.md'), 'utf8')).toBe('after')
})
