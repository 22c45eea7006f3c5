import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openWithArchives } from './open-with-archives.ts'

describe('a key that more than one kind of file can hold', () => {
  it('has the value that was written last, and none when it is deleted', async () => {
    const { memory, at } = await openWithArchives(0)
    await memory.write('long-term', 'MEMORY.md#a', 'a section')
    await memory.write('long-term', 'MEMORY.md#a', 'a note that expires', { ttl: 60_000 })
    expect(await memory.read('long-term', 'MEMORY.md#a')).toBe('a note that expires')
    await memory.write('long-term', 'MEMORY.md#a', 'a section again')
    expect(await memory.read('long-term', 'MEMORY.md#a')).toBe('a section again')
    expect(readdirSync(at('long-term'))).toEqual([])
    await memory.delete('long-term', 'MEMORY.md#a')
    expect(await memory.exists('long-term', 'MEMORY.md#a')).toBe(false)
    await memory.write('long-term', 'MEMORY.md#Mixed-Case', 'found again')
    expect(await memory.read('long-term', 'MEMORY.md#Mixed-Case')).toBe('found again')
    await memory.close()
  })

  it('is cleared also when two sections have one heading', async () => {
    const { memory, at } = await openWithArchives(0)
    mkdirSync(at(), { recursive: true })
    writeFileSync(at('MEMORY.md'), '## A\n\none\n\n## A\n\ntwo\n\n## A\n\nthree\n')
    expect(await memory.search('long-term', {})).toHaveLength(3)
    await memory.clear('long-term')
    expect(await memory.search('long-term', {})).toEqual([])
    await memory.close()
  })
})
