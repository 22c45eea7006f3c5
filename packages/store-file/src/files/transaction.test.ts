import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { sha256 } from './digest.ts'
import { defaultFileSystem } from './file-system.ts'
import { finishJournal, journalPath } from './transaction.ts'

const temporary = '.tmp-1-aaaaaaaabb'

/** A root in which a process died after its journal was written. */
function rootWith(files: Record<string, string>, steps: object[]) {
  const root = temporaryRoot()
  const internal = join(root, 'memory/.recall')
  mkdirSync(internal, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  writeFileSync(journalPath(internal), JSON.stringify({ version: 1, steps }))
  return {
    root,
    finish: () => finishJournal(defaultFileSystem, root, internal, ['memory']),
    isFinished: () => !existsSync(journalPath(internal)),
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
  }
}

describe('what a dead process began', () => {
  it('removes no file that somebody wrote since', () => {
    const step = { path: 'memory/a.md', temporary: null, before: sha256('as it was read') }
    const { finish, isFinished, read } = rootWith({ 'memory/a.md': 'written since' }, [step])
    finish()
    expect(read('memory/a.md')).toBe('written since')
    expect(isFinished()).toBe(true)
  })

  it('is finished where nobody wrote since', () => {
    const files = { 'memory/a.md': 'old', [`memory/${temporary}`]: 'new', 'memory/b.md': 'old' }
    const { root, finish, read } = rootWith(files, [
      { path: 'memory/a.md', temporary: `memory/${temporary}`, before: sha256('old') },
      { path: 'memory/b.md', temporary: null, before: sha256('old') },
    ])
    expect(finish()).toEqual(['memory/a.md', 'memory/b.md'])
    expect(read('memory/a.md')).toBe('new')
    expect(readdirSync(join(root, 'memory')).sort()).toEqual(['.recall', 'a.md'])
  })

  it.each([
    ['of another version', { version: 2 }],
    ['that does not say what was there', { steps: [{ path: 'memory/a.md', temporary: null }] }],
  ])('is left as it is by a journal %s, which is an error', (_, changed) => {
    const step = { path: 'memory/a.md', temporary: null, before: sha256('old') }
    const { root, finish, isFinished, read } = rootWith({ 'memory/a.md': 'old' }, [step])
    const path = journalPath(join(root, 'memory/.recall'))
    writeFileSync(path, JSON.stringify({ version: 1, steps: [step], ...changed }))
    expect(finish).toThrow(expect.objectContaining({ code: MemoryErrorCode.CORRUPTION }))
    expect([read('memory/a.md'), isFinished()]).toEqual(['old', false])
  })

  it('is finished also where its folder is gone', () => {
    const folder = 'memory/namespaces/gone/long-term'
    const { finish, isFinished } = rootWith({}, [
      { path: `${folder}/a.md`, temporary: `${folder}/${temporary}`, before: null },
      { path: `${folder}/b.md`, temporary: null, before: sha256('b') },
    ])
    finish()
    expect(isFinished()).toBe(true)
  })

  it('is not finished where a link leads out of the root', () => {
    const { root, finish } = rootWith({}, [
      { path: 'memory/long-term/a.md', temporary: null, before: sha256('of somebody else') },
    ])
    const outside = temporaryRoot()
    writeFileSync(join(outside, 'a.md'), 'of somebody else')
    symlinkSync(outside, join(root, 'memory/long-term'))
    expect(finish).toThrow(expect.objectContaining({ code: MemoryErrorCode.FORBIDDEN }))
    expect(readdirSync(outside)).toEqual(['a.md'])
  })
})
