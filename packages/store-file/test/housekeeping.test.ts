import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  conversationKey,
  conversationType,
  createMemoryManager,
  isMemoryError,
  MemoryErrorCode,
} from '@recall/core'
import { createTicker } from '@recall/core/conformance'
import { thisProcess } from '@recall/core/process'
import { describe, expect, it } from 'vitest'
import { readConfig, setConfig } from '../src/config.ts'
import { defaultConfig } from '../src/default-config.ts'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { layouts } from '../src/layout/layout.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { scrubFiles } from '../src/scrub.ts'
import { readStatus } from '../src/status.ts'
import { addTombstones, readTombstones } from '../src/tombstones.ts'
import { archiveOf } from './storm-values.ts'
import { temporaryRoot } from './temporary-root.ts'

async function openWithArchives(count: number) {
  const root = temporaryRoot()
  const notices: string[] = []
  const store = await openFileStore({ root, onNotice: (text) => notices.push(text) })
  const memory = createMemoryManager({ stores: store, redact: 'allow' })
  for (let i = 1; i <= count; i++) {
    await memory.write('episodic', conversationKey(`s${i}`), archiveOf(`s${i}`, i), {
      type: conversationType,
    })
  }
  return { root, store, memory, notices, at: (...names: string[]) => join(root, 'memory', ...names) }
}

it('refuses a root that is no path and a layout that does not exist', async () => {
  const folder = temporaryRoot()
  for (const wrong of [
    { root: undefined },
    { root: '' },
    { root: pathToFileURL(folder) },
    { root: folder, layout: 'flat' },
  ]) {
    const error = await openFileMemory(wrong as never).catch((error: unknown) => error)
    expect(isMemoryError(error, MemoryErrorCode.INVALID_INPUT) && error.message).toMatch(
      /^(?:root|layout) is /,
    )
  }
})

it('a root that is opened in the other layout misses nothing, and reads its files anew', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory'))
  writeFileSync(join(root, 'EPHEMERAL.md'), 'The walrus waits.\n')
  writeFileSync(join(root, 'memory/EPHEMERAL.md'), 'The zebra crosses.\n')
  const found = async (layout: 'entity' | 'user', text: string) => {
    const memory = await openFileMemory({ root, layout })
    const matches = await Promise.all([
      memory.search('short-term', { text }),
      memory.search('long-term', { text }),
    ])
    await memory.close()
    return matches.map(({ length }) => length)
  }
  for (let round = 0; round < 2; round++) {
    expect(await found('user', 'walrus')).toEqual([1, 0])
    expect(await found('user', 'zebra')).toEqual([0, 1])
    expect(await found('entity', 'walrus')).toEqual([0, 0])
    expect(await found('entity', 'zebra')).toEqual([1, 0])
  }
})

it('a root that is a file, or lies in one, is refused', async () => {
  const file = join(temporaryRoot(), 'file')
  writeFileSync(file, '')
  for (const root of [file, join(file, 'below')])
    for (const create of [false, true])
      await expect(openFileMemory({ root, create })).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
})

it('a root that its owner does not let anybody read is refused in a sentence', async () => {
  const root = temporaryRoot()
  const refuse = () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  }
  const fileSystem = { ...defaultFileSystem, lstatSync: refuse, readdirSync: refuse } as unknown as FileSystem
  const refusal = { code: 'MEMORY_UNAVAILABLE', message: expect.stringContaining('check who may read it') }
  await expect(openFileMemory({ root, fileSystem })).rejects.toMatchObject(refusal)
  expect(() => readStatus(fileSystem, root, layouts.entity, { config: defaultConfig })).toThrow(
    expect.objectContaining(refusal),
  )
})

describe('the doctor', () => {
  it('adds and removes rows of ARCHIVE.md and leaves what people wrote there', async () => {
    const { store, memory, at } = await openWithArchives(3)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    writeFileSync(at('ARCHIVE.md'), `My own words.\n\n${table.replace(/^\| 002 .*\n/m, '')}| 009 | gone |\n`)
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(bad.map(({ message }) => message)).toEqual(['archive 2 has no row; row 9 has no archive'])
    checkUp(defaultFileSystem, store, { deep: false, fix: true })
    const mended = readFileSync(at('ARCHIVE.md'), 'utf8')
    expect(mended.startsWith('My own words.\n')).toBe(true)
    expect(mended.match(/^\| 00\d/gm)?.sort()).toEqual(['| 001', '| 002', '| 003'])
    expect(checkUp(defaultFileSystem, store, { deep: true, fix: false }).filter(({ ok }) => !ok)).toEqual([])
    await memory.close()
  })

  it('names a note whose file no longer bears the name of its key', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const key = 'project:deploy notes'
    await memory.write('long-term', key, 'text')
    const [name = ''] = readdirSync(at('long-term'))
    renameSync(at('long-term', name), at('long-term/deploy.md'))
    expect(await memory.read('long-term', 'deploy')).toBe('text')
    await memory.search('long-term', { text: 'text' })
    const files = checkUp(defaultFileSystem, store, { deep: false, fix: false }).find(
      ({ check }) => check === 'files',
    )
    expect(files).toMatchObject({
      ok: false,
      message: expect.stringContaining('memory/long-term/deploy.md: its front matter has another key'),
    })
    await memory.close()
  })

  it('names what a person put where nobody reads it', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const places = () =>
      checkUp(defaultFileSystem, store, { deep: false, fix: false }).find(({ check }) => check === 'places')
    writeFileSync(at('topic.md'), 'read')
    expect(places()).toMatchObject({ ok: true })
    renameSync(at('conversations/conversation-001.md'), at('conversations/about the bridge.md'))
    mkdirSync(at('long-term/projects'), { recursive: true })
    writeFileSync(at('long-term/projects/plan.md'), 'not read')
    expect(places()).toMatchObject({
      ok: false,
      message:
        'memory/conversations/about the bridge.md is not read; memory/long-term/projects/plan.md is not read',
    })
    for (let i = 0; i < 9; i++) writeFileSync(at(`long-term/projects/${i}.md`), 'not read')
    expect(places()?.message.endsWith('; and 6 more')).toBe(true)
    await memory.close()
  })

  it('names folders that have the names of files', async () => {
    const { store, memory, at } = await openWithArchives(2)
    for (const name of ['MEMORY.md', 'EPHEMERAL.md', 'conversations/conversation-002.md']) {
      rmSync(at(name), { force: true })
      mkdirSync(at(name))
    }
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    expect(findings.find(({ check }) => check === 'places')?.problems).toEqual(
      ['memory/EPHEMERAL.md', 'memory/MEMORY.md', 'memory/conversations/conversation-002.md'].map(
        (path) => `${path} is a folder, and should be a file`,
      ),
    )
    await memory.close()
  })

  it('says where this user may not write', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const refused = [at('conversations'), at('.recall/lock.db')]
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      accessSync(path) {
        if (refused.includes(String(path))) throw Object.assign(new Error('refused'), { code: 'EACCES' })
      },
    }
    const writing = (look: FileSystem) =>
      checkUp(look, store, { deep: false, fix: false }).find(({ check }) => check === 'writing')
    expect(writing(fileSystem)).toMatchObject({
      ok: false,
      message:
        'memory/conversations cannot be written (EACCES); memory/.recall/lock.db cannot be written (EACCES)',
      remedy: expect.stringContaining('let this user write there'),
    })
    expect(writing(defaultFileSystem)).toMatchObject({ ok: true })
    await memory.close()
  })

  it('says when the disk is full', async () => {
    const { store, memory } = await openWithArchives(1)
    const disk = (bavail: number, blocks = 1000) => {
      const statfsSync = () => ({ blocks, bavail, bsize: 4096 })
      const fileSystem = { ...defaultFileSystem, statfsSync } as unknown as FileSystem
      return checkUp(fileSystem, store, { deep: false, fix: false }).find(({ check }) => check === 'disk')
    }
    expect(disk(255)).toMatchObject({ ok: false, remedy: expect.stringContaining('make room') })
    expect(disk(256)).toMatchObject({ ok: true })
    expect(disk(0, 0)).toMatchObject({ ok: true })
    await memory.close()
  })

  it('reports an unfinished write that cannot be finished, and goes on with the rest', async () => {
    const { store, memory, at } = await openWithArchives(1)
    writeFileSync(at('.recall/journal.json'), '{}')
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: true })
    expect(findings.find(({ check }) => check === 'unfinished write')).toMatchObject({
      ok: false,
      message: expect.stringContaining('move it away'),
    })
    expect(findings.find(({ check }) => check === 'contents')).toMatchObject({ ok: true })
    await memory.close()
  })

  it('names a few of many unreadable and unfinished files, and hands out all', async () => {
    const { store, memory, at } = await openWithArchives(1)
    mkdirSync(at('long-term'))
    for (let i = 0; i < 12; i++) {
      writeFileSync(at(`long-term/note-${i}.md`), '---\nkey: [unclosed\n---\n')
      writeFileSync(at(`long-term/.tmp-999999999-${thisProcess().place}0${i}`), 'unfinished')
    }
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    for (const name of ['files', 'leftovers']) {
      const { message, problems } = findings.find(({ check }) => check === name) ?? {}
      expect(message).toMatch(/; and 7 more$/)
      expect(problems).toHaveLength(12)
    }
    await memory.close()
  })

  it('names what was never finished beside the window by its name in the root', async () => {
    const root = temporaryRoot()
    mkdirSync(join(root, 'memory'))
    const name = `.tmp-999999999-${thisProcess().place}00`
    writeFileSync(join(root, name), 'unfinished')
    const store = await openFileStore({ root, layout: 'user' })
    const leftovers = (fix: boolean) =>
      checkUp(defaultFileSystem, store, { deep: false, fix }).find(({ check }) => check === 'leftovers')
    expect(leftovers(false)?.message).toBe(`${name} was never finished`)
    expect(leftovers(true)).toMatchObject({ fixed: true })
    expect(existsSync(join(root, name))).toBe(false)
    await store.close()
  })

  it('keeps the table of archives whose folder is away', async () => {
    const { store, memory, at } = await openWithArchives(7)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    const check = () => {
      const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
      return findings.find((each) => each.check === 'archive table')
    }
    renameSync(at('conversations'), at('away'))
    expect(check()).toMatchObject({
      ok: false,
      message: 'memory/conversations is missing, and the table has 7 rows',
    })
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table)
    renameSync(at('away'), at('conversations'))
    expect(check()).toMatchObject({ ok: true })
    for (const name of readdirSync(at('conversations'))) rmSync(at(`conversations/${name}`))
    expect(check()?.message).toMatch(/^(?:row \d has no archive; ){5}and 2 more$/)
    await memory.close()
  })

  it('reports a table that cannot be read and goes on with the rest', async () => {
    const { store, memory, at } = await openWithArchives(1)
    writeFileSync(at('ARCHIVE.md'), Buffer.from([0xff, 0xfe]))
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: true })
    expect(findings.find(({ check }) => check === 'archive table')).toMatchObject({ ok: false })
    expect(findings.find(({ check }) => check === 'contents')).toMatchObject({ ok: true })
    expect(readFileSync(at('ARCHIVE.md'))).toEqual(Buffer.from([0xff, 0xfe]))
    await memory.close()
  })
})

it.each([
  [
    '# mine\r\n[ephemeral]\r\nmax_entries = 5 # five\r\n',
    '# mine\r\n[ephemeral]\r\nmax_entries = 7 # five\r\n',
  ],
  ['# mine\r\n', '# mine\r\n\r\n[ephemeral]\r\nmax_entries = 7\r\n'],
])('a setting keeps the line ends of Windows: %j', async (given, changed) => {
  const { root, store, memory } = await openWithArchives(0)
  const path = join(root, store.layout.config)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, given)
  setConfig(store, 'ephemeral.max_entries', '7')
  expect(readFileSync(path, 'utf8')).toBe(changed)
  await memory.close()
})

it('a setting is added below a table that ends the file without a line end', async () => {
  const { root, store, memory } = await openWithArchives(0)
  const path = join(root, store.layout.config)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '[ephemeral]')
  setConfig(store, 'ephemeral.max_entries', '7')
  expect(readConfig(defaultFileSystem, root, store.layout).config.ephemeral.maxEntries).toBe(7)
  await memory.close()
})

describe('scrubbing', () => {
  it('replaces secrets in every readable file, names the others and leaves no word in the index', async () => {
    const { root, store, memory, at } = await openWithArchives(1)
    await memory.write('long-term', 'note', 'the word is hunter2')
    writeFileSync(at('topic.md'), '# hunter2\n')
    writeFileSync(at('long-term/bad.md'), Buffer.from([0xff, 0xfe]))
    appendFileSync(at('ARCHIVE.md'), '| 001 | hunter2 |\n')
    await memory.search('long-term', { text: 'hunter2' })
    const redact = (text: string) => {
      const counts: Record<string, number> = text.includes('hunter2') ? { password: 1 } : {}
      return { text: text.replaceAll('hunter2', '[gone]'), counts }
    }
    const found = scrubFiles(defaultFileSystem, store, redact, true)
    expect(
      found
        .filter(({ problem }) => !problem)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['memory/ARCHIVE.md', 'memory/long-term/note.md', 'memory/topic.md'])
    expect(found.find(({ problem }) => problem)?.path).toBe('memory/long-term/bad.md')
    expect(await memory.search('long-term', { text: 'hunter2' })).toEqual([])
    await memory.close()
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      const path = join(root, name)
      if (name.includes('.') && !readdirSafe(path))
        expect(readFileSync(path).includes('hunter2'), name).toBe(false)
    }
  })
})

const readdirSafe = (path: string): boolean => {
  try {
    readdirSync(path)
    return true
  } catch {
    return false
  }
}

describe('tombstones', () => {
  it('are found again, without saying what was forgotten, also after a torn line', async () => {
    const { store, memory, root } = await openWithArchives(0)
    const address = (key: string) => ({ namespace: 'default', scope: 'long-term' as const, key })
    await addTombstones(defaultFileSystem, store, [address('one'), address('two')], 0)
    const path = join(root, 'memory/.recall/tombstones.jsonl')
    appendFileSync(path, '{"address":"torn')
    await addTombstones(defaultFileSystem, store, [address('three')], 0)
    const isForgotten = readTombstones(defaultFileSystem, store)
    expect(['one', 'two', 'three', 'four'].map((key) => isForgotten(address(key)))).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(readFileSync(path, 'utf8')).not.toContain('three')
    await memory.close()
  })

  it('are seen also when they are added after somebody began to ask for them', async () => {
    const { store, memory } = await openWithArchives(0)
    const address = (key: string) => ({ namespace: 'default', scope: 'long-term' as const, key })
    const isForgotten = readTombstones(defaultFileSystem, store)
    for (const key of ['one', 'two']) {
      expect(isForgotten(address(key))).toBe(false)
      await addTombstones(defaultFileSystem, store, [address(key)], 0)
      expect(isForgotten(address(key))).toBe(true)
    }
    await memory.close()
  })
})

describe('the access counts', () => {
  it.each(['rubbish', 'deleted'])('never keep anybody from reading: %s', async (what) => {
    const root = temporaryRoot()
    const notices: string[] = []
    const open = () => openFileMemory({ root, onNotice: (text) => notices.push(text) })
    const first = await open()
    await first.write('long-term', 'note', 'text')
    await first.read('long-term', 'note')
    await first.close()
    const path = join(root, 'memory/.recall/access.db')
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    if (what === 'deleted') rmSync(path)
    else writeFileSync(path, 'rubbish '.repeat(4000))
    const memory = await open()
    expect(await memory.read('long-term', 'note')).toBe('text')
    const record = await memory.read('long-term', 'note', { includeMetadata: true })
    expect(record?.metadata.accessCount).toBe(2)
    expect(notices).toHaveLength(what === 'deleted' ? 0 : 1)
    await memory.close()
  })

  it('start anew while the memory is open and its own folder is deleted', async () => {
    const { memory, at } = await openWithArchives(0)
    await memory.write('long-term', 'note', 'text')
    await memory.read('long-term', 'note')
    rmSync(at('.recall'), { recursive: true })
    await memory.read('long-term', 'note')
    expect(existsSync(at('.recall/access.db'))).toBe(true)
    await memory.close()
  })
})

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
  ])('moves nothing: $path', async (step) => {
    const { memory, at } = await openWithArchives(0)
    await memory.write('long-term', 'MEMORY.md#a', 'kept')
    const before = readFileSync(at('MEMORY.md'), 'utf8')
    writeFileSync(at('.recall/journal.json'), JSON.stringify({ version: 1, steps: [step] }))
    const error = await memory.read('long-term', 'MEMORY.md#a').catch((reason: unknown) => reason)
    expect(isMemoryError(error, 'MEMORY_CORRUPTION')).toBe(true)
    expect(String(error)).toContain('journal.json')
    expect(readFileSync(at('MEMORY.md'), 'utf8')).toBe(before)
    rmSync(at('.recall/journal.json'))
    await memory.close()
  })
})

describe("the memory's own folder", () => {
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

it('sweeps only what has expired by its file', async () => {
  const root = temporaryRoot()
  const { clock, advance } = createTicker()
  const memory = await openFileMemory({ root, clock })
  await memory.write('short-term', 'brief', 'x', { ttl: 1000 })
  await memory.write('short-term', 'longer', 'x', { ttl: 9000 })
  advance(2000)
  expect((await memory.cleanup({ dryRun: true })).deleted).toBe(1)
  expect((await memory.cleanup()).deleted).toBe(1)
  expect(readdirSync(join(root, 'memory/short-term'))).toEqual(['longer.md'])
  await memory.close()
})
