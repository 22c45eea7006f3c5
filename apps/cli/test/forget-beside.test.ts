import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShell, shellWithSession, writeFiles } from './support.ts'

describe('forget, beside files that no search reads', () => {
  it.each([
    'conversation-001 (conflicted copy).md',
    'conversation-001.sync-conflict-20261127-101010-ABCDEFG.md',
    'conversation-001 2.md',
    'conversation-001.md~',
  ])('names %s as a copy of the session, and leaves it to a person', async (name) => {
    const shell = await shellWithSession()
    const folder = join(shell.root, 'memory/conversations')
    copyFileSync(join(folder, 'conversation-001.md'), join(folder, name))
    for (const options of [[], ['--yes'], ['--yes']]) {
      const { code, out } = await shell.run('forget', 'conversation:pool-leak', ...options)
      expect(code).toBe(1)
      expect(out).toContain(`memory/conversations/${name}: holds it too\n`)
      expect(out).not.toMatch(/(?:-001|EPHEMERAL|ARCHIVE)\.md: holds/)
    }
    expect(await shell.json('forget', 'conversation:pool-leak')).toMatchObject({
      beside: [{ path: `memory/conversations/${name}` }],
    })
    expect(existsSync(join(folder, name))).toBe(true)
  })

  it('does not speak of copies of other sessions, or where only the window is to forget', async () => {
    const shell = await shellWithSession()
    const folder = join(shell.root, 'memory/conversations')
    copyFileSync(join(folder, 'conversation-001.md'), join(folder, 'conversation-001.md~'))
    writeFiles(shell.root, { 'memory/long-term/note.md': 'of another matter\n' })
    expect(await shell.run('forget', 'note', '--yes')).toMatchObject({ code: 0 })
    const inWindow = ['session:pool-leak', '--scope', 'short-term']
    expect(await shell.run('forget', ...inWindow, '--yes')).toMatchObject({ code: 0 })
  })

  it('names files that hold the text, also where only a comment of a note does', async () => {
    const shell = await shellWithSession()
    const note = '---\n# zpuser wrote this\ntags: [a]\n---\nof another matter\n'
    writeFiles(shell.root, {
      'memory/long-term/note.md': note,
      'memory/long-term/forgotten.md': 'zpuser was here\n',
      'memory/notes.txt': 'zpuser again\n',
      'memories/deep/notes.txt': 'zpuser and again\n',
      '.recall-echo.json': '{"layout":"entity"}',
    })
    const holding = [
      { path: 'memory/long-term/note.md' },
      { path: 'memory/notes.txt' },
      { path: 'memories/deep/notes.txt' },
    ]
    for (const options of [[], ['--yes']]) {
      const receipt = await shell.json('forget', '--containing', 'zpuser', ...options)
      expect(receipt).toMatchObject({ memories: [{ key: 'forgotten' }], beside: holding })
    }
    expect(readFileSync(join(shell.root, 'memory/long-term/note.md'), 'utf8')).toBe(note)
    expect(existsSync(join(shell.root, 'memory/long-term/forgotten.md'))).toBe(false)
  })

  it('names the table and copies of the window where they lie beside the folder of the memory', async () => {
    const shell = createShell()
    await shell.run('init', '--layout', 'user')
    writeFiles(shell.root, {
      'ARCHIVE.md': 'zpuser told me\n',
      'EPHEMERAL (conflicted copy).md': 'zpuser\n',
      'other.md': 'zpuser, not of this memory\n',
    })
    expect(await shell.json('forget', '--containing', 'zpuser', '--yes')).toMatchObject({
      forgotten: false,
      beside: [{ path: 'EPHEMERAL (conflicted copy).md' }, { path: 'ARCHIVE.md' }],
    })
  })

  it('does not name files of memories in a scope that was not asked for', async () => {
    const shell = await shellWithSession()
    writeFiles(shell.root, { 'memory/long-term/note.md': 'the pool never releases it\n' })
    const asked = ['forget', '--containing', 'never releases it', '--scope', 'long-term']
    for (const options of [[], ['--yes']])
      expect(await shell.run(...asked, ...options)).toMatchObject({ code: 0 })
  })

  it('is not undone by the doctor', async () => {
    const shell = await shellWithSession()
    const folder = join(shell.root, 'memory/conversations')
    const copy = join(folder, 'conversation-001 (conflicted copy).md')
    copyFileSync(join(folder, 'conversation-001.md'), copy)
    await shell.run('forget', 'conversation:pool-leak', '--yes')
    const { code, out } = await shell.run('doctor', '--fix')
    expect(code).toBe(1)
    expect(out).toContain(
      '(conflicted copy).md holds a session that was forgotten\n        → forgotten: delete it',
    )
    expect((await shell.run('search', 'retry path')).code).toBe(1)
    expect(existsSync(copy)).toBe(true)
    mkdirSync(join(shell.root, 'away'))
    renameSync(copy, join(shell.root, 'away/copy.md'))
    expect((await shell.run('forget', 'conversation:pool-leak')).out).not.toContain('holds it too')
    expect((await shell.run('doctor')).code).toBe(0)
  })
})
