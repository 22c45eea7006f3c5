import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { demo } from '../src/commands/demo.ts'
import { exitCodes } from '../src/exit-codes.ts'
import type { Io } from '../src/terminal/io.ts'
import { createShell } from './support.ts'

it('the demo goes on after a command that failed, and says so', async () => {
  const ran: string[] = []
  let folder = ''
  const code = await demo({ out: () => {}, env: {} } as unknown as Io, async ([command = ''], { cwd }) => {
    ran.push(command)
    folder = cwd
    if (command === 'init') mkdirSync(join(cwd, 'memory'))
    return command === 'archive' ? exitCodes.failed : exitCodes.fine
  })
  rmSync(folder, { recursive: true })
  expect(ran).toEqual(['init', 'archive', 'status', 'consume', 'search', 'search', 'search', 'search'])
  expect(code).toBe(exitCodes.failed)
})

it('the demo asks nothing, and leaves the agents of the machine as they are', async () => {
  const shell = createShell(undefined, new Error('the demo asked'))
  const home = join(shell.root, '.claude')
  mkdirSync(home)
  const { code, out } = await shell.run('demo')
  const folder = /^ {2}(.*recall-demo-\S+)$/m.exec(out)?.[1] as string
  onTestFinished(() => rmSync(folder, { recursive: true }))
  expect(code).toBe(0)
  expect(readdirSync(shell.root)).toEqual(['.claude'])
  expect(readdirSync(home)).toEqual([])
})
