import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { conversationKey, conversationType, sessionSummaryKey, sessionSummaryType } from '@recall/core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileMemory } from '../src/open-file-memory.ts'
import { caseBlindFileSystem } from './support/case-blind-file-system.ts'
import { failure, keysOf, open } from './support/memory-in-files.ts'
import { isPosix } from './support/platform.ts'
import { archiveOf, summaryOf } from './support/storm-values.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

describe('what a person edits by hand', () => {
  it('while several files are about to change stays, and so does what is written', async () => {
    let save: (() => void) | undefined
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      renameSync(from, to) {
        defaultFileSystem.renameSync(from, to)
        if (String(to).endsWith('journal.json')) save?.()
      },
    }
    const { memory, at } = await open({ fileSystem })
    await memory.write('long-term', 'MEMORY.md#people', 'Ada')
    save = () => {
      save = undefined
      writeFileSync(at('MEMORY.md'), '## Mine\n\nby hand\n')
    }
    const batch = [
      { key: 'MEMORY.md#people', value: 'Grace' },
      { key: 'note', value: 'text' },
    ]
    await memory.batchWrite('long-term', batch)
    expect(readFileSync(at('MEMORY.md'), 'utf8')).toBe('## Mine\n\nby hand\n\n## People\n\nGrace\n')
    expect(await memory.read('long-term', 'note')).toBe('text')
    expect(readdirSync(at('long-term'))).toEqual(['note.md'])
    expect(readdirSync(at('.recall'))).not.toContain('journal.json')
  })

  it('is what the next read and search return', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'the harbour', { tags: ['old'] })
    await memory.search('long-term', { text: 'harbour' })
    const path = at('long-term/note.md')
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('the harbour', 'the lighthouse').replace('"old"', '"new"'),
    )
    expect(await memory.read('long-term', 'note')).toBe('the lighthouse')
    expect(await keysOf(memory, 'lighthouse')).toEqual(['note'])
    expect(await keysOf(memory, 'harbour')).toEqual([])
    expect(await memory.search('long-term', { tags: ['new'] })).toHaveLength(1)
    await memory.close()
  })

  it('is noticed although size and modification time were put back', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'the harbour')
    await memory.search('long-term', { text: 'harbour' })
    const path = at('long-term/note.md')
    const { atime, mtime } = statSync(path)
    writeFileSync(path, readFileSync(path, 'utf8').replace('harbour', 'hangars'))
    utimesSync(path, atime, mtime)
    expect(await keysOf(memory, 'hangars')).toEqual(['note'])
    await memory.close()
  })

  it('is a version of its own, although nobody brings the line `updated` up to date', async () => {
    const { memory, at } = await open()
    const path = at('long-term/note.md')
    await memory.write('long-term', 'note', 'the harbour')
    const before = await memory.read('long-term', 'note', { includeMetadata: true })
    const updated = before?.metadata.updatedAt as number
    writeFileSync(path, readFileSync(path, 'utf8').replace('harbour', 'lighthouse'))
    utimesSync(path, new Date(), new Date(updated + 5000))
    for (const change of [
      { operation: 'set', key: 'note', value: 'the pier', ifUpdatedAt: updated },
      { operation: 'delete', key: 'note', ifUpdatedAt: updated },
    ] as const) {
      await expect(memory.atomicUpdate('long-term', [change])).rejects.toMatchObject({
        code: 'MEMORY_CONFLICT',
      })
    }
    const after = await memory.read('long-term', 'note', { includeMetadata: true })
    expect(after).toMatchObject({ value: 'the lighthouse', metadata: { updatedAt: updated + 5000 } })
    const [found] = await memory.search('long-term', { text: 'lighthouse' })
    expect(found?.metadata.updatedAt).toBe(updated + 5000)
    await memory.close()
  })

  it('is not what git, a copy or an editor does to a file without changing what it says', async () => {
    const { memory, at } = await open()
    const path = at('long-term/note.md')
    await memory.write('long-term', 'note', 'the harbour', { tags: ['sea'] })
    const before = await memory.read('long-term', 'note', { includeMetadata: true })
    const same = readFileSync(path, 'utf8')
      .replace('tags: ["sea"]', 'tags:\n  - sea')
      .replaceAll('\n', '\r\n')
    writeFileSync(path, `${same}\r\n`)
    utimesSync(path, new Date(), new Date(Date.now() + 5000))
    const after = await memory.read('long-term', 'note', { includeMetadata: true })
    expect(after?.metadata.updatedAt).toBe(before?.metadata.updatedAt)
    await memory.close()
  })

  it('is told with plain line ends, also where all lines of its file end as on Windows', async () => {
    const { memory, at } = await open()
    mkdirSync(at(''), { recursive: true })
    writeFileSync(at('MEMORY.md'), '## Sea\r\n\r\nThe harbour\r\nis deep.\r\n\r\n## Land\r\n\r\nA hill.\r\n')
    const [found] = await memory.search('long-term', { text: 'harbour' }, { passages: 1 })
    expect(found?.passage?.text).toBe('## Sea\n\nThe harbour\nis deep.')
    expect(found?.value).toBe('The harbour\nis deep.')
    await memory.close()
  })

  it('is as new as its file where it names no time, also when it says the same again', async () => {
    const { memory, at } = await open()
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(at('long-term/note.md'), 'the harbour\n')
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    const later = new Date(Date.now() + 60_000)
    utimesSync(at('long-term/note.md'), later, later)
    const filters = { updatedAt: { gte: later.getTime() } }
    expect(await memory.search('long-term', { filters })).toMatchObject([{ key: 'note' }])
    await memory.close()
  })

  it('keeps an old entry from being archived or cleared by its age', async () => {
    let now = Date.now() - 100 * 86_400_000
    const { memory, at } = await open({ clock: () => now })
    const path = at('episodic/deploy.md')
    await memory.write('episodic', 'deploy', 'went well')
    writeFileSync(path, readFileSync(path, 'utf8').replace('well', 'badly'))
    now = Date.now()
    const archiveBefore = now - 90 * 86_400_000
    expect(await memory.cleanup({ scope: 'episodic', archiveBefore })).toMatchObject({ archived: 0 })
    await memory.clear('episodic', { olderThan: archiveBefore })
    expect(await memory.read('episodic', 'deploy')).toBe('went badly')
    await memory.close()
  })

  it('says when an entry ends, however long reads had prolonged it', async () => {
    let now = Date.now()
    const { memory, at } = await open({ clock: () => now })
    const path = at('long-term/note.md')
    await memory.write('long-term', 'note', 'the harbour', { ttl: 3_600_000 })
    now += 1_800_000
    await memory.read('long-term', 'note')
    const ended = new Date(now - 1000).toISOString()
    writeFileSync(path, readFileSync(path, 'utf8').replace(/expires: .*/, `expires: "${ended}"`))
    expect(await memory.read('long-term', 'note')).toBeNull()
    await memory.close()
  })

  it('in the front matter of a note stays when the memory writes it again', async () => {
    const { memory, at } = await open()
    const path = at('long-term/note.md')
    const added = '# ask Ana first\naliases: [harbours, quay]\n'
    for (const rewrite of [
      () => memory.write('long-term', 'note', 'the lighthouse', { tags: ['new'] }),
      () => memory.atomicUpdate('long-term', [{ operation: 'set', key: 'note', value: 'the lighthouse' }]),
    ]) {
      await memory.delete('long-term', 'note')
      await memory.write('long-term', 'note', 'the harbour', { tags: ['old'], type: 'place' })
      writeFileSync(path, readFileSync(path, 'utf8').replace('tags:', `${added}tags:`))
      await rewrite()
      expect(readFileSync(path, 'utf8')).toContain(added)
      const record = await memory.read('long-term', 'note', { includeMetadata: true })
      expect(record).toMatchObject({ value: 'the lighthouse', metadata: { type: null } })
      expect(record?.metadata.tags).not.toContain('old')
    }
    await memory.delete('long-term', 'note')
    await memory.write('long-term', 'note', 'the harbour')
    expect(readFileSync(path, 'utf8')).not.toContain('aliases')
    await memory.close()
  })

  it('prolongs an entry as a write does', async () => {
    let now = Date.now()
    const { memory, at } = await open({ clock: () => now })
    const path = at('long-term/note.md')
    await memory.write('long-term', 'note', 'the harbour', { ttl: 3_600_000 })
    for (let i = 0; i < 5; i++) {
      now += 3_000_000
      await memory.read('long-term', 'note')
    }
    writeFileSync(path, readFileSync(path, 'utf8').replace('harbour', 'lighthouse'))
    utimesSync(path, now / 1000, now / 1000)
    now += 3_000_000
    expect(await memory.read('long-term', 'note')).toBe('the lighthouse')
    now += 3_600_001
    expect(await memory.read('long-term', 'note')).toBeNull()
    await memory.close()
  })

  it('is found as long as it lives by the time of its file, also when that was saved as it is', async () => {
    let now = Date.now()
    const { memory, at } = await open({ clock: () => now })
    mkdirSync(at('long-term'), { recursive: true })
    const save = (): void => {
      writeFileSync(at('long-term/note.md'), '---\nttl: 3600000\n---\nthe harbour\n')
      utimesSync(at('long-term/note.md'), now / 1000, now / 1000)
    }
    save()
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    now += 3_000_000
    save()
    now += 3_000_000
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    await memory.close()
  })

  it.each(['Project Ideas', 'Größe', '日本語', 'README', 'a (copy)', "it's"])(
    'may be a new file of any name, which is its key: %s',
    async (name) => {
      const { memory, at } = await open()
      mkdirSync(at('long-term'), { recursive: true })
      writeFileSync(at('long-term', `${name}.md`), 'written by hand')
      expect(await keysOf(memory, 'hand')).toEqual([name])
      expect(await memory.read('long-term', name)).toBe('written by hand')
      await memory.write('long-term', name, 'written by an agent')
      expect(readdirSync(at('long-term'))).toEqual([`${name}.md`])
      expect(await keysOf(memory, 'agent')).toEqual([name])
      await memory.delete('long-term', name)
      expect(readdirSync(at('long-term'))).toEqual([])
      await memory.close()
    },
  )

  it('may be a file that is renamed or deleted', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'before', 'the harbour')
    await memory.search('long-term', { text: 'harbour' })
    renameSync(at('long-term/before.md'), at('long-term/after.md'))
    expect(await keysOf(memory, 'harbour')).toEqual(['after'])
    expect(await memory.read('long-term', 'before')).toBe(null)
    rmSync(at('long-term/after.md'))
    expect(await keysOf(memory, 'harbour')).toEqual([])
    await memory.close()
  })

  it('may be the removal of a folder whose last file went before', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'the harbour')
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    rmSync(at('long-term/note.md'))
    expect(await keysOf(memory, 'harbour')).toEqual([])
    rmdirSync(at('long-term'))
    expect(await keysOf(memory, 'harbour')).toEqual([])
    await memory.close()
  })

  it('is found, read and forgotten under any name that the file system takes', async () => {
    const { memory, at } = await open()
    const anywhere = ['C#', 'Q&A (old)', "it's + 🧠", 'a@b', 'x'.repeat(240)]
    const names = isPosix ? [...anywhere, 'TODO: ask?', 'a"b*', 'aux', 'etc.'] : anywhere
    mkdirSync(at('long-term'), { recursive: true })
    for (const name of names) {
      writeFileSync(at(`${name}.md`), '## People\n\nAda\n')
      writeFileSync(at('long-term', `${name}.md`), 'a note\n')
    }
    const keys = names.flatMap((name) => [name, `${name}.md#people`])
    const found = async (): Promise<string[]> =>
      (await memory.search('long-term', {}, { limit: 100 })).map(({ key }) => key).sort()
    expect(await found()).toEqual([...keys].sort())
    const read = await memory.batchRead('long-term', keys)
    expect([...read.values()]).toEqual(names.flatMap(() => ['a note', 'Ada']))
    await memory.delete('long-term', 'C#')
    await memory.write('long-term', 'C#.md#people', 'Grace')
    expect(readFileSync(at('C#.md'), 'utf8')).toBe('## People\n\nGrace\n')
    expect(await found()).toEqual(keys.slice(1).sort())
    await memory.clear('long-term')
    expect(await found()).toEqual([])
    await memory.close()
  })

  it('has its own key where the disk ignores case, and no other is written over it', async () => {
    const { memory, at } = await open({ fileSystem: caseBlindFileSystem })
    await memory.write('long-term', 'other', 'a pier')
    writeFileSync(at('long-term/Ideas.md'), 'the harbour\n')
    writeFileSync(at('long-term/caf\u00e9.md'), 'the quay\n')
    expect(await memory.read('long-term', 'Ideas')).toBe('the harbour')
    expect(await memory.read('long-term', 'caf\u00e9')).toBe('the quay')
    for (const key of ['ideas', 'IDEAS', 'cafe\u0301']) {
      expect(await memory.read('long-term', key)).toBe(null)
      await memory.delete('long-term', key)
    }
    expect(await failure(memory.write('long-term', 'ideas', 'mine'), 'MEMORY_CONFLICT')).toContain('ideas.md')
    await memory.write('long-term', 'IDEAS', 'yours')
    expect(await memory.read('long-term', 'IDEAS')).toBe('yours')
    expect(readFileSync(at('long-term/Ideas.md'), 'utf8')).toBe('the harbour\n')
    await memory.close()
  })

  it('may be a copy of an archive, which is found too, and replaces it when that is deleted', async () => {
    const { memory, at } = await open()
    const archive = (number: number): string => at(`conversations/conversation-00${number}.md`)
    for (const part of [1, 2]) {
      const value = { ...archiveOf('ada@host', part), body: 'The walrus.\n', ...(part > 1 ? { part } : {}) }
      await memory.write('episodic', conversationKey('ada@host', part), value, { type: conversationType })
    }
    copyFileSync(archive(2), archive(3))
    copyFileSync(archive(1), archive(4))
    expect(await memory.search('episodic', { text: 'walrus' })).toHaveLength(4)
    rmSync(archive(1))
    expect(await memory.search('episodic', { text: 'walrus' })).toHaveLength(3)
    expect(await memory.read('episodic', conversationKey('ada@host'))).toMatchObject({ log: 4 })
    await memory.close()
  })

  it('in MEMORY.md and EPHEMERAL.md stays when the memory writes its own parts', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'MEMORY.md#people', 'Ada')
    writeFileSync(
      at('MEMORY.md'),
      `# Memory\r\n\r\nOdd  spacing\t\r\n\n${readFileSync(at('MEMORY.md'), 'utf8')}\n## Places\n\n\n\nDelft\n`,
    )
    writeFileSync(at('EPHEMERAL.md'), '# Now\n\nTitle\n---\nby hand   \n')
    await memory.write('long-term', 'MEMORY.md#people', 'Grace')
    await memory.write('short-term', sessionSummaryKey('s'), summaryOf('s', 1), {
      type: sessionSummaryType,
      ttl: Number.POSITIVE_INFINITY,
    })
    expect(readFileSync(at('MEMORY.md'), 'utf8')).toBe(
      '# Memory\r\n\r\nOdd  spacing\t\r\n\n## People\n\nGrace\n\n## Places\n\n\n\nDelft\n',
    )
    expect(readFileSync(at('EPHEMERAL.md'), 'utf8').startsWith('# Now\n\nTitle\n---\nby hand   \n')).toBe(
      true,
    )
    await memory.delete('short-term', sessionSummaryKey('s'))
    expect(readFileSync(at('EPHEMERAL.md'), 'utf8').trimEnd()).toBe('# Now\n\nTitle\n---\nby hand')
    expect(await memory.read('long-term', 'MEMORY.md#places')).toBe('Delft')
    await memory.close()
  })

  it('at the very moment of a write is kept, and so is what was written', async () => {
    let edits = 0
    let path = ''
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      fsyncSync(descriptor) {
        // Between what the memory read and what it puts in place.
        if (path !== '' && edits++ === 0)
          writeFileSync(path, `${readFileSync(path, 'utf8')}\n## Mine\n\nby hand\n`)
        defaultFileSystem.fsyncSync(descriptor)
      },
    }
    const { memory, at } = await open({ fileSystem })
    await memory.write('long-term', 'MEMORY.md#people', 'Ada')
    path = at('MEMORY.md')
    await memory.write('long-term', 'MEMORY.md#people', 'Grace')
    expect(edits).toBeGreaterThan(1)
    expect(await memory.read('long-term', 'MEMORY.md#people')).toBe('Grace')
    expect(await memory.read('long-term', 'MEMORY.md#mine')).toBe('by hand')
    await memory.close()
  })

  it('without pause is not overwritten: the write gives up', async () => {
    let path = ''
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      fsyncSync(descriptor) {
        if (path !== '') writeFileSync(path, `${readFileSync(path, 'utf8')}more\n`)
        defaultFileSystem.fsyncSync(descriptor)
      },
    }
    const { memory, at } = await open({ fileSystem })
    await memory.write('long-term', 'MEMORY.md#people', 'Ada')
    path = at('MEMORY.md')
    expect(
      await failure(memory.write('long-term', 'MEMORY.md#people', 'Grace'), 'MEMORY_CONFLICT'),
    ).toContain(path)
    path = ''
    expect(await memory.read('long-term', 'MEMORY.md#people')).toContain('more')
    await memory.close()
  })

  it('after a writer died in the middle is newer than the unfinished write', async () => {
    const { root, memory, at } = await open()
    await memory.write('long-term', 'a', 'old a')
    await memory.write('long-term', 'b', 'old b')
    await memory.close()
    let renames = 0
    const dying: FileSystem = {
      ...defaultFileSystem,
      renameSync(from, to) {
        // The journal is in place, the files are not.
        if (++renames > 1) throw new Error('died')
        defaultFileSystem.renameSync(from, to)
      },
    }
    const victim = await openFileMemory({ root, redact: 'allow', fileSystem: dying })
    onTestFinished(() => victim.close())
    const update = ['a', 'b'].map((key) => ({ operation: 'set' as const, key, value: `new ${key}` }))
    await expect(victim.atomicUpdate('long-term', update)).rejects.toThrow()
    writeFileSync(at('long-term/b.md'), 'edited by hand')
    const later = await openFileMemory({ root, redact: 'allow' })
    expect(await later.read('long-term', 'a')).toBe('new a')
    expect(await later.read('long-term', 'b')).toBe('edited by hand')
    await later.close()
  })

  it.runIf(isPosix)('keeps its permissions when the memory overwrites the file', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'secret')
    // The second is one of a group, whose members the umask would shut out.
    for (const mode of [0o600, 0o664]) {
      chmodSync(at('long-term/note.md'), mode)
      await memory.write('long-term', 'note', `of mode ${mode}`)
      expect(statSync(at('long-term/note.md')).mode & 0o777).toBe(mode)
    }
    await memory.close()
  })
})

describe('odd content', () => {
  it('of a hundred megabytes in one line is found and read in bounded time', async () => {
    const { memory, at } = await open()
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(at('long-term/huge.md'), `${'x'.repeat(1024 * 1024 * 100)} harbour`)
    await memory.write('long-term', 'small', 'the lighthouse')
    expect(await keysOf(memory, 'lighthouse')).toEqual(['small'])
    expect(await keysOf(memory, 'harbour')).toEqual(['huge'])
    await memory.close()
  })

  it('under two thousand keys of every script is kept apart', async () => {
    const { memory } = await open()
    const keys = Array.from(
      { length: 400 },
      (_, i) => [`ключ ${i}`, `キー${i}`, `e\u0301${i}`, `é${i}`, `KEY${i}`].at(i % 5) as string,
    ) // prettier-ignore
    const long = ['x'.repeat(1024), `${'x'.repeat(1023)}y`, 'A'.repeat(1024), '😀'.repeat(64)]
    for (const key of [...keys, ...long]) await memory.write('long-term', key, `value of ${key}`)
    for (const key of [...keys, ...long]) expect(await memory.read('long-term', key)).toBe(`value of ${key}`)
    expect(await memory.search('long-term', {}, { limit: 1000 })).toHaveLength(404)
    await memory.close()
  })

  it('under a name that belongs to another key is not overwritten', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'Odd Key', 'mine')
    const [name = ''] = readdirSync(at('long-term'))
    writeFileSync(at('long-term', name), 'no front matter any more')
    await failure(memory.write('long-term', 'Odd Key', 'new'), 'MEMORY_CONFLICT')
    await failure(
      memory.atomicUpdate('long-term', [{ operation: 'set', key: 'Odd Key', value: 'new' }]),
      'MEMORY_CONFLICT',
    )
    expect(await memory.read('long-term', name.slice(0, -3))).toBe('no front matter any more')
    await memory.close()
  })
})

it('keeps its order when the clock goes back', async () => {
  let now = Date.UTC(2026, 5, 1)
  const memory = await openFileMemory({ root: temporaryRoot(), clock: () => now })
  await memory.write('long-term', 'first', 'harbour', { ttl: 60_000 })
  now -= 3_600_000
  await memory.write('long-term', 'second', 'harbour')
  expect((await memory.search('long-term', { text: 'harbour' })).map(({ key }) => key)).toEqual([
    'first',
    'second',
  ])
  expect(await memory.read('long-term', 'first')).toBe('harbour')
  await memory.close()
})
