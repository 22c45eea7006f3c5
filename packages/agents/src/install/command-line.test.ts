import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { copilotTarget } from '../copilot/target.ts'
import { hookCommand, isOwnCommand, isOwnServer, mcpCommand } from './command-line.ts'
import type { Surroundings, Wiring } from './target.ts'

const wiringIn = (root: string): Wiring => ({
  command: ['printf', '%s\\n'],
  version: '1.0.0',
  root,
  files: { curated: '', window: '', archives: '' },
  recallPrompts: false,
  consume: false,
})

it
  .runIf(process.platform !== 'win32')
  .each([
    'of my own',
    "of Ada's",
    '$(echo run)',
    '`echo run`',
    '\\$(echo run)',
    '\\`echo run`',
    '\\"; echo run; "',
    'that ends in a backslash\\',
    'two\nlines',
  ])('hands a shell the root of a memory as it is named: %j', (name) => {
  const root = `/srv/${name}`
  const printed = execFileSync('sh', ['-c', hookCommand(wiringIn(root), 'stop')], { encoding: 'utf8' })
  expect(printed).toBe(`hook\nstop\n--root\n${root}\n`)
})

it('leaves the backslashes of Windows alone', () => {
  expect(hookCommand(wiringIn('C:\\Users\\Ada L\\$memory'), 'stop')).toContain(
    '--root "C:\\Users\\Ada L\\\\$memory"',
  )
})

const windows: Surroundings = {
  home: '/home',
  env: {},
  platform: 'win32',
  exists: () => false,
  readText: () => null,
}

it('starts on Windows a script of the PATH through the shell, and Node without it', () => {
  const wiring = wiringIn('C:\\memory')
  const started = (...command: string[]): string => mcpCommand(windows, { ...wiring, command }).command
  expect(started('recall')).toBe('cmd')
  expect(started('node', 'C:\\recall.cjs')).toBe('node')
  expect(started('C:\\Program Files\\nodejs\\node.exe', 'C:\\recall.cjs')).toMatch(/node\.exe$/)
})

it('lets PowerShell run a program in quotes', () => {
  const wiring = { ...wiringIn('C:\\memory'), command: ['C:\\Program Files\\nodejs\\node.exe'] }
  const edit = copilotTarget.edits(windows, wiring).find(({ path }) => path.endsWith('recall.json'))
  const { hooks } = JSON.parse(edit?.add(null) ?? '')
  expect(hooks.sessionEnd[0].powershell).toBe(`& ${hookCommand(wiring, 'session-end')}`)
})

it('knows its hooks and servers by what they run, wherever the program lies, and no others', () => {
  expect(isOwnCommand('/opt/recall/bin/recall hook stop --root /m')).toBe(true)
  expect(isOwnCommand('node /opt/recall/main.js hook session-end')).toBe(true)
  expect(isOwnCommand('other hook stop --root /m')).toBe(false)
  expect(isOwnCommand('recall hook stopped')).toBe(false)
  expect(isOwnCommand('total-recall hook prompt')).toBe(false)
  expect(isOwnCommand('node /home/me/recall-notes/cli.js hook session-end --root /m')).toBe(false)
  expect(isOwnCommand('other hook stop --mine ~/.recall')).toBe(false)
  expect(isOwnCommand({ run: 'recall hook stop' })).toBe(false)
  for (const own of [
    'recall hook turn-start',
    '"C:\\Program Files\\nodejs\\node.exe" C:\\npm\\recall.cjs hook prompt --root C:\\m',
    'npx -y @recall/cli hook prompt',
    'node /opt/main.js hook session-start --root /home/ada/.recall --clear',
  ])
    expect(isOwnCommand(own)).toBe(true)
  expect(isOwnServer({ command: 'node', args: ['/opt/main.js', 'mcp', '--root', '/m'] })).toBe(true)
  expect(isOwnServer({ type: 'local', command: ['npx', '@recall/cli', 'mcp'] })).toBe(true)
  expect(isOwnServer({ command: 'npx', args: ['other', 'mcp'] })).toBe(false)
})

it('empties the window only where it is told', () => {
  const wiring = { ...wiringIn('/m'), consume: true }
  const events = ['session-start', 'turn-start', 'prompt', 'pre-compact', 'session-end'] as const
  expect(events.filter((event) => hookCommand(wiring, event).includes('--clear'))).toEqual([
    'session-start',
    'turn-start',
  ])
})
