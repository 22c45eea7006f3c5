import { mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { FileSystem } from '../src/files/file-system.ts'
import { openFileMemory } from '../src/open-file-memory.ts'
import { coarseClockFileSystem as fileSystem } from './support/coarse-clock-file-system.ts'
import { expectVersions, keysOf, open } from './support/memory-in-files.ts'

describe('on a disk that tells times in steps of two seconds', () => {
  it('an edit that keeps the length of a file is found at once, also by whoever opens the memory next', async () => {
    const { memory, at, root } = await open({ fileSystem })
    await memory.write('long-term', 'note', 'the harbour')
    const edit = (from: string, to: string): void =>
      writeFileSync(at('long-term/note.md'), readFileSync(at('long-term/note.md'), 'utf8').replace(from, to))

    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    edit('harbour', 'hangars')
    expect(await keysOf(memory, 'harbour')).toEqual([])
    expect(await keysOf(memory, 'hangars')).toEqual(['note'])
    await memory.close()

    edit('hangars', 'shelter')
    const next = await openFileMemory({ root, fileSystem })
    expect(await keysOf(next, 'shelter')).toEqual(['note'])
    await next.close()
  })

  it('an archive whose file gets another name is read by its session', async () => {
    const { memory, at, root } = await open({ fileSystem })
    const archive = (number: number): string => at(`conversations/conversation-00${number}.md`)
    mkdirSync(at('conversations'), { recursive: true })
    writeFileSync(archive(1), '---\nsession_id: s1\n---\n\n### User\n\nin the harbour\n')
    expect(await memory.read('episodic', 'conversation:s1')).toMatchObject({ log: 1 })
    await memory.close()

    renameSync(archive(1), archive(2))
    const next = await openFileMemory({ root, fileSystem })
    expect(await next.search('episodic', { text: 'lighthouse' })).toEqual([])
    expect(await next.read('episodic', 'conversation:s1')).toMatchObject({ log: 2 })
    await next.close()
  })

  it.each([
    ['just changed', false],
    ['was just changed by a write of ours', true],
  ])('an archive of long ago is read under its new name, although its folder %s', async (_, isByUs) => {
    const { memory, at } = await open({ fileSystem })
    const archive = (number: number): string => at(`conversations/conversation-00${number}.md`)
    mkdirSync(at('conversations'), { recursive: true })
    for (const number of [1, 2]) {
      writeFileSync(archive(number), `---\nsession_id: s${number}\n---\n\n### User\n\nin the harbour\n`)
      utimesSync(archive(number), 0, 0)
    }
    if (isByUs) utimesSync(at('conversations'), 0, 0)
    expect(await memory.search('episodic', {})).toHaveLength(2)
    if (isByUs) await memory.delete('episodic', 'conversation:s1')
    expect(await memory.search('episodic', { text: 'lighthouse' })).toEqual([])

    renameSync(archive(2), archive(3))
    expect(await memory.search('episodic', { text: 'lighthouse' })).toEqual([])
    expect(await memory.read('episodic', 'conversation:s2')).toMatchObject({ log: 3 })
    await memory.close()
  })

  it('a search looks at a note that it finds twice, not as often as at one that goes on changing', async () => {
    let opened = 0
    const openSync: FileSystem['openSync'] = (path, ...rest) => {
      if (String(path).endsWith('note.md')) opened++
      return fileSystem.openSync(path, ...rest)
    }
    const { memory } = await open({ fileSystem: { ...fileSystem, openSync } })
    await memory.write('long-term', 'note', 'the harbour')
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    opened = 0
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    expect(opened).toBe(4)
  })
  it('a section has another version after every write, so that no write is lost to one that did not see it', async () => {
    const { memory } = await open({ fileSystem })
    await memory.write('long-term', 'MEMORY.md#a', 'text')
    await expectVersions(memory, 'MEMORY.md#a')
  })
})
