import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFileMemory } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { createShell, shellWithSession, writeFiles } from './support.ts'

describe('scrub', () => {
  it('finds secrets that people typed into their files, and replaces them when asked', async () => {
    const shell = await shellWithSession()
    const secret = ['sk_', 'live_', '4eC39HqLyjWDarjtT1zdp7dc'].join('')
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), `\n## Keys\n\nstripe: ${secret}\n`)
    expect(await shell.run('scrub')).toMatchObject({ code: 1 })
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toContain(secret)
    expect(await shell.run('scrub', '--yes')).toMatchObject({ code: 0 })
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).not.toContain(secret)
    expect(await shell.run('scrub')).toMatchObject({ code: 0, out: 'No secrets found.\n' })
  })

  it('leaves encrypted values and copies of them alone', async () => {
    const shell = createShell()
    await shell.run('init')
    const encryptionKey = new Uint8Array(32).fill(7)
    const memory = await openFileMemory({ root: shell.root, encryptionKey })
    for (const n of [1, 2, 3, 4, 5, 6]) await memory.write('long-term', `pin-${n}`, n, { encrypt: true })
    await memory.close()
    const sealed = readFileSync(join(shell.root, 'memory/long-term/pin-1.md'), 'utf8')
    writeFiles(shell.root, { 'memory/pin.txt': sealed })
    for (const options of [[], ['--yes']])
      expect(await shell.run('scrub', ...options)).toMatchObject({ code: 0, out: 'No secrets found.\n' })
    expect(readFileSync(join(shell.root, 'memory/long-term/pin-1.md'), 'utf8')).toBe(sealed)
  })

  it('names files without the secrets in their names', async () => {
    const shell = createShell()
    await shell.run('init')
    const secret = `ghp_${'a1B2'.repeat(9)}`
    writeFiles(shell.root, {
      [`memory/long-term/${secret}.md`]: secret,
      [`memory/${secret}.txt`]: secret,
      [`memory/long-term/x-${secret}.md`]: '',
    })
    writeFileSync(join(shell.root, `memory/long-term/x-${secret}.md`), Buffer.from([0xff]))
    for (const options of [[], ['--json']]) {
      const { out, err } = await shell.run('scrub', ...options)
      expect(out).toContain('memory/long-term/[redacted:github].md')
      expect(out).toContain('memory/[redacted:github].txt')
      expect(out + err).not.toContain(secret)
    }
  })

  it('names the first of many files with secrets and how many more there are', async () => {
    const shell = createShell()
    await shell.run('init')
    const secret = ['sk_', 'live_', '4eC39HqLyjWDarjtT1zdp7dc'].join('')
    for (let i = 0; i < 45; i++) writeFiles(shell.root, { [`memory/long-term/note-${i}.md`]: secret })
    const { out } = await shell.run('scrub')
    expect(out).toContain('and 25 more files, all of which --json prints\n')
    expect(out).toContain('Run the same with --yes to replace them in 45 files.')
    expect(out.split('\n').length).toBeLessThan(30)
    expect((await shell.json<{ files: unknown[] }>('scrub')).files).toHaveLength(45)
  })

  it('does not say of a file that it could not read that it holds none', async () => {
    const shell = await shellWithSession()
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), Buffer.from([0x23, 0xff]))
    expect(await shell.run('scrub')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/MEMORY\.md: not examined: .*\nNo secrets found in the others\.\n$/),
    })
  })

  it('does not pass over a file that is too large to be looked at', async () => {
    const shell = await shellWithSession()
    const path = join(shell.root, 'memory/trace.log')
    writeFileSync(path, '')
    truncateSync(path, 64 * 1024 * 1024 + 1)
    expect(await shell.run('scrub')).toMatchObject({
      code: 1,
      out: 'memory/trace.log: not examined: it is larger than 64 MB\nNo secrets found in the others.\n',
    })
  })

  it('names the files that no search reads when they hold secrets, and leaves them as they are', async () => {
    const shell = await shellWithSession()
    const secret = ['sk_', 'live_', '4eC39HqLyjWDarjtT1zdp7dc'].join('')
    const copies = ['notes.txt', 'MEMORY.md~', '.MEMORY.md.swp', 'conversations/conversation-001 (copy).md']
    for (const name of [...copies, 'notes/deep.md', 'cold/episodic/note.md'])
      writeFiles(shell.root, { [`memory/${name}`]: `stripe: ${secret}\n` })
    writeFiles(shell.root, { 'memory/harmless.txt': 'nothing\n' })
    writeFiles(shell.root, { 'memory/.obsidian/app.json': '{}' })
    for (const options of [[], ['--yes']]) {
      const { code, out } = await shell.run('scrub', ...options)
      expect(code).toBe(1)
      for (const name of [...copies, 'cold/episodic/note.md'])
        expect(out).toContain(`memory/${name}: 1 stripe, in a file that no search reads`)
      expect(out).not.toContain('No secrets found')
      expect(out).not.toMatch(/harmless|obsidian/)
    }
    expect(readFileSync(join(shell.root, 'memory/notes.txt'), 'utf8')).toContain(secret)
    for (let i = 0; i < 100; i++) writeFiles(shell.root, { [`memory/${i}.txt`]: secret })
    expect((await shell.run('scrub')).out.split('\n').length).toBeLessThan(30)
    expect(await shell.json<{ beside: unknown[] }>('scrub')).toMatchObject({ files: [], applied: false })
  })
})
