import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFileMemory } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { commands } from '../src/commands.ts'
import {
  createShell,
  poolSession,
  shellWithSession,
  temporaryFolder,
  writeFiles,
  writeSession,
} from './support.ts'

describe('the rest', () => {
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

  it('takes no empty argument for the present folder', async () => {
    const shell = createShell()
    writeSession(shell.root, 's', poolSession)
    for (const argv of [
      ['import', ''],
      ['archive', ''],
      ['forget', 'k', '--root', ''],
      ['echoes', 'show', '--folder='],
    ]) {
      const { code, err } = await shell.run(...argv)
      expect(code, argv.join(' ')).toBe(2)
      expect(err).toContain('is empty')
    }
    expect(existsSync(join(shell.root, 'memory'))).toBe(false)
  })

  it('says that a root is a file, or lies in one', async () => {
    const shell = createShell()
    const file = writeSession(shell.root, 's', poolSession)
    for (const argv of [
      ['status', file],
      ['init', file],
      ['search', 'pool', '--root', file],
      ['status', join(file, 'below', 'it')],
    ]) {
      expect(await shell.run(...argv)).toMatchObject({
        code: 2,
        err: `recall: ${file} is a file: a memory is a folder\n`,
      })
    }
  })

  it.runIf(process.platform !== 'win32')('takes no device for a memory', async () => {
    expect(await createShell().run('init', '/dev/null')).toMatchObject({
      code: 2,
      err: 'recall: /dev/null is not a folder: a memory is a folder\n',
    })
  })

  it('takes a memory that a program made in this folder', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    const memory = await openFileMemory({ root: shell.root, create: true })
    await memory.write('long-term', 'style', 'Ana prefers tabs.')
    await memory.close()
    expect((await shell.run('search', 'tabs')).out).toContain('Ana prefers tabs.')
    await shell.run('archive', writeSession(temporaryFolder(), 's', poolSession))
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
    // As a copy of the notes alone, without what is made of them.
    rmSync(join(shell.root, 'memory/.recall'), { recursive: true })
    for (const name of ['conversations', 'EPHEMERAL.md', 'ARCHIVE.md'])
      rmSync(join(shell.root, 'memory', name), { recursive: true })
    expect((await shell.run('search', 'tabs')).out).toContain('Ana prefers tabs.')
  })

  it('takes the sessions of a person in this folder, also without curated memory', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    await shell.run('init', '.', '--layout', 'user')
    await shell.run('archive', writeSession(temporaryFolder(), 's', poolSession))
    rmSync(join(shell.root, 'memory'), { recursive: true })
    expect((await shell.run('search', 'leak test')).out).toContain('memories/archive-log-001.md')
  })

  it.each([
    'memory',
    'memory/notes.md',
    'memory/src/pool.c',
    'memory/working/draft.md',
    'memories/summer.jpg',
  ])('takes no project with %s for a memory', async (path) => {
    const shell = createShell(temporaryFolder(), null, {})
    writeFiles(shell.root, { [path]: 'walrus' })
    await shell.run('archive', writeSession(temporaryFolder(), 's', poolSession))
    expect(existsSync(join(shell.root, '.recall/memory/conversations'))).toBe(true)
  })

  it('takes no other memory for the one of this folder, which cannot be looked at', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    mkdirSync(join(shell.root, 'memory'))
    symlinkSync('conversations', join(shell.root, 'memory', 'conversations'))
    const { err } = await shell.run('archive', writeSession(shell.root, 's', poolSession))
    expect(err).toContain(join(shell.root, 'memory', 'conversations'))
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
  })

  it('says that the usual place is a file', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    writeFileSync(join(shell.root, '.recall'), '')
    expect((await shell.run('search', 'pool')).err).toContain('.recall is a file: a memory is a folder')
  })

  it('says that a root is a link to a disk that is not there, and makes nothing', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    const disk = join(shell.root, 'disk/memory')
    const link = join(shell.root, '.recall')
    symlinkSync(disk, link)
    for (const argv of [['init'], ['status'], ['search', 'pool', '--root', join(link, 'below')]]) {
      expect(await shell.run(...argv)).toMatchObject({
        code: 3,
        err: `recall: ${link} is a link to ${disk}, which is not there: check that its disk is mounted\n`,
      })
    }
    expect(readdirSync(shell.root)).toEqual(['.recall'])
  })

  it.runIf(existsSync('/proc/self'))('says where no memory can be made', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    expect(await shell.run('init', '/proc/recall/memory')).toMatchObject({
      code: 3,
      err: expect.stringContaining('/proc/recall cannot be created (ENOENT): check who may write there'),
    })
  })

  it.each([
    ['an argument', {}, ['status', '~/notes']],
    ['an option', {}, ['status', '--root=~/notes']],
    ['the environment', { RECALL_ROOT: '~/notes' }, ['status']],
  ])('finds the home folder in %s, which no shell has put there', async (_, env, argv) => {
    const { root } = createShell()
    await createShell(root).run('init', join(root, 'notes'))
    expect((await createShell(root, null, env).run(...argv)).out).toContain(
      `Recall  ${join(root, 'notes')}\n`,
    )
  })

  it('looks without a trace where there is no memory yet', async () => {
    const shell = createShell()
    const root = join(temporaryFolder(), 'none')
    const session = writeSession(shell.root, 's', poolSession)
    for (const folder of [root, temporaryFolder()])
      expect(await shell.run('import', session, '--dry-run', '--root', folder)).toMatchObject({
        code: 0,
        err: '',
      })
    expect(await shell.json('init', root, '--dry-run')).toMatchObject({ dryRun: true })
    expect(existsSync(root)).toBe(false)
  })

  it('finds a new memory in order, and says how to make what is missing', async () => {
    const shell = createShell()
    expect((await shell.run('status')).out).toContain("'recall init' creates what is missing")
    await shell.run('init')
    expect(await shell.run('doctor')).toMatchObject({ code: 0 })
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
