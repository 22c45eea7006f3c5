import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { createShell } from './support.ts'

const raced = vi.hoisted(() => ({ file: '' }))
vi.mock('node:fs', async (original) => {
  const actual = await original<typeof fs>()
  return {
    ...actual,
    writeFileSync(path: string, content: string, options?: fs.WriteFileOptions) {
      // Another process is faster by a moment.
      if (path === raced.file) actual.writeFileSync(path, 'of the other process')
      actual.writeFileSync(path, content, options)
    },
  }
})

it('keeps a file that another init has just created', async () => {
  const shell = createShell()
  raced.file = join(shell.root, 'memory/ARCHIVE.md')
  const { created, kept } = await shell.json<{ created: string[]; kept: string[] }>('init')
  expect(created).toEqual(['memory/MEMORY.md', 'memory/EPHEMERAL.md', 'memory/conversations/'])
  expect(kept).toEqual(['memory/ARCHIVE.md'])
  expect(fs.readFileSync(raced.file, 'utf8')).toBe('of the other process')
})
