import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  conversationKey,
  conversationType,
  isMemoryError,
  type MemoryErrorCode,
  type MemoryManager,
  sessionSummaryKey,
  sessionSummaryType,
} from '@recall/core'
import { describe, expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { caseBlindFileSystem } from './case-blind-file-system.ts'
import { archiveOf, summaryOf } from './storm-values.ts'
import { temporaryRoot } from './temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

async function open(fileSystem?: FileSystem) {
  const root = temporaryRoot()
  const memory = await openFileMemory({ root, redact: 'allow', ...(fileSystem ? { fileSystem } : {}) })
  const at = (...names: string[]): string => join(root, 'memory', ...names)
  return { root, memory, at }
}

const keysOf = async (memory: MemoryManager, text: string): Promise<string[]> =>
  (await memory.search('long-term', { text })).map(({ key }) => key)

async function failure(call: Promise<unknown>, code: MemoryErrorCode): Promise<string> {
  const error = await call.then(
    () => 'no error',
    (reason: unknown) => reason,
  )
  expect(isMemoryError(error, code), String(error)).toBe(true)
  return String(error)
}

describe('what a person edits by hand', () => {
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

  it('is found, read and forgotten under any name that the file system takes', async () => {
    const { memory, at } = await open()
    const anywhere = ['C#', 'Q&A (old)', "it's + 🧠", 'a@b', 'x'.repeat(240)]
    const names = process.platform === 'win32' ? anywhere : [...anywhere, 'TODO: ask?', 'a"b*', 'aux', 'etc.']
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
    const { memory, at } = await open(caseBlindFileSystem)
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
    const { memory, at } = await open(fileSystem)
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
    const { memory, at } = await open(fileSystem)
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
    const update = ['a', 'b'].map((key) => ({ operation: 'set' as const, key, value: `new ${key}` }))
    await expect(victim.atomicUpdate('long-term', update)).rejects.toThrow()
    writeFileSync(at('long-term/b.md'), 'edited by hand')
    const later = await openFileMemory({ root, redact: 'allow' })
    expect(await later.read('long-term', 'a')).toBe('new a')
    expect(await later.read('long-term', 'b')).toBe('edited by hand')
    await later.close()
  })

  it('keeps its permissions when the memory overwrites the file', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'secret')
    chmodSync(at('long-term/note.md'), 0o600)
    await memory.write('long-term', 'note', 'still secret')
    expect(statSync(at('long-term/note.md')).mode & 0o777).toBe(0o600)
    await memory.close()
  })
})

describe('a file that cannot be read', () => {
  it('hides no other memory, is reported, is an error by key and is never rewritten', async () => {
    const { root, memory, at } = await open()
    await memory.write('long-term', 'good', 'the harbour')
    const bytes = Buffer.from([0x68, 0xff, 0xfe, 0x61])
    writeFileSync(at('long-term/bad.md'), bytes)
    symlinkSync('/etc/hostname', at('long-term/link.md'))
    expect(await keysOf(memory, 'harbour')).toEqual(['good'])
    expect(await failure(memory.read('long-term', 'bad'), 'MEMORY_CORRUPTION')).toContain('bad.md')
    await failure(memory.read('long-term', 'link'), 'MEMORY_FORBIDDEN')
    await failure(memory.write('long-term', 'bad', 'new'), 'MEMORY_CORRUPTION')
    await failure(memory.write('long-term', 'link', 'new'), 'MEMORY_FORBIDDEN')
    expect(readFileSync(at('long-term/bad.md'))).toEqual(bytes)
    const store = await openFileStore({ root })
    const files = checkUp(defaultFileSystem, store, { deep: true, fix: false }).find(
      ({ check }) => check === 'files',
    )
    expect(files?.message).toContain('bad.md')
    expect(files?.message).toContain('link.md')
    await store.close()
    writeFileSync(at('MEMORY.md'), bytes)
    await failure(memory.write('long-term', 'MEMORY.md#people', 'Ada'), 'MEMORY_CORRUPTION')
    expect(readFileSync(at('MEMORY.md'))).toEqual(bytes)
    await memory.close()
  })

  it('because a folder stands in its place is no empty file', async () => {
    const { root, memory, at } = await open()
    await memory.write('short-term', 'note', 'the harbour')
    mkdirSync(at('EPHEMERAL.md'))
    const notices: string[] = []
    const other = await openFileMemory({ root, onNotice: (notice) => notices.push(notice) })
    expect((await other.search('short-term', { text: 'harbour' })).map(({ key }) => key)).toEqual(['note'])
    expect(notices.join()).toContain('not searched')
    expect(await failure(other.search('short-term', {}), 'MEMORY_UNAVAILABLE')).toContain('EPHEMERAL.md')
    rmdirSync(at('EPHEMERAL.md'))
    expect((await other.search('short-term', {})).map(({ key }) => key)).toEqual(['note'])
    await other.close()
    await memory.close()
  })

  it('that nests JSON deeper than a memory takes is reported and disturbs nobody', async () => {
    const { root, memory, at } = await open()
    await memory.write('long-term', 'good', 'the harbour')
    const json = '['.repeat(60_000) + ']'.repeat(60_000)
    writeFileSync(at('long-term/deep.md'), `---\nformat: "json"\n---\n\`\`\`json\n${json}\n\`\`\`\n`)
    expect(await keysOf(memory, 'harbour')).toEqual(['good'])
    expect(await failure(memory.read('long-term', 'deep'), 'MEMORY_CORRUPTION')).toContain('deep.md')
    expect(await memory.cleanup()).toMatchObject({ errors: [] })
    const store = await openFileStore({ root })
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    expect(findings.find(({ check }) => check === 'files')?.message).toContain('deep.md')
    await store.close()
    await memory.close()
  })

  it('for a reason that passes is found again by itself', async () => {
    let broken = true
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      openSync(path, flags, mode) {
        if (broken && String(path).endsWith('note.md'))
          throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
        return defaultFileSystem.openSync(path, flags, mode)
      },
    }
    const { memory, at } = await open(fileSystem)
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(at('long-term/note.md'), 'the harbour')
    expect(await keysOf(memory, 'harbour')).toEqual([])
    await failure(memory.clear('long-term'), 'MEMORY_UNAVAILABLE')
    broken = false
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    await memory.close()
  })
})

describe('a way out of the root', () => {
  it.each(['../outside', '../../outside', '/etc/passwd', '..', 'a/../../b', 'C:\\x', '..\\x'])(
    'is not taken by a key: %s',
    async (key) => {
      const { root, memory, at } = await open()
      await memory.write('long-term', key, 'inside')
      expect(await memory.read('long-term', key)).toBe('inside')
      expect(readdirSync(at('long-term'))).toHaveLength(1)
      expect(readdirSync(root)).toEqual(['memory'])
      await memory.close()
    },
  )

  it('is not taken by a folder that is a link', async () => {
    const { memory, at } = await open()
    const outside = temporaryRoot()
    writeFileSync(join(outside, 'private.md'), 'a private harbour')
    await memory.write('episodic', 'kept', 'inside')
    symlinkSync(outside, at('long-term'))
    await failure(memory.read('long-term', 'private'), 'MEMORY_FORBIDDEN')
    await failure(memory.write('long-term', 'new', 'x'), 'MEMORY_FORBIDDEN')
    await failure(memory.search('long-term', { text: 'harbour' }), 'MEMORY_FORBIDDEN')
    expect(readdirSync(outside)).toEqual(['private.md'])
    expect(await memory.read('episodic', 'kept')).toBe('inside')
    await memory.close()
  })
})

const everyCall = (memory: MemoryManager): (() => Promise<unknown>)[] => [
  () => memory.write('long-term', 'note', 'x'),
  () => memory.write('short-term', 'other', 'x', { overwrite: false }),
  () => memory.write('long-term', 'MEMORY.md#other', 'x'),
  () => memory.batchWrite('long-term', [{ key: 'other', value: 'x' }]),
  () => memory.atomicUpdate('long-term', [{ operation: 'delete', key: 'note' }]),
  () => memory.delete('long-term', 'note'),
  () => memory.clear('long-term'),
  () => memory.read('long-term', 'note'),
  () => memory.batchRead('long-term', ['note']),
  () => memory.exists('long-term', 'note'),
  () => memory.search('long-term', {}),
  () => memory.search('episodic', {}, { includeArchived: true }),
  () => memory.read('episodic', 'old', { includeArchived: true }),
  () => memory.restore('episodic', 'old'),
]

describe('what is not there', () => {
  it.each(['m', 'm/memory'])('is an error and never an empty memory: %s', async (folder) => {
    const place = temporaryRoot()
    const root = join(place, 'm')
    const gone = join(place, folder)
    await failure(openFileMemory({ root }), 'MEMORY_UNAVAILABLE')
    const memory = await openFileMemory({ root, create: true })
    await memory.write('long-term', 'note', 'the harbour')
    await memory.search('long-term', { text: 'harbour' })
    renameSync(gone, join(place, 'away'))
    await failure(memory.read('long-term', 'note'), 'MEMORY_UNAVAILABLE')
    await failure(memory.search('long-term', { text: 'harbour' }), 'MEMORY_UNAVAILABLE')
    for (const call of everyCall(memory)) await failure(call(), 'MEMORY_UNAVAILABLE')
    expect((await memory.cleanup()).errors).not.toEqual([])
    expect(existsSync(gone)).toBe(false)
    renameSync(join(place, 'away'), gone)
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    await memory.close()
  })

  it.each(['memory/conversations', 'memory/namespaces/team'])(
    'is an error until the loss is accepted: the folder %s',
    async (folder) => {
      const { root, memory } = await open()
      const team = await openFileMemory({ root, namespace: 'team' })
      await team.write('long-term', 'note', 'theirs')
      await team.close()
      await memory.write('episodic', conversationKey('s'), archiveOf('s', 1), { type: conversationType })
      await memory.search('episodic', {})
      rmSync(join(root, folder), { recursive: true })
      expect(await failure(memory.search('episodic', {}), 'MEMORY_UNAVAILABLE')).toContain(folder)
      const store = await openFileStore({ root })
      store.reindex({ full: true })
      await store.close()
      await memory.search('episodic', {})
      await memory.close()
    },
  )

  it('a stray file among the namespaces disturbs nobody', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'the harbour')
    mkdirSync(at('namespaces'))
    writeFileSync(at('namespaces/.DS_Store'), '')
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
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

it('refuses a root that holds two layouts until it is told which one to use', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory/conversations'), { recursive: true })
  mkdirSync(join(root, 'memories'))
  await failure(openFileMemory({ root }), 'MEMORY_CONFLICT')
  const memory = await openFileMemory({ root, layout: 'user' })
  await memory.write('episodic', conversationKey('s'), archiveOf('s', 1), { type: conversationType })
  expect(readdirSync(join(root, 'memories'))).toEqual(['archive-log-001.md'])
  await memory.close()
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
