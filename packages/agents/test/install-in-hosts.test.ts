import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { type Target, targets } from '../src/index.ts'
import { machineIn, setUp, snapshot, wiringIn, write } from './installing.ts'
import { temporaryFolder } from './support.ts'

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
    // OpenCode has instructions of its own, so that its settings are given nothing but the server.
    write(home, { [path]: text, '.config/opencode/AGENTS.md': '' })
    const target = targets.find((each) => each.name === name) as Target
    const { install, uninstall } = setUp(home, target)
    const refused = install().filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([
      { path: join(home, path), reason: expect.stringContaining(`'recall' in it is not ours`) },
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

it.each([
  ['claude', '.claude/settings.json'],
  ['codex', '.codex/hooks.json'],
  ['cursor', '.cursor/hooks.json'],
  ['copilot', '.copilot/hooks/recall.json'],
])('%s waits five seconds for what is looked up for a prompt, and ten for the rest', async (name, path) => {
  const home = await temporaryFolder()
  setUp(home, targets.find((each) => each.name === name) as Target).install()
  const { hooks } = JSON.parse(readFileSync(join(home, path), 'utf8'))
  const events = Object.entries(hooks).map(([event, value]) => [
    event,
    / hook prompt /.test(JSON.stringify(value)),
    Number(/"timeout(?:Sec)?":(\d+)/.exec(JSON.stringify(value))?.[1]),
  ])
  expect(events.filter(([, isPrompt]) => isPrompt)).toHaveLength(1)
  for (const [event, isPrompt, seconds] of events) expect(seconds, String(event)).toBe(isPrompt ? 5 : 10)
})

it.each([
  ['// mine\n{}', true],
  ['{ "model": "a", }', true],
  ['{ "model": "a" }', false],
  ['\uFEFF{}', false],
  [undefined, false],
])('says when Claude Code ignores its settings: %s', async (text, isSaid) => {
  const home = await temporaryFolder()
  if (text !== undefined) write(home, { '.claude/settings.json': text })
  const claude = targets.find(({ name }) => name === 'claude') as Target
  setUp(home, claude).install()
  const notes = claude.notes?.(machineIn(home), wiringIn(home)).join('\n') ?? ''
  expect(notes.includes('Claude Code ignores it')).toBe(isSaid)
})

describe('a hook of Gemini CLI', () => {
  async function hooksFor(command: string[]) {
    const home = await temporaryFolder()
    const gemini = targets.find(({ name }) => name === 'gemini') as Target
    setUp(home, gemini, { ...wiringIn(home), command }).install()
    const { hooks } = JSON.parse(
      readFileSync(join(home, '.gemini/extensions/recall/hooks/hooks.json'), 'utf8'),
    )
    return hooks as Record<string, [{ matcher?: string; hooks: [{ command: string; timeout: number }] }]>
  }
  const start = async (program: string) => {
    const { BeforeAgent } = await hooksFor([process.execPath, '-e', program])
    return spawn('bash', ['-c', BeforeAgent?.[0].hooks[0].command ?? ''])
  }

  it('is run for each event, for a compaction only when the person asks for one', async () => {
    const hooks = await hooksFor(['recall'])
    expect(Object.keys(hooks)).toEqual(['SessionStart', 'BeforeAgent', 'PreCompress', 'SessionEnd'])
    expect(hooks.PreCompress?.[0].matcher).toBe('manual')
    expect(hooks.BeforeAgent?.[0].hooks.map(({ timeout }) => timeout)).toEqual([5000, 5000])
    expect(hooks.BeforeAgent?.[0].hooks[0].command).toMatch(/^recall hook turn-start /)
  })

  it('hands over what the host says, and prints the answer', async () => {
    const child = await start('process.stdin.pipe(process.stdout)')
    child.stdin.end('{}')
    await expect(await text(child.stdout)).toBe('{}')
  })

  it.each([
    ['process.exit(0)', 0],
    ['process.exit(2)', 1],
    ['process.kill(process.pid)', 1],
  ])('never ends with a code that the host takes for a refusal: %s', async (program, code) => {
    const child = await start(program)
    expect(await once(child, 'close')).toEqual([code, null])
  })

  it('ends with all that it started when the host ends it', async () => {
    const child = await start('console.log("on"); setTimeout(() => {}, 20_000)')
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([1, null])
  })
})

it.each([
  ['claude', '.claude.json', ['mcpServers', 'recall'], { env: { RECALL_API_KEY: 'k' }, timeout: 60 }],
  ['cursor', '.cursor/mcp.json', ['mcpServers', 'recall'], { env: { RECALL_API_URL: 'http://hub' } }],
  ['copilot', '.copilot/mcp-config.json', ['mcpServers', 'recall'], { tools: ['memory_search'] }],
  ['opencode', '.config/opencode/opencode.json', ['mcp', 'recall'], { enabled: false }],
] as const)(
  'what a person gave the server in %s stays when it is installed again',
  async (name, file, at, own) => {
    const home = await temporaryFolder()
    const target = targets.find((each) => each.name === name) as Target
    setUp(home, target).install()
    const serverIn = (text: string) => JSON.parse(text)[at[0]][at[1]]
    const read = () => readFileSync(join(home, file), 'utf8')
    const installed = serverIn(read())
    write(home, { [file]: JSON.stringify({ [at[0]]: { [at[1]]: { ...installed, ...own } } }) })
    const moved = setUp(home, target, wiringIn(home, ['/opt/recall']))
    moved.install()
    expect(JSON.stringify(serverIn(read()))).toContain('/opt/recall')
    expect(serverIn(read())).toMatchObject(own)
    moved.uninstall()
    expect(existsSync(join(home, file)) ? read() : '').not.toContain('recall')
  },
)

describe('the instructions of OpenCode, which reads those of Claude Code while it has none of its own', () => {
  const opencode = targets.find(({ name }) => name === 'opencode') as Target
  const folder = '.config/opencode'
  const listed = (home: string) =>
    JSON.parse(readFileSync(join(home, folder, 'opencode.json'), 'utf8')).instructions
  const textOf = (home: string, file: string) => readFileSync(join(home, folder, file), 'utf8')

  it('are a file beside those of others, which its settings list', async () => {
    const home = await temporaryFolder()
    write(home, { [`${folder}/opencode.json`]: '{ "instructions": ["~/rules.md"] }\n' })
    const before = snapshot(home)
    const { install, uninstall } = setUp(home, opencode)
    install()
    expect(existsSync(join(home, folder, 'AGENTS.md'))).toBe(false)
    expect(textOf(home, 'recall.md')).toMatch(/^# Memory\n/)
    expect(listed(home)).toEqual(['~/rules.md', join(home, folder, 'recall.md')])
    expect(install().every(({ status }) => status === 'kept')).toBe(true)
    write(home, { [`${folder}/AGENTS.md`]: 'Be brief.\n' })
    uninstall()
    expect(textOf(home, 'AGENTS.md')).toBe('Be brief.\n')
    expect(snapshot(home)).toMatchObject(before)
    expect(existsSync(join(home, folder, 'recall.md'))).toBe(false)
  })

  it('are a block in AGENTS.md where there is one', async () => {
    const home = await temporaryFolder()
    write(home, { [`${folder}/AGENTS.md`]: 'Be brief.\n' })
    setUp(home, opencode).install()
    expect(textOf(home, 'AGENTS.md')).toMatch(/^Be brief\.\n\n<!-- recall:begin/)
    expect(existsSync(join(home, folder, 'recall.md'))).toBe(false)
    expect(listed(home)).toBeUndefined()
  })

  it('are told once when AGENTS.md comes later, and taken out to the byte', async () => {
    const home = await temporaryFolder()
    write(home, { [`${folder}/opencode.json`]: '{ "model": "a" }\n' })
    const { install, uninstall } = setUp(home, opencode)
    install()
    write(home, { [`${folder}/AGENTS.md`]: 'Be brief.\n' })
    install()
    expect(textOf(home, 'AGENTS.md')).toContain('recall:begin')
    expect(listed(home)).toBeUndefined()
    expect(install().every(({ status }) => status === 'kept')).toBe(true)
    expect(uninstall().filter(({ status }) => status === 'refused')).toEqual([])
    expect(textOf(home, 'AGENTS.md')).toBe('Be brief.\n')
    expect(textOf(home, 'opencode.json')).toBe('{ "model": "a" }\n')
    expect(existsSync(join(home, folder, 'recall.md'))).toBe(false)
  })

  it('are refused where the settings hold something else than a list', async () => {
    const home = await temporaryFolder()
    write(home, { [`${folder}/opencode.json`]: '{ "instructions": "~/rules.md" }' })
    const reason = "'instructions' is not a list"
    expect(setUp(home, opencode).install().at(-1)).toMatchObject({ status: 'refused', reason })
  })

  it('leave the list to what others put into it since', async () => {
    const home = await temporaryFolder()
    const { install, uninstall } = setUp(home, opencode)
    install()
    const path = join(home, folder, 'opencode.json')
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('"instructions": [', '"instructions": ["~/rules.md",'),
    )
    uninstall()
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ instructions: ['~/rules.md'] })
  })
})

it('Codex instructions are taken back also when others have taken their place since', async () => {
  const home = await temporaryFolder()
  write(home, { '.codex/AGENTS.md': 'Be brief.\n' })
  const { install, uninstall } = setUp(home, targets.find(({ name }) => name === 'codex') as Target)
  install()
  const path = join(home, '.codex/AGENTS.md')
  writeFileSync(path, `${readFileSync(path, 'utf8')}Be kind.\n`)
  write(home, { '.codex/AGENTS.override.md': 'Be quick.\n' })
  install()
  expect(readFileSync(join(home, '.codex/AGENTS.override.md'), 'utf8')).toContain('recall')
  expect(uninstall().filter(({ status }) => status === 'refused')).toEqual([])
  expect(readFileSync(path, 'utf8')).toBe('Be brief.\nBe kind.\n')
  expect(readFileSync(join(home, '.codex/AGENTS.override.md'), 'utf8')).toBe('Be quick.\n')
})

it.each(['', ' \n\t\r\n'])(
  'instructions of Codex stay in force beside an override of nothing but %j',
  async (blank) => {
    const home = await temporaryFolder()
    write(home, { '.codex/AGENTS.md': 'Be brief.\n', '.codex/AGENTS.override.md': blank })
    setUp(home, targets.find(({ name }) => name === 'codex') as Target).install()
    expect(readFileSync(join(home, '.codex/AGENTS.md'), 'utf8')).toContain('recall:begin')
    expect(readFileSync(join(home, '.codex/AGENTS.override.md'), 'utf8')).toBe(blank)
  },
)

it('what a person gave the server in Codex stays when it is installed again', async () => {
  const home = await temporaryFolder()
  const path = join(home, '.codex/config.toml')
  const codex = targets.find(({ name }) => name === 'codex') as Target
  write(home, { '.codex/config.toml': 'model = "a"\n' })
  setUp(home, codex).install()
  const own = 'enabled = false # for now\n# mine\nenv = { RECALL_API_URL = "http://hub" }\n'
  const theirs = '\n# theirs\n[tui]\nseen = true\n'
  const text = readFileSync(path, 'utf8').replace('args =', `${own}args =`) + theirs
  write(home, { '.codex/config.toml': text })
  expect(setUp(home, codex).install().at(-1)).toMatchObject({ status: 'kept' })
  const moved = setUp(home, codex, wiringIn(home, ['/opt/recall']))
  expect(moved.install().at(-1)).toMatchObject({ status: 'changed' })
  const args = `args = [ "mcp", "--root", "${home}/.recall" ]\n`
  expect(readFileSync(path, 'utf8')).toBe(
    `model = "a"\n\n[mcp_servers.recall]\ncommand = "/opt/recall"\n${args}${own}${theirs}`,
  )
  moved.uninstall()
  expect(readFileSync(path, 'utf8')).toBe(`model = "a"\n${theirs}`)
})

it('a table in Codex whose lists a formatter spread over several lines is brought up to date', async () => {
  const home = await temporaryFolder()
  const path = join(home, '.codex/config.toml')
  const codex = targets.find(({ name }) => name === 'codex') as Target
  setUp(home, codex).install()
  const installed = readFileSync(path, 'utf8')
  const spread = installed.replace(
    /args = .*\n/,
    `args = [\n  "mcp",\n  "--root",\n  "${home}/.recall",\n]\n`,
  )
  write(home, { '.codex/config.toml': `${spread}enabled = false\n` })
  expect(setUp(home, codex).install().at(-1)).toMatchObject({ status: 'kept' })
  setUp(home, codex, wiringIn(home, ['/opt/recall'])).install()
  const moved = installed.replace('"recall"', '"/opt/recall"')
  expect(readFileSync(path, 'utf8')).toBe(`${moved}enabled = false\n`)
})

it('a hook beside which a person put another is brought up to date where it stands', async () => {
  const home = await temporaryFolder()
  const claude = targets.find(({ name }) => name === 'claude') as Target
  const path = join(home, '.claude/settings.json')
  setUp(home, claude).install()
  const settings = JSON.parse(readFileSync(path, 'utf8'))
  settings.hooks.SessionStart[0].hooks.unshift({ type: 'command', command: 'mine' })
  writeFileSync(path, JSON.stringify(settings))
  expect(
    setUp(home, claude)
      .install()
      .every(({ status }) => status === 'kept'),
  ).toBe(true)
  const moved = setUp(home, claude, wiringIn(home, ['/opt/recall']))
  moved.install()
  const commands = JSON.parse(readFileSync(path, 'utf8')).hooks.SessionStart.map(
    ({ hooks }: { hooks: { command: string }[] }) => hooks.map(({ command }) => command),
  )
  expect(commands).toEqual([
    ['mine', expect.stringMatching(/^\/opt\/recall hook session-start --root .*\.recall"?$/)],
  ])
  moved.uninstall()
  const left = { SessionStart: [{ hooks: [{ type: 'command', command: 'mine' }] }] }
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ hooks: left })
})

it.each([
  ['claude', '.claude/settings.json', 'SessionStart'],
  ['codex', '.codex/hooks.json', 'SessionStart'],
  ['cursor', '.cursor/hooks.json', 'sessionStart'],
])('what a person gave a hook of %s stays when it is installed again', async (name, file, event) => {
  const home = await temporaryFolder()
  const target = targets.find((each) => each.name === name) as Target
  setUp(home, target).install()
  const path = join(home, file)
  const settings = JSON.parse(readFileSync(path, 'utf8'))
  const [entry] = settings.hooks[event]
  entry.matcher = 'startup'
  const hook = entry.hooks?.[0] ?? entry
  hook.timeout = 60
  writeFileSync(path, JSON.stringify(settings))
  expect(setUp(home, target).install()).toContainEqual({ path, status: 'kept' })
  const moved = setUp(home, target, wiringIn(home, ['/opt/recall']))
  moved.install()
  hook.command = `/opt/${hook.command}`
  expect(JSON.parse(readFileSync(path, 'utf8')).hooks[event]).toEqual([entry])
  moved.uninstall()
  expect(existsSync(path)).toBe(false)
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

describe('a host is found, and wired, where its folder lies', () => {
  const home = '/home/ana'
  const machine = (present: readonly string[], env = {}, platform: NodeJS.Platform = 'linux') => ({
    ...{ home, env, platform, readText: () => null },
    exists: (path: string) => present.includes(path.replaceAll('\\', '/')),
  })
  it.each<[name: string, folder: string, settings: string, env: object, platform?: NodeJS.Platform]>([
    ['claude', '~/.claude', '~/.claude.json', {}],
    ['claude', '/c', '/c/.claude.json', { CLAUDE_CONFIG_DIR: '/c' }],
    ['codex', '~/.codex', '~/.codex/config.toml', {}],
    ['codex', '/c', '/c/config.toml', { CODEX_HOME: '/c' }],
    ['cursor', '~/.cursor', '~/.cursor/mcp.json', { CURSOR_CONFIG_DIR: '' }],
    ['cursor', '/c', '/c/mcp.json', { CURSOR_CONFIG_DIR: '/c' }],
    ['gemini', '~/.gemini', '~/.gemini/extensions/recall/gemini-extension.json', {}],
    ['gemini', '/c/.gemini', '/c/.gemini/extensions/recall/gemini-extension.json', { GEMINI_CLI_HOME: '/c' }],
    ['copilot', '~/.copilot', '~/.copilot/mcp-config.json', {}],
    ['copilot', '/c', '/c/mcp-config.json', { COPILOT_HOME: '/c' }],
    ['opencode', '~/.config/opencode', '~/.config/opencode/opencode.json', {}],
    ['opencode', '/c/opencode', '/c/opencode/opencode.json', { XDG_CONFIG_HOME: '/c' }],
    ['windsurf', '~/.codeium/windsurf', '~/.codeium/windsurf/mcp_config.json', {}],
    ['windsurf', '~/.config/devin', '~/.config/devin/mcp_config.json', { APPDATA: '/d' }],
    ['windsurf', '/c/devin', '/c/devin/mcp_config.json', { XDG_CONFIG_HOME: '/c' }],
    ['windsurf', '/d/devin', '/d/devin/mcp_config.json', { XDG_CONFIG_HOME: '/c', APPDATA: '/d' }, 'win32'],
    ['windsurf', '~/AppData/Roaming/devin', '~/AppData/Roaming/devin/mcp_config.json', {}, 'win32'],
    ['aider', '~/.aider', '~/.aider.conf.yml', {}],
    ['aider', '~/.aider.conf.yml', '~/.aider.conf.yml', {}],
    ['generic', '~/.agents', '~/.agents/skills/recall/SKILL.md', {}],
  ])('%s in %s, with its settings in %s', (name, folder, settings, env, platform) => {
    const target = targets.find((each) => each.name === name) as Target
    const place = machine([folder.replace('~', home)], env, platform)
    expect(target.isInstalled(place)).toBe(true)
    expect(target.isInstalled(machine([], env, platform))).toBe(false)
    const paths = target.edits(place, wiringIn(home)).map(({ path }) => path.replaceAll('\\', '/'))
    expect(paths.at(-1)).toBe(settings.replace('~', home))
  })

  it('where OpenCode has settings with comments, they are the ones', () => {
    const opencode = targets.find(({ name }) => name === 'opencode') as Target
    const path = '/home/ana/.config/opencode/opencode.jsonc'
    expect(
      opencode
        .edits(machine([path]), wiringIn(home))
        .at(-1)
        ?.path.replaceAll('\\', '/'),
    ).toBe(path)
  })

  it('where Windsurf has two folders, both are given the server, and without any the first', () => {
    const windsurf = targets.find(({ name }) => name === 'windsurf') as Target
    const serversIn = (...present: string[]) =>
      windsurf
        .edits(machine(present), wiringIn(home))
        .slice(1)
        .map(({ path }) => path.replaceAll('\\', '/'))
    const folders = ['/home/ana/.codeium/windsurf', '/home/ana/.config/devin']
    const files = folders.map((folder) => `${folder}/mcp_config.json`)
    expect(serversIn(...folders)).toEqual(files)
    expect(serversIn()).toEqual(files.slice(0, 1))
  })
})
