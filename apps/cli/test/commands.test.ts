import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commands } from '../src/commands.ts'
import { createShell, shellWithSession, temporaryFolder } from './support.ts'

describe('commands', () => {
  it('reindex fails where the index that it made cannot be kept', async () => {
    const shell = await shellWithSession()
    const path = join(shell.root, 'memory/.recall/index.db')
    rmSync(path)
    mkdirSync(path)
    const { code, out, err } = await shell.run('reindex')
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toContain(`${path} is a folder, and in the way of a file (move it away)`)
    expect(err).toContain('3 entries indexed in memory alone, and none of it is kept')
    rmSync(path, { recursive: true })
    expect((await shell.run('reindex')).code).toBe(0)
  })

  it('reindex reports what it indexed', async () => {
    const shell = await shellWithSession()
    expect(await shell.json('reindex', '--full')).toMatchObject({ documents: 3 })
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

  it('export goes on after a scope in which a file cannot be read, names it and fails', async () => {
    const shell = await shellWithSession()
    const path = join(shell.root, 'memory/MEMORY.md')
    writeFileSync(path, Buffer.from([0x23, 0xff]))
    const { code, out, err } = await shell.run('export')
    expect(code).toBe(3)
    expect(err).toMatch(/^recall: long-term is not exported completely: .*MEMORY\.md is not UTF-8[^\n]*\n$/)
    expect(out).toContain('"key":"session:pool-leak"')
    expect(out).toContain('"key":"conversation:pool-leak"')
  })

  it('takes common options before the command in any order', async () => {
    const { root } = await shellWithSession()
    const shell = createShell(temporaryFolder())
    const options = ['--json', '--root', root, `--root=${root}`, '--layout', 'entity', '--json']
    expect((await shell.run(...options, 'status')).out).toMatch(/^\{/)
  })

  it('takes a common option behind the command for the one before it, and no argument behind -- for an option', async () => {
    const { root } = await shellWithSession()
    const shell = createShell(temporaryFolder())
    expect((await shell.run('--root', join(root, 'gone'), 'status', '--root', root)).code).toBe(0)
    expect((await shell.run('--root', root, 'search', '--', 'pool')).code).toBe(0)
  })

  it.each([
    [['import', '--since', '2026-02-31', '.'], "'2026-02-31' is not a date such as 2026-03-01"],
    [['import', '--since', '5', '.'], "'5' is not a date such as 2026-03-01"],
    [['echoes', 'move', 'x/inscribed-001'], '--to is missing: say etched, inscribed or traced'],
    [['echoes', 'show', '--tags', 'db'], '--tags is for promote and publish, not for show'],
    [['hub', 'search', 'retries', '--tags', 'http'], '--tags is for save, not for search'],
    [['serch', 'pool'], "there is no command 'serch'; did you mean search? (see 'recall --help')"],
    [['list'], "there is no command 'list' (see 'recall --help')"],
    [
      ['search', 'pool', '--limti', '3'],
      "Unknown option '--limti'; did you mean --limit? (see 'recall search --help')",
    ],
    [['search', 'pool', '--verbose'], "Unknown option '--verbose' (see 'recall search --help')"],
  ])('says in one line what is wrong with %j', async (argv, why) => {
    expect(await createShell().run(...argv)).toEqual({ code: 2, out: '', err: `recall: ${why}\n` })
  })

  it.each([
    [['status', '--bogus', '--json'], 2, 'MEMORY_INVALID_INPUT', 'Unknown option'],
    [
      ['search', 'x', '--limit', '-1', '--json'],
      2,
      'MEMORY_INVALID_INPUT',
      '--limit takes a value, and what',
    ],
    [['--json', 'stats'], 2, 'MEMORY_INVALID_INPUT', "there is no command 'stats'"],
    [['search', 'pool', '--root', 'away', '--json'], 3, 'MEMORY_UNAVAILABLE', 'does not exist'],
    [['echoes', 'show', 'x/traced-001', '--json'], 1, 'MEMORY_NOT_FOUND', 'x has no entry traced-001'],
  ])('says in JSON what is wrong with %j', async (argv, exitCode, code, why) => {
    const message = expect.stringContaining(why)
    const { out, err, ...ran } = await createShell().run(...argv)
    expect([ran.code, JSON.parse(out)]).toEqual([exitCode, { error: { code, message } }])
    expect(err).toContain(why)
  })

  it('prints no second JSON document when it fails after the first', async () => {
    const shell = await shellWithSession()
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), Buffer.from([0x23, 0xff]))
    const { code, out } = await shell.run('export', '--json')
    expect(code).toBe(3)
    expect(out).not.toContain('"error"')
  })

  it('prints where an error comes from only when it is asked to', async () => {
    const shell = createShell(temporaryFolder(), null, { RECALL_DEBUG: '1' })
    const { err } = await shell.run('archive', 'gone')
    expect(err).toMatch(/^recall: .*gone does not exist\nMemoryError: .*\n +at /)
    expect((await createShell().run('archive', 'gone')).err).toMatch(/^recall: .*gone does not exist\n$/)
  })

  it('says in one line that an option has no value', async () => {
    const { code, err } = await createShell().run('search', '-C', '-1', 'x')
    expect(code).toBe(2)
    expect(err).toMatch(/^recall: -C takes a value[^\n]*\(see 'recall search --help'\)\n$/)
  })

  it('breaks help between words, where nobody knows the width at 80 columns', async () => {
    const shell = createShell()
    const widest = (text: string) =>
      Math.max(
        ...text
          .split('\n')
          .filter((line) => !line.startsWith('  $'))
          .map((line) => line.length),
      )
    for (const argv of [['--help'], ...commands.map(({ name }) => [name, '--help'])]) {
      const { out } = await shell.run(...argv)
      expect(widest(out), argv.join(' ')).toBeLessThanOrEqual(80)
      expect(widest((await shell.onTerminal().run(...argv)).out)).toBeLessThanOrEqual(100)
    }
    expect((await shell.run('init', '--help')).out).toContain(
      `  --target <names>  claude, codex, cursor, windsurf, aider, gemini, copilot,
                    opencode, generic, or a module of your own
`,
    )
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
      for (const word of commands.find((command) => command.name === name)?.actions ?? [])
        expect(help.out, name).toContain(word)
    }
    expect((await shell.run('export', '--help')).out).not.toContain('one JSON document')
    expect((await shell.run('hub', '--help')).out).toContain(
      '\n<action>: register, save, search, get, cite, ',
    )
  })

  it('says of a command that is none what is wrong', async () => {
    const shell = createShell()
    await shell.run('init')
    for (const argv of [['foo'], ['help', 'foo']])
      expect(await shell.run(...argv)).toMatchObject({
        code: 2,
        err: expect.stringContaining("no command 'foo'"),
      })
    expect((await shell.run('--json')).err).toContain("'--json' is for a command")
    // What stands behind -- is what to look for.
    expect(await shell.run('search', '--', '--help')).toMatchObject({ code: 1, out: 'Nothing found.\n' })
    expect(await shell.run('help')).toMatchObject({ code: 0, out: expect.stringContaining('Commands:') })
  })

  it('a missing root is an error that says what to do', async () => {
    const shell = createShell(join(temporaryFolder(), 'gone'))
    const { code, err } = await shell.run('search', 'anything')
    expect(code).toBe(3)
    expect(err).toContain("create it with 'recall init'")
  })

  it('takes the options for all commands before the command too', async () => {
    const shell = createShell()
    const root = join(temporaryFolder(), 'there')
    await shell.run('init', root)
    expect(JSON.parse((await shell.run('--root', root, '--json', 'status')).out)).toMatchObject({
      health: 'healthy',
    })
    expect(JSON.parse((await shell.run(`--root=${root}`, 'status', '--json')).out)).toMatchObject({
      health: 'healthy',
    })
  })

  it('says in both of its forms what is wrong with the settings', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(join(shell.root, 'memory/.recall-echo.toml'), '[ephemeral]\nmax_entries = "many"\n')
    const { problem } = await shell.json<{ problem: string }>('status')
    expect(problem).toMatch(/not valid, the defaults are used/)
    expect((await shell.run('status')).out).toContain(problem)
  })

  it('exports no secret that a person typed in', async () => {
    const shell = createShell()
    await shell.run('init')
    const secret = ['ghp', '_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('')
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n## Keys\n\nuse ${secret}\n`)
    const { out, err } = await shell.run('export')
    expect(out).not.toContain(secret)
    expect(err).toContain('secrets replaced in what was exported: 1 github')
  })

  it.each([
    'search pool',
    'consume',
    'export',
    'forget x',
    'distill',
    'scrub',
    'reindex',
    'backup kept.tar.gz',
    'config ephemeral.max_entries 3',
  ])('takes a folder without a memory for no empty one, and leaves nothing in it: %s', async (line) => {
    const shell = createShell()
    writeFileSync(join(shell.root, 'notes.txt'), 'mine\n')
    expect(await shell.run(...line.split(' '))).toEqual({
      code: 3,
      out: '',
      err: `recall: there is no memory in ${shell.root}: name the folder of one with --root, or create it with 'recall init'\n`,
    })
    expect(readdirSync(shell.root)).toEqual(['notes.txt'])
    expect(await shell.json('doctor')).toMatchObject({
      healthy: false,
      findings: [{ check: 'folder', ok: false, message: `there is no memory in ${shell.root}` }],
    })
    expect(readdirSync(shell.root)).toEqual(['notes.txt'])
  })

  it('tells by the doctor that the folder itself is missing, and makes none', async () => {
    const shell = createShell()
    const root = join(shell.root, 'away')
    expect(await shell.run('doctor', '--root', root)).toEqual({
      code: 1,
      out: `wrong   folder: ${root} does not exist\n        → check that its disk is mounted, or run 'recall init' for a new one\n`,
      err: '',
    })
    const { code, out } = await shell.run('doctor', '--root', root, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      healthy: false,
      findings: [{ check: 'folder', ok: false, message: `${root} does not exist` }],
    })
    expect(readdirSync(shell.root)).toEqual([])
  })

  it('reads a memory that has no more than a window, or lies where its settings say', async () => {
    const shell = createShell()
    writeFileSync(join(shell.root, 'EPHEMERAL.md'), 'Ask about the pool.\n')
    expect((await shell.run('consume')).out).toContain('Ask about the pool.')
    const other = createShell()
    writeFileSync(join(other.root, '.recall-echo.json'), '{"paths": {"ephemeral": "window.md"}}')
    writeFileSync(join(other.root, 'window.md'), 'Ask about the pool.\n')
    expect((await other.run('consume')).out).toContain('Ask about the pool.')
  })
})
