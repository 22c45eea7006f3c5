import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { openWithArchives } from './support/open-with-archives.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('a journal that nobody here wrote', () => {
  it.each([
    { path: '../outside.md', temporary: 'memory/.tmp-1-aaaaaaaabb' },
    { path: 'memory/a.md', temporary: '../../etc/passwd' },
    { path: 'memory/a.md', temporary: 'memory/MEMORY.md' },
    { path: '/etc/x', temporary: null },
    { path: 'memory\\..\\..\\x', temporary: null },
    { path: '.git/hooks/pre-commit', temporary: 'memory/.tmp-1-aaaaaaaabb' },
    { path: 'README.md', temporary: 'memory/.tmp-1-aaaaaaaabb' },
    { path: 'memory/run', temporary: 'memory/.tmp-1-aaaaaaaabb' },
    { path: 'memory/a.md', temporary: 'memory/long-term/.tmp-1-aaaaaaaabb' },
    { path: 'work.txt', temporary: null },
    { path: 'memory-of-others/a.md', temporary: null },
    { path: 'memory/a\n/../MEMORY.md', temporary: null },
  ])('moves nothing: $path', async (step) => {
    const { memory, at } = await openWithArchives(0)
    await memory.write('long-term', 'MEMORY.md#a', 'kept')
    const before = readFileSync(at('MEMORY.md'), 'utf8')
    writeFileSync(
      at('.recall/journal.json'),
      JSON.stringify({ version: 1, steps: [{ ...step, before: null }] }),
    )
    const error = await memory.read('long-term', 'MEMORY.md#a').catch((reason: unknown) => reason)
    expect(isMemoryError(error, 'MEMORY_CORRUPTION')).toBe(true)
    expect(String(error)).toContain('journal.json')
    expect(readFileSync(at('MEMORY.md'), 'utf8')).toBe(before)
    rmSync(at('.recall/journal.json'))
    await memory.close()
  })
})

describe("the memory's own folder", () => {
  it('keeps itself out of git, unless a person wants it there', async () => {
    const { root, memory, at } = await openWithArchives(1)
    await memory.close()
    expect(readFileSync(at('.recall/.gitignore'), 'utf8')).toBe('*\n')
    rmSync(at('.recall/.gitignore'))
    const again = await openFileMemory({ root })
    await again.write('long-term', 'note', 'text')
    await again.close()
    expect(readdirSync(at('.recall'))).not.toContain('.gitignore')
  })

  it.each([
    'lock.db',
    'lock-holder.json',
    'index.db',
    'index.seal',
    'access.db',
    'tombstones.jsonl',
    'writers',
  ])('is not used with a link in it, which could lead to anything: %s', async (name) => {
    const { root, memory, at } = await openWithArchives(0)
    await memory.close()
    const outside = join(temporaryRoot(), 'outside')
    writeFileSync(outside, 'of somebody else')
    rmSync(at(`.recall/${name}`), { force: true, recursive: true })
    mkdirSync(at('.recall'), { recursive: true })
    symlinkSync(outside, at(`.recall/${name}`))
    const opened = openFileMemory({ root }).then((again) => again.write('long-term', 'k', 'v'))
    await expect(opened).rejects.toMatchObject({
      code: 'MEMORY_FORBIDDEN',
      message: expect.stringContaining(`${name} is a symbolic link`),
    })
    expect(readFileSync(outside, 'utf8')).toBe('of somebody else')
  })

  it('is asked for where a file stands in its place, which is left as it is', async () => {
    const { root, memory, at } = await openWithArchives(0)
    await memory.close()
    rmSync(at('.recall'), { recursive: true, force: true })
    mkdirSync(at('.'), { recursive: true })
    writeFileSync(at('.recall'), 'mine')
    await expect(openFileMemory({ root })).rejects.toMatchObject({
      code: 'MEMORY_UNAVAILABLE',
      message: `${at('.recall')} is a file, and has to be a folder: move it away, and the folder is created again`,
    })
    expect(readFileSync(at('.recall'), 'utf8')).toBe('mine')
  })

  it('is not followed out of the memory', async () => {
    const { root, memory, at } = await openWithArchives(0)
    await memory.close()
    const outside = temporaryRoot()
    rmSync(at('.recall'), { recursive: true, force: true })
    mkdirSync(at('.'), { recursive: true })
    symlinkSync(outside, at('.recall'))
    await expect(openFileMemory({ root })).rejects.toMatchObject({ code: 'MEMORY_FORBIDDEN' })
    expect(readdirSync(outside)).toEqual([])
  })
})
