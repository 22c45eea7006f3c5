import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShell, shellWithSession } from './support.ts'

describe('config', () => {
  it.each([
    ['[ephemeral] # mine\nmax_entries = 3 # few\n', '[ephemeral] # mine\nmax_entries = 7 # few\n'],
    ['ephemeral.max_entries = 3 # few\n', 'ephemeral.max_entries = 7 # few\n'],
    [
      '[ ephemeral ]\n[other]\nmax_entries = 1\n',
      '[ ephemeral ]\nmax_entries = 7\n[other]\nmax_entries = 1\n',
    ],
  ])('config keeps all else that is written in %j', async (before, after) => {
    const shell = createShell()
    await shell.run('init')
    const path = join(shell.root, 'memory/.recall-echo.toml')
    writeFileSync(path, before)
    expect((await shell.run('config', 'ephemeral.max_entries', '7')).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe(after)
  })

  it('config says what it does not change, and what is wrong', async () => {
    const shell = createShell()
    await shell.run('init')
    const path = join(shell.root, 'memory/.recall-echo.toml')
    writeFileSync(path, 'ephemeral = { max_entries = 3 }\n')
    const { code, err } = await shell.run('config', 'ephemeral.max_entries', '7')
    expect(code).toBe(2)
    expect(err).toContain('by hand')
    expect(readFileSync(path, 'utf8')).toBe('ephemeral = { max_entries = 3 }\n')
    writeFileSync(path, '[ephemeral]\nmax_entries = 99\n')
    expect((await shell.run('config')).err).toContain(
      'ephemeral.max_entries takes a whole number from 1 to 50',
    )
    writeFileSync(path, '[ephemeral\nmax_entries = 3\n')
    const broken = await shell.run('config', 'ephemeral.max_entries', '2')
    expect(broken).toMatchObject({ code: 2, out: '' })
    expect(broken.err).toContain('nothing was changed: memory/.recall-echo.toml is not valid')
    expect(broken.err).toContain('TOML')
    expect(readFileSync(path, 'utf8')).toBe('[ephemeral\nmax_entries = 3\n')
    writeFileSync(path, '[ephemeral]\nmax_entries = 3\nfoo = 1\n')
    expect((await shell.run('config', 'ephemeral.max_entries', '51')).err).toContain("not '51'")
    writeFileSync(path, 'ephemeral = 3\n')
    expect((await shell.run('config')).err).toContain('write [ephemeral], and max_entries below it')
  })

  it('config changes no line of a text that only looks like a setting', async () => {
    const shell = createShell()
    await shell.run('init')
    const path = join(shell.root, 'memory/.recall-echo.toml')
    const settings = 'note = """\n[ephemeral]\nmax_entries = 3\n"""\n'
    writeFileSync(path, settings)
    expect(await shell.run('config', 'ephemeral.max_entries', '7')).toMatchObject({
      code: 2,
      err: expect.stringContaining('by hand'),
    })
    expect(readFileSync(path, 'utf8')).toBe(settings)
  })

  it('config shows, sets and refuses', async () => {
    const shell = await shellWithSession()
    expect((await shell.run('config')).out).toBe('ephemeral.max_entries = 5\n')
    await shell.run('config', 'ephemeral.max_entries', '9')
    expect(readFileSync(join(shell.root, 'memory/.recall-echo.toml'), 'utf8')).toBe(
      '[ephemeral]\nmax_entries = 9\n',
    )
    expect(await shell.json('config', 'ephemeral.max_entries', '3')).toEqual({ 'ephemeral.max_entries': 3 })
    expect(await shell.json('config')).toEqual({ 'ephemeral.max_entries': 3 })
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
})
