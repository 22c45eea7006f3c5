import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { hookCommand } from './command-line.ts'
import type { Wiring } from './target.ts'

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
