import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quoted } from '../src/terminal/format.ts'
import { createHome, poolSession, temporaryFolder, writeSession } from './support.ts'

const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path, existsSync(path) && !path.endsWith('.json') ? '' : read(path)]),
  )

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

describe('init for hosts', () => {
  it('wires one memory into the hosts that are named, and uninit leaves no trace', async () => {
    const shell = createHome()
    const before = filesIn(shell.root)
    const first = await shell.json<{ root: string; hosts: { target: string }[] }>(
      'init',
      '--target',
      'claude,codex',
    )
    expect(first.root).toBe(join(shell.root, '.recall'))
    expect(first.hosts.map(({ target }) => target)).toEqual(['claude', 'codex'])
    expect(read(join(shell.root, '.claude/settings.json')).replaceAll('\\"', '')).toContain(
      `hook session-start --root ${shell.root}/.recall`,
    )
    if (process.platform !== 'win32')
      for (const folder of ['.recall', '.recall/hosts', '.recall/hosts/codex'])
        expect(statSync(join(shell.root, folder)).mode & 0o777, folder).toBe(0o700)
    const once = filesIn(shell.root)
    const again = await shell.json<{ hosts: { target: string }[] }>(
      'init',
      '--target',
      'claude',
      '--target',
      'codex',
    )
    expect(again.hosts.map(({ target }) => target)).toEqual(['claude', 'codex'])
    expect(filesIn(shell.root)).toEqual(once)
    const { out } = await shell.run('uninit', '--target', 'claude', '--target=codex')
    expect(out).toContain('restored')
    expect(filesIn(shell.root)).toEqual(before)
  })

  it('are looked at by doctor: whether they still start this program, and hold its hooks', async () => {
    const shell = createHome()
    const program = join(shell.root, 'recall.cjs')
    writeFileSync(program, '')
    const wired = shell.startedBy([process.execPath, program])
    await wired.run('init', '--target', 'claude,codex', '--recall-prompts')
    const agents = async () => {
      const { findings } = await shell.json<{ findings: { check: string }[] }>('doctor', '--root', '.recall')
      return findings.find(({ check }) => check === 'agents')
    }
    expect(await agents()).toEqual({ check: 'agents', ok: true, message: 'claude, codex' })
    writeFileSync(join(shell.root, '.claude/settings.json'), '{}')
    expect(await agents()).toMatchObject({
      ok: false,
      message: expect.stringMatching(/settings\.json holds nothing of recall any more: claude may not/),
      remedy: expect.stringContaining(
        `recall init --target claude --root ${quoted(`${shell.root}/.recall`)} --recall-prompts`,
      ),
    })
    rmSync(program)
    expect(await agents()).toMatchObject({
      message: expect.stringContaining(`codex starts ${program}, which is gone: its sessions are not kept`),
    })
    const receipt = join(shell.root, '.recall/hosts/codex/receipt.json')
    const noted = read(receipt)
    writeFileSync(receipt, '{')
    expect(await agents()).toMatchObject({
      ok: false,
      message: expect.stringContaining(`${receipt} is damaged`),
    })
    writeFileSync(receipt, noted)
    await shell.run('uninit')
    expect(await agents()).toBeUndefined()
  })

  it.each(['{"', 'null', '{}', '[{"root":"/","files":[{}],"folders":[]}]'])(
    'changes nothing when what it had created is noted as %s',
    async (receipts) => {
      const shell = createHome()
      await shell.run('init', '--target', 'claude')
      const path = join(shell.root, '.recall/hosts/memory.json')
      writeFileSync(path, receipts)
      const before = filesIn(shell.root)
      for (const argv of [['uninit'], ['uninit', '--purge', '--yes'], ['init', '--target', 'claude']]) {
        const { code, err } = await shell.run(...argv)
        expect([code, err]).toEqual([3, expect.stringContaining(`${path} is damaged`)])
        expect(filesIn(shell.root)).toEqual(before)
      }
      expect((await shell.run('status')).code).toBe(0)
    },
  )

  it('says how to find a memory that is not where all commands look', async () => {
    const elsewhere = temporaryFolder()
    const { out } = await createHome('none').run('init', elsewhere, '--layout', 'entity')
    expect(out.replaceAll("'", '')).toContain(`RECALL_ROOT=${elsewhere}`)
    expect((await createHome().run('init', '--target', 'claude')).out).not.toContain('RECALL_ROOT')
  })

  it('takes all that are found with --yes, and asks at a terminal', async () => {
    const all = await createHome().json<{ hosts: { target: string }[] }>('init', '--yes')
    expect(all.hosts.map(({ target }) => target)).toEqual(['claude', 'codex'])
    const { out } = await createHome('codex').run('init')
    expect(out).toContain('Codex CLI')
    expect(out).not.toContain('Claude Code')
    const without = createHome('none')
    expect((await without.run('init', '--layout', 'entity')).out).toContain('recall init --target <name>')
    expect((await without.run('init', 'notes', '--layout', 'entity')).out).not.toContain('--target')
  })

  it('puts everything into the folder of the host in the layout for a user', async () => {
    const shell = createHome()
    await shell.run('init', '--target', 'claude', '--layout', 'user')
    for (const path of [
      'rules/recall-echo.md',
      'memory/MEMORY.md',
      'EPHEMERAL.md',
      'ARCHIVE.md',
      'memories',
    ]) {
      expect(existsSync(join(shell.root, '.claude', path)), path).toBe(true)
    }
    const rules = read(join(shell.root, '.claude/rules/recall-echo.md'))
    expect(rules.match(/^## \d/gm)).toHaveLength(7 + 1)
  })

  it('goes on with the memory that already lies in the folder of the host', async () => {
    const shell = createHome()
    const claude = join(shell.root, '.claude')
    mkdirSync(join(claude, 'memories'), { recursive: true })
    writeFileSync(join(claude, 'EPHEMERAL.md'), 'We fixed the ostrich parser.\n')
    writeFileSync(
      join(claude, 'memories/archive-log-001.md'),
      '# Archive log 001\n\nThe parser lost quotes.\n',
    )
    const { out } = await shell.run('init', '--target', 'claude')
    expect(out).toContain(`Memory at ${claude} (user layout)`)
    expect(existsSync(join(shell.root, '.recall/memory'))).toBe(false)
    expect((await shell.run('search', 'quotes')).out).toContain('archive-log-001.md')
  })

  it('leaves what lies in the folder of the host where there is another memory, or one is asked for', async () => {
    for (const asked of [[], ['--layout', 'entity']]) {
      const shell = createHome()
      const claude = join(shell.root, '.claude')
      mkdirSync(join(claude, 'memories'), { recursive: true })
      writeFileSync(join(claude, 'ARCHIVE.md'), '')
      if (asked.length === 0) await shell.run('init', '--root', join(shell.root, '.recall'))
      const { out } = await shell.run('init', '--target', 'claude', ...asked)
      expect(out).toContain(`Memory at ${join(shell.root, '.recall')} (entity layout)`)
    }
  })

  it('says that agents will not find a program that was fetched for one run', async () => {
    const shell = createHome().startedBy([
      '/usr/bin/node',
      '/home/ana/.npm/_npx/5f78/node_modules/.bin/recall',
    ])
    const wired = await shell.run('init', '--target', 'claude')
    expect(wired.code).toBe(0)
    expect(wired.err).toContain("install it with 'npm install -g @recall/cli', then run 'recall init' again")
    expect((await shell.run('init')).err).toBe('')
  })

  it('finds from anywhere the memory that the hosts have, as long as there is no other', async () => {
    const shell = createHome()
    const { out } = await shell.run('init', '--target', 'claude', '--layout', 'user')
    expect(out).not.toContain('RECALL_ROOT')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
    expect(existsSync(join(shell.root, '.claude/memories/archive-log-001.md'))).toBe(true)
    expect((await shell.json('init', '--target', 'codex')).root).toBe(join(shell.root, '.claude'))
    await shell.run('uninit')
    expect((await shell.run('search', 'pool')).code).toBe(0)
    expect((await shell.json('init', join(shell.root, '.recall'))).root).toBe(join(shell.root, '.recall'))
    expect((await shell.run('search', 'pool')).code).toBe(1)
  })

  it('makes nothing where it cannot note what it made, and can be purged once that is mended', async () => {
    const shell = createHome()
    const receipts = join(shell.root, '.recall/hosts/memory.json')
    mkdirSync(dirname(receipts), { recursive: true })
    writeFileSync(receipts, '[')
    const failed = await shell.run('init', '--target', 'claude')
    expect(failed).toMatchObject({ code: 3, err: expect.stringContaining('Move it away to go on') })
    expect(existsSync(join(shell.root, '.recall/memory'))).toBe(false)
    rmSync(receipts)
    await shell.run('init', '--target', 'claude')
    const { out } = await shell.run('uninit', '--purge', '--yes')
    expect(out).not.toContain('was there before')
    expect(existsSync(join(shell.root, '.recall/memory'))).toBe(false)
  })

  it('keeps a memory that holds something, unless it is to be purged', async () => {
    const shell = createHome()
    const planned = await shell.run('init', '--target', 'claude', '--dry-run')
    expect(planned.out).toMatch(
      /\n {2}would create {2}memory\/MEMORY\.md\n.*\n {2}would create {2}.+recall-echo\.md/s,
    )
    await shell.run('init', '--target', 'claude')
    const undone = await shell.run('uninit', '--dry-run')
    expect(undone.out).toMatch(/\n {2}would remove {2}.+recall-echo\.md.*\nNothing was changed/s)
    const root = join(shell.root, '.recall')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession), '--root', root)
    expect((await shell.run('uninit')).out).toContain('Your memory stays at')
    expect(existsSync(join(root, 'memory/conversations/conversation-001.md'))).toBe(true)
    expect((await shell.run('uninit', '--purge')).code).toBe(1)
    expect((await shell.run('uninit', '--purge', '--yes', '--dry-run')).out).toContain(
      `Would delete the memory at ${root}`,
    )
    expect(existsSync(root)).toBe(true)
    const { code, out } = await shell.run('uninit', '--purge', '--yes')
    expect([code, out]).toEqual([0, `Deleted the memory at ${root}.\n`])
    expect(existsSync(root)).toBe(false)
    expect((await shell.run('uninit', '--purge')).out).toBe('Recall is wired into no host.\n')
  })

  it('says that a memory which is to be purged stays while another host has it', async () => {
    const shell = createHome()
    const told = 'recall: the memory stays, because it is still wired into Codex CLI\n'
    await shell.run('init', '--target', 'claude,codex')
    const purge = ['uninit', '--target', 'claude', '--purge', '--yes']
    for (const argv of [[...purge, '--dry-run'], [...purge, '--json'], purge])
      expect(await shell.run(...argv)).toMatchObject({ code: 1, err: told })
    expect(existsSync(join(shell.root, '.recall/memory'))).toBe(true)
    expect(await shell.json('uninit', '--purge', '--yes')).toMatchObject({
      hosts: [
        { target: 'codex', files: expect.arrayContaining([expect.objectContaining({ status: 'removed' })]) },
      ],
      memories: [],
      removed: [join(shell.root, '.recall')],
      dryRun: false,
    })
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
  })

  it('says what to take out by hand of a file that does not parse, and keeps the memory until then', async () => {
    const shell = createHome()
    await shell.run('init', '--target', 'claude')
    const settings = join(shell.root, '.claude/settings.json')
    writeFileSync(settings, '{ broken')
    for (const argv of [['--dry-run'], []])
      expect(await shell.run('uninit', '--purge', '--yes', ...argv)).toMatchObject({
        code: 3,
        out: expect.stringContaining(`Remove what mentions recall from ${settings}`),
        err: expect.stringContaining('still wired into Claude Code'),
      })
    expect(read(settings)).toBe('{ broken')
    writeFileSync(settings, '{}')
    expect((await shell.run('uninit', '--purge', '--yes')).code).toBe(0)
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
  })

  it('changes nothing, also for a program, unless somebody agrees that the memory goes', async () => {
    const shell = createHome('no')
    await shell.run('init', '--target', 'claude')
    const before = filesIn(shell.root)
    expect(await shell.json('uninit', '--purge')).toEqual({
      hosts: [],
      memories: [],
      removed: [],
      dryRun: false,
    })
    expect(filesIn(shell.root)).toEqual(before)
  })

  it('leaves a memory that was there before it was wired in, and says so', async () => {
    const shell = createHome()
    const root = join(shell.root, '.recall')
    await shell.run('init', root)
    await shell.run('init', '--target', 'claude')
    const { code, out } = await shell.run('uninit', '--purge', '--yes')
    expect(code).toBe(0)
    expect(out).toContain(`Your memory stays at ${root}: it was there before`)
    expect(existsSync(join(root, 'memory/MEMORY.md'))).toBe(true)
    expect(existsSync(join(root, 'hosts'))).toBe(false)
  })

  it.each([
    ['a note', 'memory/long-term/mine.md', '---\nkey: mine\n---\nwalrus\n'],
    ['a topic', 'memory/animals.md', '# Walrus\n'],
    ['a mark of what was forgotten', 'memory/.recall/tombstones.jsonl', '{}\n'],
    ['a session still to be archived', 'memory/.recall/sessions/x.json', '{}\n'],
  ])('keeps a memory in which there is nothing but %s', async (_, path, content) => {
    const shell = createHome()
    await shell.run('init', '--target', 'claude')
    const file = join(shell.root, '.recall', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    expect((await shell.run('uninit')).out).toContain('Your memory stays at')
    expect(read(file)).toBe(content)
    expect(existsSync(join(shell.root, '.recall/memory/MEMORY.md'))).toBe(true)
  })

  it('touches nothing of a memory that was there before the agents, not even to purge it', async () => {
    const shell = createHome()
    await shell.run('init', '--root', join(shell.root, '.recall'))
    const memory = join(shell.root, '.recall/memory')
    mkdirSync(join(memory, '.recall'), { recursive: true })
    writeFileSync(join(memory, '.recall/tombstones.jsonl'), '{}\n')
    const before = filesIn(memory)
    await shell.run('init', '--target', 'claude')
    const { out } = await shell.run('uninit', '--purge', '--yes')
    expect(out).toContain('it was there before')
    expect(filesIn(memory)).toEqual(before)
  })

  it('purges nothing of a memory into which sessions were archived before it was wired in', async () => {
    const shell = createHome()
    const root = join(shell.root, '.recall')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
    await shell.run('archive', writeSession(temporaryFolder(), 's2', poolSession))
    await shell.run('forget', 'conversation:s2', '--yes')
    await shell.run('init', '--target', 'claude')
    writeFileSync(join(root, 'memory/MEMORY.md'), '# Memory\n\nTabs, not spaces.\n')
    const before = filesIn(join(root, 'memory'))
    for (const options of [
      ['--purge', '--yes', '--dry-run'],
      ['--purge', '--yes'],
    ])
      expect(await shell.run('uninit', ...options)).toMatchObject({
        code: 0,
        out: expect.stringContaining(`Your memory stays at ${root}: it was there before`),
      })
    expect(filesIn(join(root, 'memory'))).toEqual(before)
  })

  it.each([
    ['a topic', [], 'memory/note.md', 'Tabs, not spaces.\n'],
    ['curated memory', [], 'memory/MEMORY.md', '# Memory\n\nTabs, not spaces.\n'],
    ['a note', [], 'memory/long-term/a.md', 'Tabs, not spaces.\n'],
    ['a text of its own', [], 'memory/own.txt', 'Tabs, not spaces.\n'],
    ['a topic beside the sessions', ['--layout', 'user'], 'memory/note.md', 'Tabs, not spaces.\n'],
  ])(
    'purges no session of a memory that held %s before it was wired in',
    async (_, layout, path, content) => {
      const shell = createHome()
      const root = join(shell.root, '.recall')
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
      await shell.run('init', '--root', root, '--target', 'claude', ...layout)
      await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
      await shell.run('archive', writeSession(temporaryFolder(), 's2', poolSession))
      await shell.run('forget', 'conversation:s2', '--yes')
      const ofMemory = (): string[] => Object.keys(filesIn(root)).filter((file) => !file.includes('/hosts'))
      const before = ofMemory()
      expect(await shell.json('uninit', '--purge', '--dry-run')).toMatchObject({
        memories: [{ root, kept: [root], isOlder: true }],
        removed: [],
      })
      expect(await shell.run('uninit', '--purge', '--yes')).toMatchObject({
        code: 0,
        out: expect.stringContaining(`Your memory stays at ${root}: it was there before`),
      })
      expect(ofMemory()).toEqual(before)
    },
  )

  it('does not offer to purge a memory that was there before', async () => {
    const shell = createHome()
    const root = join(shell.root, '.recall')
    mkdirSync(join(root, 'memory'), { recursive: true })
    writeFileSync(join(root, 'memory/note.md'), 'Tabs, not spaces.\n')
    await shell.run('init', '--target', 'claude')
    expect((await shell.run('uninit')).out).toContain(`Your memory stays at ${root}: it was there before`)
  })

  it('leaves alone what does not parse, says what to put in by hand, and fails', async () => {
    const shell = createHome()
    writeFileSync(join(shell.root, '.claude/settings.json'), '{ broken')
    const { code, out } = await shell.run('init', '--target', 'claude')
    expect(code).toBe(3)
    expect(out).toContain('by hand')
    expect(out).toContain('once what was refused is put in by hand')
    expect(out).not.toContain('From now on')
    expect(out).toContain('SessionStart')
    expect(read(join(shell.root, '.claude/settings.json'))).toBe('{ broken')
  })

  it('wires the other hosts where settings of one cannot be read', async () => {
    const shell = createHome()
    rmSync(join(shell.root, '.claude/settings.json'))
    mkdirSync(join(shell.root, '.claude/settings.json'))
    const { code, out } = await shell.run('init', '--target', 'claude,codex')
    expect(code).toBe(3)
    expect(out).toContain('EISDIR')
    expect(read(join(shell.root, '.codex/config.toml'))).toContain('recall')
  })

  it('asks a person before a file of somebody else is replaced, and puts it back', async () => {
    const argv = ['init', '--target', 'claude']
    const withRules = (answer: string | null) => {
      const shell = createHome(answer)
      const rules = join(shell.root, '.claude/rules/recall-echo.md')
      mkdirSync(dirname(rules))
      writeFileSync(rules, 'my own rules\n')
      return { shell, rules }
    }
    for (const answer of [null, '', 'n']) {
      const { shell, rules } = withRules(answer)
      expect((await shell.run(...argv)).code).toBe(3)
      expect(read(rules)).toBe('my own rules\n')
    }
    const { shell, rules } = withRules('y')
    for (const silent of ['--yes', '--json', '--dry-run'])
      expect((await shell.run(...argv, silent)).code).toBe(3)
    expect(read(rules)).toBe('my own rules\n')
    expect((await shell.run(...argv)).code).toBe(0)
    expect(read(rules)).toContain('# Memory')
    await shell.run('uninit', '--target', 'claude')
    expect(read(rules)).toBe('my own rules\n')
  })

  it('takes a module for a target, and refuses a name that is none', async () => {
    const shell = createHome()
    writeFileSync(
      join(shell.root, 'mine.mjs'),
      `export const target = { name: 'mine', edits: ({ home }) => [{ path: home + '/.mine', own: true, byHand: 'x', add: () => 'x', remove: () => null }] }`,
    )
    await shell.run('init', '--target', './mine.mjs')
    expect(read(join(shell.root, '.mine'))).toBe('x')
    await shell.run('uninit')
    expect(existsSync(join(shell.root, '.mine'))).toBe(false)
    await shell.run('init', '--target', './mine.mjs')
    appendFileSync(join(shell.root, '.mine'), 'and what a person wrote')
    expect(await shell.json('uninit', '--target', './mine.mjs')).toMatchObject({
      hosts: [{ target: 'mine', files: [{ status: 'kept' }] }],
    })
    expect(read(join(shell.root, '.mine'))).toBe('xand what a person wrote')
    const { code, err } = await shell.run('init', '--target', 'emacs')
    expect(code).toBe(2)
    expect(err).toContain('claude, codex')
    expect(await shell.run('init', '--target', './missing.mjs')).toMatchObject({
      code: 2,
      err: expect.stringContaining('missing.mjs does not exist'),
    })
  })

  it('lets no other process change settings meanwhile', async () => {
    const shell = createHome()
    const see = "(existsSync(home + '/.recall/hosts/lock') ? 'locked' : 'free')"
    writeFileSync(
      join(shell.root, 'mine.mjs'),
      `import { existsSync } from 'node:fs'
export const target = { name: 'mine', edits: ({ home }) => [{ path: home + '/.mine', byHand: '', add: () => ${see}, remove: (text) => text + ${see} }] }`,
    )
    const path = join(shell.root, '.mine')
    writeFileSync(path, '')
    await shell.run('init', '--target', './mine.mjs')
    expect(read(path)).toBe('locked')
    appendFileSync(path, ', and ')
    await shell.run('uninit', '--target', './mine.mjs')
    expect(read(path)).toBe('locked, and locked')
    expect(existsSync(join(shell.root, '.recall/hosts'))).toBe(false)
  })
})
