import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { copilotTarget } from '../copilot/target.ts'
import { hookCommand, mcpCommand } from './command-line.ts'
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
