import {
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { thisProcess } from '@recall/core/process'
import { describe, expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import type { FileStore } from '../src/file-store.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/open-file-memory.ts'
import { openWithArchives } from './support/open-with-archives.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('the doctor', () => {
  it.each([
    'ttl: 1h',
    'ttl: "60000"',
    'ttl: -5',
    'ttl: 9999999999999999',
    'expires: tomorrow',
    'expires: 1795664809677',
    'expires: 10.12.2026',
    'expires: "step 5"',
    'created: 2026-02-30 10:00',
    'text: 5',
    'text: [harbour]',
    'indexed: never',
    'format: JSON',
  ])('names a note whose front matter says %s', async (line) => {
    const { store, memory, at } = await openWithArchives(1)
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(at('long-term/note.md'), `---\n${line}\n---\ntext\n`)
    expect(await memory.search('long-term', {})).toHaveLength(1)
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    const field = line.slice(0, line.indexOf(':'))
    expect(bad.map(({ message }) => message)).toEqual([
      expect.stringContaining(`memory/long-term/note.md: its '${field}' is ignored`),
    ])
    await memory.close()
  })

  it('names every field of a note that is ignored', async () => {
    const { store, memory, at } = await openWithArchives(1)
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(
      at('long-term/note.md'),
      '---\nkey: other\nttl: -5\nexpires: tomorrow\ntext: 5\n---\ntext\n',
    )
    await memory.search('long-term', {})
    const [bad] = checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(bad?.message).toMatch(
      /another key than its name.*; its 'ttl' is ignored.*; its 'expires' is ignored.*; its 'text' is ignored/,
    )
    await memory.close()
  })

  it.each([0, 2])(
    'finds nothing wrong with a memory of %i archives, and says so once of each thing',
    async (count) => {
      const { store, memory } = await openWithArchives(count)
      await memory.write('long-term', 'key', 'text')
      await memory.search('episodic', { text: 'summary' })
      const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
      expect(findings.filter(({ ok }) => !ok)).toEqual([])
      expect(new Set(findings.map(({ check }) => check)).size).toBe(findings.length)
      await memory.close()
    },
  )

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
    mkdirSync(at('.obsidian'))
    writeFileSync(at('.obsidian/plan.md'), 'of another program')
    const copy = 'conversation-001 (conflicted copy).md'
    for (const name of ['plan.md', copy]) writeFileSync(at('long-term/projects', name), 'not read')
    expect(places()).toMatchObject({
      ok: false,
      problems: [
        'conversations/about the bridge.md',
        `long-term/projects/${copy}`,
        'long-term/projects/plan.md',
      ].map((path) => `memory/${path} is not read`),
    })
    for (let i = 0; i < 9; i++) writeFileSync(at(`long-term/projects/${i}.md`), 'not read')
    expect(places()?.message.endsWith('; and 7 more')).toBe(true)
    await memory.close()
  })

  it.each(['Plan.MD', 'plan.markdown'])('names %s, which no search reads', async (name) => {
    const { store, memory, at } = await openWithArchives(1)
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(at(`long-term/${name}`), 'not read')
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(bad.map(({ message }) => message)).toEqual([`memory/long-term/${name} is not read`])
    await memory.close()
  })

  it('names a note whose name is not UTF-8', async () => {
    const { store, memory, at } = await openWithArchives(1)
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(at('long-term/k\ufffdche.md'), 'not read')
    // As Node has it: listed with U+FFFD for what is not UTF-8, and not there under that.
    const lstatSync = ((path: string, options: object) =>
      path.endsWith('k\ufffdche.md')
        ? undefined
        : defaultFileSystem.lstatSync(path, options)) as FileSystem['lstatSync']
    const fileSystem = { ...defaultFileSystem, lstatSync }
    const bad = checkUp(fileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(bad.map(({ message }) => message)).toEqual([
      'memory/long-term/k\ufffdche.md is not read: its name is not UTF-8',
    ])
    const found = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    expect(found.find(({ check }) => check === 'places')).toMatchObject({ ok: true })
    await memory.close()
  })

  it('names folders that have the names of files', async () => {
    const { store, memory, at } = await openWithArchives(2)
    for (const name of ['MEMORY.md', 'EPHEMERAL.md', 'conversations/conversation-002.md']) {
      rmSync(at(name), { force: true })
      mkdirSync(at(name))
    }
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    expect(findings.find(({ check }) => check === 'contents')).toMatchObject({ ok: true })
    expect(findings.find(({ check }) => check === 'files')?.problems?.toSorted()).toEqual(
      ['memory/EPHEMERAL.md', 'memory/MEMORY.md', 'memory/conversations/conversation-002.md'].map(
        (path) => `${path} is not a file: move it away`,
      ),
    )
    await memory.close()
  })

  it('says where this user may not write', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const refused = [at('conversations'), at('.recall'), at('.recall/lock.db')]
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      accessSync(path, mode) {
        if (refused.includes(String(path)) && mode === constants.W_OK)
          throw Object.assign(new Error('refused'), { code: 'EACCES' })
      },
    }
    const writing = (look: FileSystem) =>
      checkUp(look, store, { deep: false, fix: false }).find(({ check }) => check === 'writing')
    expect(writing(fileSystem)).toMatchObject({
      ok: false,
      problems: ['memory/conversations', 'memory/.recall', 'memory/.recall/lock.db'].map(
        (path) => `${path} cannot be written (EACCES)`,
      ),
      remedy: expect.stringContaining('let this user write there'),
    })
    expect(writing(defaultFileSystem)).toMatchObject({ ok: true })
    await memory.close()
  })

  it.each(['index.db', 'access.db', 'lock.db'])(
    'names a folder in the way of its own file: %s',
    async (name) => {
      const { root, memory, at } = await openWithArchives(1)
      await memory.close()
      rmSync(at('.recall', name), { force: true })
      mkdirSync(at('.recall', name))
      const store = await openFileStore({ root })
      const findings = checkUp(defaultFileSystem, store, { deep: false, fix: false })
      expect(findings.filter(({ ok }) => !ok)).toContainEqual(
        expect.objectContaining({
          check: 'writing',
          message: `memory/.recall/${name} is a folder, and in the way of a file`,
          remedy: expect.stringContaining('move it away'),
        }),
      )
      await store.close()
    },
  )

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

  it('looks at every file also where there is no index yet', async () => {
    const { store, memory, at } = await openWithArchives(1)
    mkdirSync(at('long-term'))
    writeFileSync(at('long-term/note.md'), '---\nkey: [unclosed\n---\n')
    for (const deep of [false, true]) {
      rmSync(at('.recall'), { recursive: true })
      const findings = checkUp(defaultFileSystem, store, { deep, fix: false })
      expect(findings.find(({ check }) => check === 'files')).toMatchObject({
        ok: false,
        message: expect.stringContaining('note.md'),
      })
      expect(findings.some(({ check }) => check === 'contents')).toBe(deep)
    }
    await memory.close()
  })

  it('has an index made anew that is damaged, or may hold what was forgotten', async () => {
    const { store, memory } = await openWithArchives(0)
    await memory.write('long-term', 'key', 'text')
    const index = (given: Partial<FileStore>, deep: boolean) => {
      const reindex = vi.fn()
      const findings = checkUp(defaultFileSystem, { ...store, ...given, reindex }, { deep, fix: true })
      const { message, fixed = false } = findings.find(({ check }) => check === 'index') ?? {}
      expect(reindex).toHaveBeenCalledTimes(fixed ? 1 : 0)
      return { message, fixed }
    }
    const traces = { hasTraces: () => true }
    const mayStand = expect.stringContaining('it may still hold text that was forgotten')
    expect(index(traces, false)).toEqual({ message: mayStand, fixed: true })
    const damaged = { index: { ...store.index, damage: () => 'page 7 is torn' } }
    expect(index({}, true)).toEqual({ message: '1 entry', fixed: false })
    expect(index(damaged, false)).toEqual({ message: '1 entry', fixed: false })
    expect(index({ ...damaged, ...traces }, true)).toEqual({
      message: expect.stringMatching(/^page 7 is torn; it may still hold text that was forgotten/),
      fixed: true,
    })
    await memory.close()
  })

  it('counts the passages that searches by meaning find', async () => {
    const { store, memory } = await openWithArchives(1)
    await memory.search('episodic', {})
    const vectors = (embedded: number) => {
      const vectorCoverage = () => ({ model: 'fake', embedded, total: 2 })
      const findings = checkUp(defaultFileSystem, { ...store, vectorCoverage }, { deep: false, fix: false })
      return findings.find(({ check }) => check === 'vectors')
    }
    expect(vectors(2)).toMatchObject({ ok: true, message: 'one of fake for each of 2 passages' })
    expect(vectors(1)).toMatchObject({
      ok: true,
      message: expect.stringMatching(/^one of fake for 1 of 2 passages;/),
    })
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

  it('names what a process of the same number left unfinished in another container', async () => {
    const root = temporaryRoot()
    const store = await openFileStore({ root })
    mkdirSync(join(root, 'memory/long-term'), { recursive: true })
    const ours = `.tmp-${process.pid}-${thisProcess().place}00`
    const theirs = `.tmp-${process.pid}-ffffffff00`
    for (const name of [ours, theirs]) {
      const path = join(root, 'memory/long-term', name)
      writeFileSync(path, 'unfinished')
      utimesSync(path, 0, 0)
    }
    const found = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    const { message } = found.find(({ check }) => check === 'leftovers') ?? {}
    expect(message).toContain(theirs)
    expect(message).not.toContain(ours)
    await store.close()
  })

  it('names what was never finished beside the window by its name in the root', async () => {
    const root = temporaryRoot()
    mkdirSync(join(root, 'memory'))
    const name = `.tmp-999999999-${thisProcess().place}00`
    const store = await openFileStore({ root, layout: 'user' })
    const leftovers = (fix: boolean) => {
      writeFileSync(join(root, name), 'unfinished')
      return checkUp(defaultFileSystem, store, { deep: false, fix }).find(
        ({ check }) => check === 'leftovers',
      )
    }
    expect(leftovers(false)?.message).toBe(`${name} was never finished`)
    expect(leftovers(true)).toMatchObject({ fixed: true })
    expect(existsSync(join(root, name))).toBe(false)
    await store.close()
  })
})
