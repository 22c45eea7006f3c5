import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShell, shellWithSession, temporaryFolder } from './support.ts'

describe('the rest', () => {
  it('reindex reports what it indexed', async () => {
    const shell = await shellWithSession()
    expect(await shell.json('reindex', '--full')).toMatchObject({ documents: 3 })
  })

  it('config shows, sets and refuses', async () => {
    const shell = await shellWithSession()
    expect((await shell.run('config')).out).toBe('ephemeral.max_entries = 5\n')
    await shell.run('config', 'ephemeral.max_entries', '9')
    expect(readFileSync(join(shell.root, 'memory/.recall-echo.toml'), 'utf8')).toBe(
      '[ephemeral]\nmax_entries = 9\n',
    )
    expect(await shell.run('config', 'ephemeral.max_entries', '99')).toMatchObject({ code: 2 })
    expect(await shell.run('config', 'colour')).toMatchObject({ code: 2 })
  })

  it('config keeps comments and other settings', async () => {
    const shell = await shellWithSession()
    const path = join(shell.root, 'memory/.recall-echo.toml')
    writeFileSync(path, '# mine\n[ephemeral]\nmax_entries = 3 # few\n\n[other]\nx = 1\n')
    await shell.run('config', 'ephemeral.max_entries', '7')
    expect(readFileSync(path, 'utf8')).toBe('# mine\n[ephemeral]\nmax_entries = 7 # few\n\n[other]\nx = 1\n')
  })

  it('export prints one JSON line for each memory', async () => {
    const shell = await shellWithSession()
    const lines = (await shell.run('export')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string })
    expect(lines.map(({ key }) => key)).toEqual([
      'session:pool-leak',
      'MEMORY.md#intro',
      'conversation:pool-leak',
    ])
  })

  it('completion prints a script for each shell and refuses others', async () => {
    const shell = createShell()
    for (const name of ['bash', 'zsh', 'fish']) {
      const { code, out } = await shell.run('completion', name)
      expect(code).toBe(0)
      expect(out).toContain('archive')
    }
    expect(await shell.run('completion', 'cmd')).toMatchObject({ code: 2 })
  })

  it('every command has help with examples', async () => {
    const shell = createShell()
    const { out } = await shell.run('--help')
    const names = [...out.matchAll(/^ {2}([a-z]+) {2,}|^ {2}([a-z]+) [[<]/gm)].map(
      ([, bare, taking]) => bare ?? taking ?? '',
    )
    expect(names).toEqual(
      expect.arrayContaining([
        'init',
        'status',
        'archive',
        'checkpoint',
        'import',
        'search',
        'distill',
        'consume',
        'doctor',
        'reindex',
        'config',
        'export',
        'backup',
        'restore',
        'forget',
        'scrub',
        'completion',
      ]),
    )
    for (const name of names) {
      const help = await shell.run(name, '--help')
      expect(help.code).toBe(0)
      expect(help.out).toContain('Examples:')
    }
  })

  it('a missing root is an error that says what to do', async () => {
    const shell = createShell(join(temporaryFolder(), 'gone'))
    const { code, err } = await shell.run('search', 'anything')
    expect(code).toBe(3)
    expect(err).toContain("create it with 'recall init'")
  })
})
