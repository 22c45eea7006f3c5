import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  asTarget,
  install,
  installedNames,
  jsonFile,
  ownFile,
  type Surroundings,
  type Target,
  targets,
  uninstall,
  type Wiring,
  yamlList,
} from '../src/index.ts'
import { temporaryFolder } from './support.ts'

const wiringIn = (home: string, command = ['recall']): Wiring => ({
  command,
  version: '1.2.3',
  root: join(home, '.recall'),
  files: {
    curated: join(home, '.recall/memory/MEMORY.md'),
    window: join(home, '.recall/memory/EPHEMERAL.md'),
    archives: join(home, '.recall/memory/conversations'),
  },
  recallPrompts: true,
  consume: false,
})

const machineIn = (home: string): Surroundings => ({
  home,
  env: {},
  platform: 'linux',
  exists: existsSync,
  readText: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null),
})

/** Everything below a folder: names, bytes, modes, where links lead. */
function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  const walk = (path: string, name: string): void => {
    const entry = lstatSync(path)
    const mode = (entry.mode & 0o777).toString(8)
    if (entry.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`
    else if (entry.isDirectory()) {
      found[`${name}/`] = mode
      for (const child of readdirSync(path)) walk(join(path, child), `${name}/${child}`)
    } else found[name] = `${mode} ${readFileSync(path).toString('base64')}`
  }
  walk(folder, '')
  return found
}

/** Of a snapshot the texts of the hosts' files by their path. */
const texts = (found: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(found)
      .filter(([path]) => !path.endsWith('/') && !path.includes('.recall-state'))
      .map(([path, content]) => [path, Buffer.from(content.split(' ')[1] ?? '', 'base64').toString()]),
  )

function write(home: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), content)
  }
}

function setUp(home: string, target: Target, wiring = wiringIn(home)) {
  const edits = () => target.edits(machineIn(home), wiring)
  const options = { state: join(home, '.recall-state') }
  return {
    install: () => install(target.name, edits(), options),
    uninstall: () => uninstall(target.name, edits(), options),
  }
}

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

describe('settings that cannot be edited', () => {
  const claude = targets.find(({ name }) => name === 'claude') as Target
  const codex = targets.find(({ name }) => name === 'codex') as Target
  const aider = targets.find(({ name }) => name === 'aider') as Target

  it.each([
    ['broken JSON', claude, '.claude/settings.json', '{ "hooks": '],
    ['a list for an object', claude, '.claude/settings.json', '[]'],
    ['hooks that are no object', claude, '.claude/settings.json', '{"hooks": "none"}'],
    ['a hook list that is none', claude, '.claude/settings.json', '{"hooks": {"PreCompact": {}}}'],
    ['a member twice', claude, '.claude/settings.json', '{"hooks": {}, "hooks": {"Stop": []}}'],
    ['bytes that are no UTF-8', claude, '.claude/settings.json', Buffer.from([0x7b, 0xff, 0x7d])],
    ['broken TOML', codex, '.codex/config.toml', 'model = '],
    [
      'TOML whose servers are inline',
      codex,
      '.codex/config.toml',
      'mcp_servers = { docs = { command = "docs" } }\n',
    ],
    ['broken YAML', aider, '.aider.conf.yml', 'read: [a\nb: c'],
    ['YAML with a strange list', aider, '.aider.conf.yml', 'read:\n  - {a: b}\n'],
    ['YAML in braces', aider, '.aider.conf.yml', '{read: x}\n'],
  ] as const)('%s is left alone, and the person is told what to do', async (_, target, path, content) => {
    const home = await temporaryFolder()
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), content)
    const before = snapshot(home)
    const { install, uninstall } = setUp(home, target)
    const refused = install().filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([{ path: join(home, path) }])
    expect(refused[0]?.byHand).toMatch(/recall/)
    expect(readFileSync(join(home, path))).toEqual(Buffer.from(content))
    uninstall()
    const left = snapshot(home)
    for (const [name, state] of Object.entries(before)) expect(left[name]).toBe(state)
  })

  it('a settings file that others may write as well stays theirs to write', async () => {
    const home = await temporaryFolder()
    write(home, { '.claude/settings.json': '{}\n' })
    chmodSync(join(home, '.claude/settings.json'), 0o666)
    const { install, uninstall } = setUp(home, claude)
    install()
    expect(lstatSync(join(home, '.claude/settings.json')).mode & 0o777).toBe(0o666)
    uninstall()
    expect(lstatSync(join(home, '.claude/settings.json')).mode & 0o777).toBe(0o666)
  })

  it('a linked settings file stays a link, and keeps its mode', async () => {
    const home = await temporaryFolder()
    write(home, { 'dotfiles/settings.json': '{}\n' })
    chmodSync(join(home, 'dotfiles/settings.json'), 0o640)
    mkdirSync(join(home, '.claude'))
    symlinkSync('../dotfiles/settings.json', join(home, '.claude/settings.json'))
    const before = snapshot(home)
    const { install, uninstall } = setUp(home, claude)
    install()
    expect(lstatSync(join(home, '.claude/settings.json')).isSymbolicLink()).toBe(true)
    expect(lstatSync(join(home, 'dotfiles/settings.json')).mode & 0o777).toBe(0o640)
    expect(readFileSync(join(home, 'dotfiles/settings.json'), 'utf8')).toMatch(/SessionStart/)
    uninstall()
    expect(snapshot(home)).toEqual(before)
  })

  it('a link that leads nowhere stays one', async () => {
    const home = await temporaryFolder()
    mkdirSync(join(home, '.claude'))
    symlinkSync('nowhere/settings.json', join(home, '.claude/settings.json'))
    const before = snapshot(home)
    const host = setUp(home, targets[0] as Target)
    expect(host.install().find(({ path }) => path.endsWith('/settings.json'))).toMatchObject({
      status: 'refused',
      reason: 'it is a link to a file that is not there',
    })
    host.uninstall()
    expect(snapshot(home)).toEqual(before)
  })

  it('a rules file that would grow past what its host reads is left alone', async () => {
    const home = await temporaryFolder()
    write(home, { '.codeium/windsurf/memories/global_rules.md': 'x'.repeat(5000) })
    const windsurf = targets.find(({ name }) => name === 'windsurf') as Target
    const refused = setUp(home, windsurf)
      .install()
      .filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([{ reason: expect.stringContaining('6000') }])
  })

  it('instructions of which the host reads no more bytes than they have already', async () => {
    const home = await temporaryFolder()
    write(home, { '.codex/AGENTS.md': 'ж'.repeat(15_500) })
    const refused = setUp(home, codex)
      .install()
      .filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([{ reason: expect.stringContaining('the host reads 32768 of them') }])
  })
})

it.each([
  ['model: x\n', 'model: x\n'],
  ['read: A.md # always\nmodel: x\n', 'read: ["A.md"] # always\nmodel: x\n'],
  ['read:\n  - A.md\n  - MEMORY.md\n', 'read:\n  - A.md\n  - MEMORY.md\n'],
  ['read: [A.md]\nmodel: x\n', 'read: [A.md]\nmodel: x\n'],
])('files of an earlier memory leave %j with those of the present one', (text, left) => {
  const listOf = (root: string) =>
    yamlList('conf.yml', 'read', ['/recall.md', `/${root}/MEMORY.md`, `/${root}/EPHEMERAL.md`])
  const [earlier, present] = [listOf('earlier'), listOf('present')]
  const wired = present.add(earlier.add(text))
  expect(wired).not.toContain('/earlier/')
  expect(wired).toBe(present.add(wired))
  expect(wired.match(/\/present\//g)).toHaveLength(2)
  expect(present.remove(earlier.add(text))).toBe(left)
  expect(present.remove(wired)).toBe(left)
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

describe('a server of the same name that is not ours', () => {
  const theirs = { command: 'npx', args: ['-y', 'recall-of-others'] }
  const toml = (name: string) => `[mcp_servers.${name}]\ncommand = "npx"\nargs = ["recall-of-others"]\n`
  it.each([
    ['claude', '.claude.json', JSON.stringify({ mcpServers: { recall: theirs } })],
    ['cursor', '.cursor/mcp.json', JSON.stringify({ mcpServers: { recall: theirs } })],
    ['windsurf', '.codeium/windsurf/mcp_config.json', JSON.stringify({ mcpServers: { recall: theirs } })],
    ['copilot', '.copilot/mcp-config.json', JSON.stringify({ mcpServers: { recall: theirs } })],
    ['opencode', '.config/opencode/opencode.json', JSON.stringify({ mcp: { recall: { command: ['npx'] } } })],
    ['codex', '.codex/config.toml', toml('recall')],
    ['codex', '.codex/config.toml', toml('"recall"')],
  ])('stays when %s is wired and when it is not any more', async (name, path, text) => {
    const home = await temporaryFolder()
    write(home, { [path]: text })
    const target = targets.find((each) => each.name === name) as Target
    const { install, uninstall } = setUp(home, target)
    const refused = install().filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([
      { path: join(home, path), reason: expect.stringContaining('another one') },
    ])
    expect(readFileSync(join(home, path), 'utf8')).toBe(text)

    // Ours may stand beside it.
    const ours = refused[0]?.byHand ?? ''
    const both = path.endsWith('.toml')
      ? text + ours.replace('.recall]', '.memory]')
      : text.replace(
          '{"recall":',
          `{"memory":${JSON.stringify(theirs).replace('recall-of-others', '@recall/cli","mcp')},"recall":`,
        )
    write(home, { [path]: both })
    expect(install().every(({ status }) => status === 'kept')).toBe(true)
    uninstall()
    expect(readFileSync(join(home, path), 'utf8')).toBe(both)
  })
})

it('OpenCode goes on without a hook that hangs, also when what it started keeps the pipe open', async () => {
  const home = await temporaryFolder()
  const done = join(home, 'done')
  write(home, {
    'helper.cjs': `setInterval(() => require('fs').existsSync(${JSON.stringify(done)}) && process.exit(), 20)`,
    'hook.cjs': `require('child_process').spawn(process.execPath, [${JSON.stringify(join(home, 'helper.cjs'))}], { stdio: ['ignore', 'inherit', 'ignore'] })`,
  })
  const opencode = targets.find(({ name }) => name === 'opencode') as Target
  setUp(home, opencode, { ...wiringIn(home), command: [process.execPath, join(home, 'hook.cjs')] }).install()
  const path = join(home, '.config/opencode/plugins/recall.js')
  const module = join(home, 'recall.mjs')
  renameSync(path, module)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { Recall } = await import(/* @vite-ignore */ pathToFileURL(module).href)
    const hooks = await Recall({ directory: home })
    const output = { system: ['be good'] }
    const told = hooks['experimental.chat.system.transform']({ sessionID: 's' }, output)
    await vi.advanceTimersByTimeAsync(10_000)
    await told
    expect(output.system).toEqual(['be good'])
  } finally {
    vi.useRealTimers()
    writeFileSync(done, '')
  }
})

it('a hook of Gemini CLI never ends with a code that the host takes for a refusal', async () => {
  const home = await temporaryFolder()
  const gemini = targets.find(({ name }) => name === 'gemini') as Target
  const { install } = setUp(home, gemini, { ...wiringIn(home), recallPrompts: true })
  install()
  const path = join(home, '.gemini/extensions/recall/hooks/hooks.json')
  const { hooks } = JSON.parse(readFileSync(path, 'utf8'))
  expect(Object.keys(hooks)).toEqual(['SessionStart', 'BeforeAgent', 'PreCompress', 'SessionEnd'])
  for (const [
    {
      hooks: [hook],
    },
  ] of Object.values<[{ hooks: [{ command: string }] }]>(hooks))
    expect(hook.command).toMatch(/^recall hook [^|]* \|\| exit 1$/)
})

it('a table in which Codex keeps what the person allowed stays until ours goes', async () => {
  const home = await temporaryFolder()
  const path = join(home, '.codex/config.toml')
  write(home, { '.codex/config.toml': 'model = "a" # mine\n' })
  const codex = targets.find(({ name }) => name === 'codex') as Target
  const { install, uninstall } = setUp(home, codex)
  install()
  const allowed =
    '\n[mcp_servers.recall.tools.memory_remember]\napproval_mode = "approve"\n\n[tui]\nseen = true\n'
  write(home, { '.codex/config.toml': readFileSync(path, 'utf8') + allowed })
  expect(install().map(({ status }) => status)).toEqual(['kept', 'kept', 'kept'])
  write(home, { '.codex/config.toml': readFileSync(path, 'utf8').replace('.recall"', '.elsewhere"') })
  expect(install().find((each) => each.path === path)).toMatchObject({ status: 'changed' })
  expect(readFileSync(path, 'utf8')).toContain(allowed)
  uninstall()
  expect(readFileSync(path, 'utf8')).toBe('model = "a" # mine\n\n[tui]\nseen = true\n')
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

it('keeps any JSON settings as they were, whatever they hold', () => {
  const edit = jsonFile('x', [{ at: ['hooks', 'Stop'], hook: { hooks: [{ command: 'recall hook stop' }] } }])
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string().filter((name) => name !== 'hooks' && name !== '__proto__'),
        fc.jsonValue(),
      ),
      fc.constantFrom(undefined, 1, 3, '\t'),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const added = edit.add(text)
        expect(edit.add(added)).toBe(added)
        const removed = edit.remove(added)
        expect(removed === null ? {} : JSON.parse(removed)).toEqual(JSON.parse(text))
      },
    ),
  )
})

it('adds to YAML lists of any form and takes the items out again', () => {
  const edit = yamlList('x', 'read', ['/m/a.md', '/m/b.md'])
  for (const text of [
    'read: [x, y]\n',
    'read: []\n',
    'read:\n- x\n-   y # z\nmodel: m\n',
    'read:\nmodel: m\n',
    'model: m',
    "read: 'a: b'\n",
    'read:\r\n    - x\r\nz: 1\r\n',
    '# only words\n',
  ]) {
    const added = edit.add(text)
    expect(edit.add(added)).toBe(added)
    expect(added).toContain('/m/b.md')
    expect(edit.remove(added) ?? '').not.toContain('/m/')
  }
})

describe('custom targets', () => {
  it('need a name and edits', () => {
    expect(() => asTarget({}, 'mine.mjs')).toThrow(/docs\/hosts\.md/)
    expect(() => asTarget({ name: 'claude', edits: () => [] }, 'mine.mjs')).toThrow(/built-in/)
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
