import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Surroundings, type Target, targets } from '../src/index.ts'
import { machineIn, setUp, wiringIn, write } from './installing.ts'
import { temporaryFolder } from './support.ts'

const targetOf = (name: string): Target => targets.find((each) => each.name === name) as Target

/** What a file of a host holds once it is wired. */
async function wiredFile(name: string, path: string): Promise<string> {
  const home = await temporaryFolder()
  setUp(home, targetOf(name)).install()
  return readFileSync(join(home, path), 'utf8')
}

it.each<[name: string, path: string, events: Record<string, string[]>]>([
  [
    'claude',
    '.claude/settings.json',
    {
      SessionStart: ['session-start'],
      UserPromptSubmit: ['prompt'],
      PreCompact: ['pre-compact'],
      PostCompact: ['post-compact'],
      SessionEnd: ['session-end'],
    },
  ],
  [
    'codex',
    '.codex/hooks.json',
    {
      SessionStart: ['session-start'],
      UserPromptSubmit: ['prompt'],
      PreCompact: ['pre-compact'],
      PostCompact: ['post-compact'],
      Stop: ['stop'],
    },
  ],
  [
    'cursor',
    '.cursor/hooks.json',
    { sessionStart: ['session-start'], beforeSubmitPrompt: ['prompt'], stop: ['stop'] },
  ],
  [
    'copilot',
    '.copilot/hooks/recall.json',
    {
      sessionStart: ['session-start'],
      userPromptSubmitted: ['prompt'],
      preCompact: ['pre-compact'],
      sessionEnd: ['session-end'],
    },
  ],
  [
    'gemini',
    '.gemini/extensions/recall/hooks/hooks.json',
    {
      SessionStart: ['session-start'],
      BeforeAgent: ['turn-start', 'prompt'],
      PreCompress: ['pre-compact'],
      SessionEnd: ['session-end'],
    },
  ],
])('%s runs for each of its events the hook that is meant for it', async (name, path, events) => {
  const { hooks, version } = JSON.parse(await wiredFile(name, path))
  const wired = Object.entries(hooks).map(([event, value]) => {
    const commands = JSON.stringify(value).matchAll(/"(?:command|bash)":"recall hook (\S+) /g)
    return [event, [...commands].map(([, hook]) => hook)]
  })
  expect(Object.fromEntries(wired)).toEqual(events)
  // Those two read no hooks of a file that does not name its version.
  expect(version).toBe(['cursor', 'copilot'].includes(name) ? 1 : undefined)
})

it.each([
  ['claude', '.claude/rules/recall-echo.md', true, true, true],
  ['codex', '.codex/AGENTS.md', true, true, true],
  ['cursor', '.cursor/skills/recall/SKILL.md', true, true, true],
  ['windsurf', '.codeium/windsurf/memories/global_rules.md', false, false, true],
  ['aider', '.aider.recall.md', false, false, false],
  ['gemini', '.gemini/extensions/recall/GEMINI.md', true, true, true],
  ['copilot', '.copilot/copilot-instructions.md', true, true, true],
  ['opencode', '.config/opencode/recall.md', true, true, true],
  ['generic', '.agents/skills/recall/SKILL.md', false, false, true],
])('the agent of %s is told what is done for it, and which tools it has', async (name, path, ...does) => {
  const text = await wiredFile(name, path)
  const says = ['are given to you in a `<recalled-memory>`', 'summarised without your help', 'memory_search']
  expect(says.map((words) => text.includes(words))).toEqual(does)
})

it.each<[name: string, path: string, more: object]>([
  ['claude', '.claude.json', { type: 'stdio', env: {} }],
  ['cursor', '.cursor/mcp.json', {}],
  ['windsurf', '.codeium/windsurf/mcp_config.json', {}],
  ['gemini', '.gemini/extensions/recall/gemini-extension.json', {}],
  ['copilot', '.copilot/mcp-config.json', { type: 'local', tools: ['*'] }],
])('%s is given the server of the memory, with all of its tools', async (name, path, more) => {
  const { recall } = JSON.parse(await wiredFile(name, path)).mcpServers
  const args = ['mcp', '--root', expect.stringMatching(/\/\.recall$/)]
  expect(recall).toEqual({ command: 'recall', args, ...more })
})

it('OpenCode is given the server of the memory, as a command in one list', async () => {
  const { mcp } = JSON.parse(await wiredFile('opencode', '.config/opencode/opencode.json'))
  const command = ['recall', 'mcp', '--root', expect.stringMatching(/\/\.recall$/)]
  expect(mcp.recall).toEqual({ type: 'local', command, enabled: true })
})

it('Aider reads how to use the memory, and the memory', async () => {
  const files = ['.aider.recall.md', '.recall/memory/MEMORY.md', '.recall/memory/EPHEMERAL.md']
  const listed = [...(await wiredFile('aider', '.aider.conf.yml')).matchAll(/\S+\.md/g)].map(([path]) => path)
  expect(listed).toEqual(files.map((file) => expect.stringMatching(new RegExp(`/${file}$`))))
})

it('the hooks of Gemini CLI on Windows are for PowerShell, which knows no trap', async () => {
  const home = await temporaryFolder()
  const machine: Surroundings = { ...machineIn(home), platform: 'win32' }
  const edits = targetOf('gemini').edits(machine, wiringIn(home))
  const hooks = edits.map((edit) => edit.add(null)).find((text) => text.includes('SessionStart')) ?? ''
  expect(hooks).toContain('hook session-start')
  expect(hooks).not.toContain('trap')
})

describe('before it is wired, a person is told', () => {
  const notesOf = async (name: string, files: Record<string, string>): Promise<string> => {
    const home = await temporaryFolder()
    write(home, files)
    return targetOf(name).notes?.(machineIn(home), wiringIn(home)).join('\n') ?? ''
  }

  it.each([
    ['claude', '.claude/settings.json', '{"enabledPlugins":{"claude-mem@thedotmack":%}}', 'claude-mem'],
    ['claude', '.claude/settings.json', '{"enabledPlugins":{"recall@recall":%}}', 'recall plugin'],
    ['claude', '.claude/settings.json', '{"disableAllHooks": %}', 'disableAllHooks'],
    ['codex', '.codex/config.toml', '[features]\nhooks = !%\n', 'switches hooks off'],
    ['codex', '.codex/config.toml', 'features = { codex_hooks = !% }\n', 'switches hooks off'],
    ['gemini', '.gemini/settings.json', '{"hooksConfig":{"notifications":true,"enabled":!%}}', 'hooksConfig'],
  ])('what in the settings of %s is in the way: %s %s', async (name, path, settings, words) => {
    const noteWhen = async (value: boolean) => {
      const text = settings.replace('!%', String(!value)).replace('%', String(value))
      return (await notesOf(name, { [path]: text })).includes(words)
    }
    expect([await noteWhen(true), await noteWhen(false)]).toEqual([true, false])
  })

  it('nothing of settings that Claude Code does not have yet', async () => {
    expect(await notesOf('claude', {})).toBe('')
    expect(await notesOf('claude', { '.claude/settings.json': '\n' })).toBe('')
  })

  it('what to put into any other agent by hand', async () => {
    const notes = await notesOf('generic', {})
    expect(notes).toMatch(/"mcpServers":\{"recall":\{"command":"recall","args":\["mcp","--root",/)
    expect(notes).toMatch(/recall hook session-start --root .+ prints the context/)
    expect(notes).toMatch(/recall hook session-end --root .+ archives the transcript/)
  })
})
