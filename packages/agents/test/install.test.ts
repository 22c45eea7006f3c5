import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  asTarget,
  type FileEdit,
  install,
  installedNames,
  ownFile,
  type Surroundings,
  type Target,
  targets,
  uninstall,
} from '../src/index.ts'
import { machineIn, setUp, snapshot, wiringIn, write } from './installing.ts'
import { temporaryFolder } from './support.ts'

/** Of a snapshot the texts of the hosts' files by their path. */
const texts = (found: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(found)
      .filter(([path]) => !path.endsWith('/') && !path.includes('.recall-state'))
      .map(([path, content]) => [path, Buffer.from(content.split(' ')[1] ?? '', 'base64').toString()]),
  )

/** Settings as people and other tools leave them. */
const settings: Record<string, Record<string, string>> = {
  claude: {
    '.claude/settings.json':
      '{\n\t// mine\n\t"model": "opus",\r\n\t"hooks": {"PreCompact": [{"hooks":[{"type":"command","command":"other-tool save"}]}],},\n}\n',
    '.claude.json': '{"numStartups":3,"mcpServers":{"files":{"type":"stdio","command":"files"}}}',
    '.claude/CLAUDE.md': '# Mine\n',
    '.claude/memory/MEMORY.md': '# Theirs\n',
  },
  codex: {
    '.codex/config.toml':
      '# my settings\r\nmodel = "gpt"   # keep\r\n\r\n[mcp_servers.docs]\r\ncommand = "docs"\r\n',
    '.codex/AGENTS.md': '# House rules\r\n\r\n- be short',
    '.codex/hooks.json': '{ "hooks": { "Stop": [] } }',
  },
  cursor: {
    '.cursor/hooks.json':
      '\uFEFF{\n      "version": 1,\n      "hooks": { "sessionStart": [ { "command": "other" } ] } }',
    '.cursor/mcp.json': '{}',
  },
  windsurf: {
    '.codeium/windsurf/memories/global_rules.md': '- answer in German\n\n\n',
    '.codeium/windsurf/mcp_config.json': '{\n   "mcpServers": {\n   }\n}\n',
    '.config/devin/mcp_config.json': '',
  },
  aider: { '.aider.conf.yml': '# Aider\nread: CONVENTIONS.md  # always\nauto-commits: false\n' },
  gemini: { '.gemini/settings.json': '{"theme":"dark"}', '.gemini/GEMINI.md': 'mine' },
  copilot: { '.copilot/copilot-instructions.md': 'Be kind.', '.copilot/hooks/other.json': '{}' },
  opencode: {
    '.config/opencode/opencode.jsonc':
      '{\n  "$schema": "https://opencode.ai/config.json", // schema\n  /* mine */ "mcp": {},\n}',
  },
  generic: { '.agents/skills/other/SKILL.md': 'x' },
}

describe.each(targets.map((target) => [target.name, target] as const))('target %s', (name, target) => {
  it.each([
    ['on a fresh machine', {}],
    ['beside settings of others', settings[name] ?? {}],
  ])('is put in once and taken out to the byte, %s', async (_, files) => {
    const home = await temporaryFolder()
    write(home, files)
    const before = snapshot(home)
    const { install, uninstall } = setUp(home, target)

    const first = install()
    expect(first.filter(({ status }) => status === 'refused')).toEqual([])
    const once = snapshot(home)
    expect(once).not.toEqual(before)
    expect(install().every(({ status }) => status === 'kept')).toBe(true)
    expect(snapshot(home)).toEqual(once)

    uninstall()
    expect(snapshot(home)).toEqual(before)
    expect(uninstall().every(({ status }) => status === 'absent')).toBe(true)
    expect(snapshot(home)).toEqual(before)
  })

  it('makes files that only the owner can read', async () => {
    const home = await temporaryFolder()
    setUp(home, target).install()
    const files = Object.values(snapshot(home)).filter((content) => content.includes(' '))
    expect(files.length).toBeGreaterThan(1)
    for (const content of files) expect(content).toMatch(/^600 /)
  })

  it('takes out only its own part where somebody wrote since', async () => {
    const home = await temporaryFolder()
    write(home, settings[name] ?? {})
    const { install, uninstall } = setUp(home, target)
    const outcomes = install().filter(({ status }) => status === 'changed')
    for (const { path } of outcomes) {
      const text = readFileSync(path, 'utf8')
      writeFileSync(
        path,
        path.endsWith('.json') || path.endsWith('.jsonc') || path.endsWith('.claude.json')
          ? text.replace('{', '{ "added-since": true,')
          : `${text}\n# added since\n`,
      )
    }
    uninstall()
    for (const { path } of outcomes) {
      const text = readFileSync(path, 'utf8')
      expect(text).toMatch(/added[- ]since/)
      expect(text).not.toMatch(/recall/)
    }
    expect(installedNames(join(home, '.recall-state'))).toEqual([])
  })

  it('takes the hook for prompts out again when it is not wanted any more', async () => {
    const home = await temporaryFolder()
    write(home, settings[name] ?? {})
    const host = setUp(home, target)
    const without = setUp(home, target, { ...wiringIn(home), recallPrompts: false })
    host.install()
    without.install()
    const wired = snapshot(home)
    expect(Object.values(texts(wired)).join('\n')).not.toContain(' hook prompt ')

    // Whoever takes all of it out need not know what was wired.
    host.install()
    for (const { path, own } of target.edits(machineIn(home), wiringIn(home)))
      if (!own && path.endsWith('.json')) writeFileSync(path, `${readFileSync(path, 'utf8')}\n`)
    without.uninstall()
    expect(Object.values(texts(snapshot(home))).join('\n')).not.toContain(' hook prompt ')
  })

  it('replaces its hooks when the command has moved, and doubles none', async () => {
    const home = await temporaryFolder()
    setUp(home, target).install()
    const moved = setUp(home, target, wiringIn(home, ['/opt/node', '/opt/recall.cjs']))
    moved.install()
    const texts = Object.entries(snapshot(home)).filter(
      ([path]) => /hooks\.json|settings\.json/.test(path) && !path.includes('.recall-state'),
    )
    for (const [, content] of texts) {
      const text = Buffer.from(content.split(' ')[1] ?? '', 'base64').toString()
      expect(text.match(/hook session-start/g)).toHaveLength(1)
      expect(text).not.toMatch(/"recall hook/)
    }
    moved.uninstall()
    expect(Object.keys(snapshot(home)).filter((path) => !path.endsWith('/'))).toEqual([])
  })
})

it('a file of ours that a person wrote, or changed, is theirs', async () => {
  const home = await temporaryFolder()
  const claude = targets.find(({ name }) => name === 'claude') as Target
  write(home, { '.claude/rules/recall-echo.md': 'my own rules' })
  const before = snapshot(home)
  const { install, uninstall } = setUp(home, claude)
  expect(install()[0]).toMatchObject({ status: 'refused' })
  uninstall()
  expect(snapshot(home)).toEqual(before)

  const other = await temporaryFolder()
  const again = setUp(other, claude)
  again.install()
  write(other, { '.claude/rules/recall-echo.md': 'changed by hand' })
  expect(again.install()[0]).toMatchObject({ status: 'refused' })
  expect(again.uninstall().at(-1)).toMatchObject({
    status: 'kept',
    reason: expect.stringContaining('changed'),
  })
  expect(readFileSync(join(other, '.claude/rules/recall-echo.md'), 'utf8')).toBe('changed by hand')
})

it.each(['my own rules', ''])('a file that is given up is replaced, and comes back: "%s"', async (mine) => {
  const home = await temporaryFolder()
  const path = join(home, '.mine/rules.md')
  // As a target of somebody else may be written.
  const edits = [{ ...ownFile(path, 'ours'), remove: () => null }]
  const options = { state: join(home, '.recall-state') }
  write(home, { '.mine/rules.md': mine })
  const before = snapshot(home)
  expect(install('mine', edits, options)).toMatchObject([{ status: 'refused', replaceable: true }])
  expect(install('mine', edits, { ...options, replace: [path] })).toMatchObject([{ status: 'changed' }])
  expect(install('mine', edits, options)).toMatchObject([{ status: 'kept' }])
  expect(uninstall('mine', edits, options)).toMatchObject([{ status: 'restored' }])
  expect(snapshot(home)).toEqual(before)

  install('mine', edits, { ...options, replace: [path] })
  write(home, { '.mine/rules.md': 'ours, changed by hand' })
  install('mine', edits, { ...options, replace: [path] })
  expect(readFileSync(path, 'utf8')).toBe('ours')
  uninstall('mine', edits, options)
  expect(readFileSync(path, 'utf8')).toBe('ours, changed by hand')
})

it('neither a file that was given up is lost, nor what was written since into the one in its place', async () => {
  const home = await temporaryFolder()
  const path = join(home, '.mine/rules.md')
  const edits = [ownFile(path, 'ours')]
  const options = { state: join(home, '.recall-state') }
  write(home, { '.mine/rules.md': 'my own rules' })
  const before = snapshot(home)
  install('mine', edits, { ...options, replace: [path] })
  write(home, { '.mine/rules.md': 'ours, changed by hand' })
  const refused = { status: 'refused', byHand: expect.stringContaining('run this again') }
  expect(uninstall('mine', edits, options)).toMatchObject([refused])
  expect(readFileSync(path, 'utf8')).toBe('ours, changed by hand')
  rmSync(join(home, '.mine'), { recursive: true })
  expect(uninstall('mine', edits, options)).toMatchObject([{ status: 'restored' }])
  expect(readFileSync(path, 'utf8')).toBe('my own rules')
  expect(Object.keys(snapshot(home))).toEqual(Object.keys(before))
})

it('settings that a person deleted since stay deleted', async () => {
  const home = await temporaryFolder()
  write(home, { '.claude/settings.json': '{ "model": "opus" }' })
  const { install, uninstall } = setUp(home, targets.find(({ name }) => name === 'claude') as Target)
  install()
  rmSync(join(home, '.claude/settings.json'))
  uninstall()
  expect(existsSync(join(home, '.claude/settings.json'))).toBe(false)
  expect(installedNames(join(home, '.recall-state'))).toEqual([])
})

it('an install that was cut short is taken back too', async () => {
  const home = await temporaryFolder()
  write(home, { '.claude/settings.json': '{ "a": 1 }' })
  const before = snapshot(home)
  const claude = targets.find(({ name }) => name === 'claude') as Target
  const edits = claude.edits(machineIn(home), wiringIn(home))
  const dying = edits.map((edit, i) =>
    i === 1
      ? {
          ...edit,
          add: () => {
            throw new TypeError('killed')
          },
        }
      : edit,
  )
  const options = { state: join(home, '.recall-state') }
  expect(() => install('claude', dying, options)).toThrow('killed')
  uninstall('claude', edits, options)
  expect(snapshot(home)).toEqual(before)
})

it('removes what killed processes left of files, and nothing of living ones', async () => {
  const home = await temporaryFolder()
  write(home, { '.claude/settings.json': '{}', '.claude.json': '{}' })
  const before = snapshot(home)
  const claude = setUp(home, targets.find(({ name }) => name === 'claude') as Target)
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  const left = (folder: string, owner: number) => join(folder, `.recall-${owner}-0123abcd.tmp`)
  // Killed before its first change, and in one.
  write(home, { [left('.recall-state/claude', pid)]: '{}' })
  expect(installedNames(join(home, '.recall-state'))).toEqual(['claude'])
  claude.uninstall()
  expect(snapshot(home)).toEqual(before)
  claude.install()
  for (const folder of ['.', '.claude', '.claude/rules']) write(home, { [left(folder, pid)]: '{}' })
  const others = [left('.', process.pid), `my${left('.', pid)}`, `${left('.', pid)}.bak`]
  for (const other of others) write(home, { [other]: '{}' })
  claude.uninstall()
  for (const other of others) {
    expect(existsSync(join(home, other))).toBe(true)
    rmSync(join(home, other))
  }
  expect(snapshot(home)).toEqual(before)
})

it('keeps what a host writes while its file is edited', async () => {
  const home = await temporaryFolder()
  write(home, { '.claude.json': '{"numStartups":3}' })
  const claude = targets.find(({ name }) => name === 'claude') as Target
  const path = join(home, '.claude.json')
  const counted = (count: number): void =>
    writeFileSync(path, readFileSync(path, 'utf8').replace(/("numStartups": ?)\d/, `$1${count}`))
  /** The host starts once while we edit. */
  const edits = (count: number): FileEdit[] => {
    let isStarted = false
    const start = <T>(result: T): T => {
      if (!isStarted) counted(count)
      isStarted = true
      return result
    }
    return claude
      .edits(machineIn(home), wiringIn(home))
      .map((edit) =>
        edit.path === path
          ? { ...edit, add: (text) => start(edit.add(text)), remove: (text) => start(edit.remove(text)) }
          : edit,
      )
  }
  const options = { state: join(home, '.recall-state') }
  install('claude', edits(4), options)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ numStartups: 4, mcpServers: { recall: {} } })
  expect(readdirSync(home).filter((name) => name.endsWith('.tmp'))).toEqual([])
  counted(5)
  uninstall('claude', edits(6), options)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ numStartups: 6 })
})

it('says in a dry run what would happen and changes nothing', async () => {
  const home = await temporaryFolder()
  write(home, { '.claude/settings.json': '{}' })
  const before = snapshot(home)
  const claude = targets.find(({ name }) => name === 'claude') as Target
  const edits = claude.edits(machineIn(home), wiringIn(home))
  const outcomes = install('claude', edits, { state: join(home, '.recall-state'), dryRun: true })
  expect(outcomes.map(({ status }) => status)).toEqual(['created', 'changed', 'created'])
  expect(snapshot(home)).toEqual(before)
})

describe('custom targets', () => {
  it.each([
    [undefined, 'it exports no `target`'],
    [{}, '`name` must be'],
    [{ name: '-mine', edits: () => [] }, '`name` must be'],
    [{ name: 'my agent', edits: () => [] }, '`name` must be'],
    [{ name: 'mine', edits: [] }, '`edits` must be a function'],
    [{ name: 'claude', edits: () => [] }, "'claude' is the name of a built-in target"],
  ])('are refused with what is wrong with them: %j', (value, problem) => {
    expect(() => asTarget(value, 'mine.mjs')).toThrow(`mine.mjs is not a target: ${problem}`)
  })

  it('need a name and edits, and keep what else they say', () => {
    const edits = () => []
    const plain = asTarget({ name: 'mine', edits }, 'mine.mjs')
    expect(plain).toEqual({ name: 'mine', title: 'mine', edits, isInstalled: expect.any(Function) })
    expect(plain.isInstalled(machineIn('/'))).toBe(true)
    const whole = { name: 'mine', title: 'My agent', isInstalled: () => false, edits, notes: () => ['now'] }
    expect(asTarget(whole, 'mine.mjs')).toEqual(whole)
  })

  it('are installed as built-in ones are', async () => {
    const home = await temporaryFolder()
    const target = asTarget(
      { name: 'mine', edits: ({ home: at }: Surroundings) => [ownFile(join(at, '.mine'), 'rules')] },
      'mine.mjs',
    )
    const before = snapshot(home)
    const { install, uninstall } = setUp(home, target)
    install()
    expect(readFileSync(join(home, '.mine'), 'utf8')).toBe('rules')
    uninstall()
    expect(snapshot(home)).toEqual(before)
  })
})

it('takes back from any folder what was named from the working folder', async () => {
  const home = await temporaryFolder()
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  const [options, edits] = [{ state: join(home, 'state') }, [ownFile('host/rules.md', 'ours')]]
  process.chdir(home)
  expect(install('mine', edits, options)).toMatchObject([{ path: resolve('host/rules.md') }])
  process.chdir(before)
  expect(uninstall('mine', [], options)).toMatchObject([{ status: 'removed' }])
  expect(existsSync(join(home, 'host'))).toBe(false)
})
