import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fileStem } from '../src/files/paths.ts'
import { expectVersions } from './support/memory-in-files.ts'
import { openWithArchives } from './support/open-with-archives.ts'

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

  it('is free again when it is deleted where a person has put a note beside the section', async () => {
    const { memory, at } = await openWithArchives(0)
    await memory.write('long-term', 'MEMORY.md#a', 'a section')
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(at('long-term', `${fileStem('MEMORY.md#a')}.md`), '---\nkey: "MEMORY.md#a"\n---\na note\n')
    await memory.delete('long-term', 'MEMORY.md#a')
    expect(await memory.exists('long-term', 'MEMORY.md#a')).toBe(false)
    await memory.close()
  })

  it('is that of one section of many with one heading, also when several go at once', async () => {
    const { memory, at } = await openWithArchives(1)
    const sections = Array.from({ length: 11 }, (_, i) => `## Note\n\ntext ${i + 1}\n`)
    writeFileSync(at('MEMORY.md'), sections.join('\n'))
    const deletions = [2, 10].map((n) => ({ operation: 'delete', key: `MEMORY.md#note-${n}` }) as const)
    await memory.atomicUpdate('long-term', deletions)
    const left = sections.filter((_, i) => i !== 1 && i !== 9)
    expect(readFileSync(at('MEMORY.md'), 'utf8')).toBe(left.join('\n'))
    await memory.close()
  })

  it('has another version after every write, however fast they follow each other', async () => {
    const { memory, at } = await openWithArchives(0)
    await memory.write('long-term', 'MEMORY.md#a', 'text')
    // A clock that has not moved since.
    const ahead = Date.now() / 1000 + 60
    utimesSync(at('MEMORY.md'), ahead, ahead)
    await expectVersions(memory, 'MEMORY.md#a')
    await memory.close()
  })

  it.each(['EPHEMERAL.md#a', 'ARCHIVE.md#a', 'ephemeral.md#a'])(
    'is refused for a section of a file that holds something else, whatever its case: %s',
    async (key) => {
      const { memory, at } = await openWithArchives(1)
      const before = readdirSync(at())
      await expect(memory.write('long-term', key, 'text')).rejects.toMatchObject({
        code: 'MEMORY_INVALID_INPUT',
        message: expect.stringContaining('choose another file'),
      })
      expect(await memory.read('long-term', key)).toBe(null)
      expect(readdirSync(at())).toEqual(before)
      await memory.close()
    },
  )

  it.each([
    ['tags', 'text', { tags: ['t'] }, 'cannot have tags'],
    ['a type', 'text', { type: 'rule' }, 'cannot have a type'],
    ['a text of its own', 'text', { text: 'other words' }, 'leave out text and index'],
    ['words that nobody may find', 'text', { index: false }, 'leave out text and index'],
    ['half a character', 'cut \ud83d', {}, 'half a character'],
    ['an open code block', 'See:\n```\ncode', {}, 'does not close'],
    ['an open comment', 'See:\n<!-- later', {}, 'does not close'],
    ['a heading', ' ## A heading', {}, 'write that section under its own key'],
  ])('is refused for a section with %s, which its file cannot hold', async (_, value, options, reason) => {
    const { memory } = await openWithArchives(0)
    await memory.write('long-term', 'MEMORY.md#a', 'kept', { type: 'section' })
    await expect(memory.write('long-term', 'MEMORY.md#a', value, options)).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining(reason),
    })
    expect(await memory.read('long-term', 'MEMORY.md#a')).toBe('kept')
    await memory.close()
  })

  it.each(['', ' \n'])('is refused for a blank introduction, which is none: %j', async (blank) => {
    const { memory } = await openWithArchives(0)
    await memory.write('long-term', 'MEMORY.md#intro', 'kept')
    await expect(memory.write('long-term', 'MEMORY.md#intro', blank)).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining('cannot be blank: delete it'),
    })
    expect(await memory.read('long-term', 'MEMORY.md#intro')).toBe('kept')
    await memory.write('long-term', 'MEMORY.md#a', blank)
    expect(await memory.read('long-term', 'MEMORY.md#a')).toBe('')
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
