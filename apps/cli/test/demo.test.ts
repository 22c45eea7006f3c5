import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createShell } from './support.ts'

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
