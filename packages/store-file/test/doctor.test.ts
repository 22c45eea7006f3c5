import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { thisProcess } from '@recall/core/process'
import { describe, expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/open-file-memory.ts'
import { openWithArchives } from './open-with-archives.ts'
import { temporaryRoot } from './temporary-root.ts'

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

  it('names archived entries that cannot be read, when it looks deep', async () => {
    const { store, memory, at } = await openWithArchives(1)
    for (const key of ['sound', 'torn']) await memory.write('episodic', key, 'ran')
    await memory.cleanup({ scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER })
    const look = () =>
      checkUp(defaultFileSystem, store, { deep: true, fix: false }).find(
        ({ check }) => check === 'archived entries',
      )
    expect(look()).toMatchObject({ ok: true, message: '2 can be read' })
    const torn = at('cold/episodic/torn.json.gz')
    writeFileSync(torn, readFileSync(torn).subarray(0, 60))
    expect(look()).toMatchObject({
      ok: false,
      message: 'memory/cold/episodic/torn.json.gz cannot be unpacked',
    })
    await memory.close()
  })

  it.each([
    'ttl: 1h',
    'ttl: "60000"',
    'ttl: -5',
    'ttl: 9999999999999999',
    'expires: tomorrow',
    'expires: 1795664809677',
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

  it('leaves one row of several for an archive: the one that tells of it', async () => {
    const { store, memory, at } = await openWithArchives(3)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    writeFileSync(at('ARCHIVE.md'), `${table}| 002 | of another machine |\n| 002 | and of a third |\n`)
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(bad.map(({ message }) => message)).toEqual(['archive 2 has several rows'])
    checkUp(defaultFileSystem, store, { deep: false, fix: true })
    const rows = (text: string) => text.split('\n').sort()
    expect(rows(readFileSync(at('ARCHIVE.md'), 'utf8'))).toEqual(rows(table))
    await memory.close()
  })

  it('names files with both sides of a merge, but for those that quote one', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const merges = () =>
      checkUp(defaultFileSystem, store, { deep: false, fix: true }).find(({ check }) => check === 'merges')
    const merge = '<<<<<<< HEAD\r\nmine\r\n=======\r\nyours\r\n>>>>>>> 51fb131\r\n'
    writeFileSync(at('git.md'), `## How it looks\n\n\`\`\`\n${merge}\`\`\`\n\nTitle\n=======\n`)
    expect(merges()).toMatchObject({ ok: true })
    appendFileSync(at('ARCHIVE.md'), merge)
    writeFileSync(at('topic.md'), `## Deploys\n\n${merge}`)
    const before = readFileSync(at('topic.md'), 'utf8')
    expect(merges()).toMatchObject({
      ok: false,
      message: 'memory/ARCHIVE.md holds both sides of a merge; memory/topic.md holds both sides of a merge',
    })
    expect(readFileSync(at('topic.md'), 'utf8')).toBe(before)
    await memory.close()
  })

  it('makes one table of both sides of a merge', async () => {
    const { store, memory, at } = await openWithArchives(3)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    const [last = '', ...above] = table.trimEnd().split('\n').reverse()
    const mine = last.replace('| s3 |', '| s4 |')
    const sides = `<<<<<<< HEAD\n${mine}\n||||||| 1\n=======\n${last}\n>>>>>>> 51fb131\n`
    writeFileSync(at('ARCHIVE.md'), `${above.reverse().join('\n')}\n${sides}`)
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: true }).filter(
      ({ ok, fixed }) => !ok || fixed,
    )
    expect(bad).toMatchObject([
      {
        fixed: true,
        check: 'archive table',
        problems: ['memory/ARCHIVE.md holds both sides of a merge', 'archive 3 has several rows'],
      },
    ])
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table)
    await memory.close()
  })

  it('finds rows that tell of the session of another archive', async () => {
    const { store, memory, at } = await openWithArchives(3)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    const changed = table.replace('| s1 |', '| of a person |').replace('| s2 |', '| s3 |')
    writeFileSync(at('ARCHIVE.md'), changed.replace(/\| s3 \|(?=[^\n]*\n$)/, '| conversation-003 |'))
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: true }).find(({ fixed }) => fixed)
    expect(bad?.problems).toEqual([
      'row 2 tells of another session than its archive',
      'row 3 tells of another session than its archive',
    ])
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table.replace('| s1 |', '| of a person |'))
    await memory.close()
  })

  it('names notes and archives with both sides of a merge', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const merges = () =>
      checkUp(defaultFileSystem, store, { deep: false, fix: true }).find(({ check }) => check === 'merges')
    mkdirSync(at('long-term'), { recursive: true })
    const merge = '<<<<<<< HEAD\ntags: ["a"]\n=======\ntags: ["b"]\n>>>>>>> 51fb131\n'
    writeFileSync(at('long-term/note.md'), `---\n${merge}---\ntext\n`)
    writeFileSync(at('conversations/conversation-002.md'), `---\nsession_id: "t"\n${merge}---\ntext\n`)
    expect(merges()).toMatchObject({
      ok: false,
      problems: [
        'memory/long-term/note.md holds both sides of a merge',
        'memory/conversations/conversation-002.md holds both sides of a merge',
      ],
      remedy: expect.stringContaining('of an archive each side is a file of its own'),
    })
    await memory.close()
  })

  it.each([
    { mineEnds: '\n', theirsEnds: '\n' },
    { mineEnds: '\r\n', theirsEnds: '\r\n' },
    { mineEnds: '\n', theirsEnds: '\r\n' },
  ])('gives each of two archives a file that a merge left in one: %j', async ({ mineEnds, theirsEnds }) => {
    const { store, memory, at } = await openWithArchives(3)
    const archive = (n: number, end: string): string =>
      readFileSync(at(`conversations/conversation-00${n}.md`), 'utf8').replaceAll('\n', end)
    const [mine, theirs] = [archive(1, mineEnds), archive(3, theirsEnds)]
    rmSync(at('conversations/conversation-003.md'))
    const common = mineEnds === theirsEnds ? `---${mineEnds}` : ''
    const sides = [mine, theirs].map((side) => side.slice(common.length))
    const marks = ['<<<<<<< HEAD', '=======', '>>>>>>> 51fb131'].map((mark) => `${mark}${mineEnds}`)
    const merged = `${common}${marks[0]}${sides[0]}${marks[1]}${sides[1]}${marks[2]}`
    writeFileSync(at('conversations/conversation-001.md'), merged)
    const look = (fix: boolean) => checkUp(defaultFileSystem, store, { deep: false, fix })
    expect(look(false).find(({ check }) => check === 'merged archives')).toMatchObject({
      ok: false,
      message: 'memory/conversations/conversation-001.md holds two archives, the sides of a merge',
    })
    look(true)
    expect(readFileSync(at('conversations/conversation-001.md'), 'utf8')).toBe(mine)
    expect(readFileSync(at('conversations/conversation-003.md'), 'utf8')).toBe(theirs)
    expect(look(false).filter(({ ok }) => !ok)).toEqual([])
    for (const id of ['s1', 's2', 's3'])
      expect(await memory.read('episodic', `conversation:${id}`)).toMatchObject({ sessionId: id })
    await memory.close()
  })

  it.each([
    'archive-log-002.md',
    'conversation-002.sync-conflict-20261127-101010-ABCDEFG.md',
    "conversation-002 (Ada's conflicted copy 2026-11-27).md",
  ])('gives %s a number of its own', async (name) => {
    const { store, memory, at } = await openWithArchives(3)
    renameSync(at('conversations/conversation-003.md'), at('conversations', name))
    const look = (fix: boolean) =>
      checkUp(defaultFileSystem, store, { deep: false, fix }).filter(({ ok, fixed }) => !ok || fixed)
    expect(look(false)).toMatchObject([{ check: 'archive numbers' }, { message: 'row 3 has no archive' }])
    expect(look(true)).toMatchObject([{ check: 'archive numbers', fixed: true }])
    expect(look(false)).toEqual([])
    expect(readdirSync(at('conversations'))).toEqual([1, 2, 3].map((n) => `conversation-00${n}.md`))
    expect(await memory.read('episodic', 'conversation:s3')).toMatchObject({ sessionId: 's3' })
    await memory.close()
  })

  it('removes one of two equal archives of a session, and names those that differ', async () => {
    const { store, memory, at } = await openWithArchives(2)
    const archive = (n: number) => at(`conversations/conversation-00${n}.md`)
    const [one, two] = [1, 2].map((n) => readFileSync(archive(n), 'utf8'))
    writeFileSync(archive(3), `${one}`.replace('log: 1\n', 'log: 3\n').replaceAll('\n', '\r\n'))
    writeFileSync(archive(4), `${two}And more.\n`)
    const look = () => checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(look().filter(({ ok, fixed }) => !ok || fixed)).toMatchObject([
      {
        check: 'sessions archived twice',
        ok: false,
        message:
          'memory/conversations/conversation-004.md holds the session that memory/conversations/conversation-002.md holds',
      },
      { check: 'equal archives', fixed: true },
      { check: 'archive table', fixed: true },
    ])
    expect(readdirSync(at('conversations'))).toEqual([1, 2, 4].map((n) => `conversation-00${n}.md`))
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).not.toContain('| 003 |')
    rmSync(archive(4))
    look()
    expect(look().filter(({ ok, fixed }) => !ok || fixed)).toEqual([])
    await memory.close()
  })

  it('keeps archives that do not say which session they hold, also equal ones', async () => {
    const { store, memory, at } = await openWithArchives(0)
    const names = ['conversation-001.md', 'conversation-002.md']
    mkdirSync(at('conversations'), { recursive: true })
    for (const name of names) writeFileSync(at('conversations', name), '### User\n\nGood morning\n')
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
    expect(readdirSync(at('conversations'))).toEqual(names)
    await memory.close()
  })

  it.each(['\n', '\r\n'])(
    'names the archive of each session of the window that got another number',
    async (end) => {
      const { store, memory, at } = await openWithArchives(2)
      const entry = (id: string, pointer: string) =>
        `## Session ${id} — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: ${pointer} · **Project**: /home/ana/api\n\nOf **Archive**: ${pointer}\n`
      const second = 'conversations/conversation-002.md'
      const sessions = ['s1', 's2', 'gone'].map((id) => entry(id, second)).join('\n---\n\n')
      const window = `# Now\n\n---\n\n${sessions}`.replaceAll('\n', end)
      writeFileSync(at('EPHEMERAL.md'), window)
      const bad = checkUp(defaultFileSystem, store, { deep: false, fix: true }).filter(({ fixed }) => fixed)
      expect(bad.map(({ message }) => message)).toEqual([
        'memory/EPHEMERAL.md names conversations/conversation-002.md for the session that memory/conversations/conversation-001.md holds',
      ])
      expect(readFileSync(at('EPHEMERAL.md'), 'utf8')).toBe(
        window.replace(second, 'conversations/conversation-001.md'),
      )
      await memory.close()
    },
  )

  it('removes no archive that somebody added to since it was compared', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const second = at('conversations/conversation-002.md')
    copyFileSync(at('conversations/conversation-001.md'), second)
    const exclusively = <T>(call: () => T): T => {
      appendFileSync(second, 'And more.\n')
      return store.exclusively(call)
    }
    checkUp(defaultFileSystem, { ...store, exclusively }, { deep: false, fix: true })
    expect(readFileSync(second, 'utf8')).toContain('And more.')
    await memory.close()
  })

  it('names a session that stands twice in the window', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const entry = `## Session s1 — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: x\n\n`
    writeFileSync(at('EPHEMERAL.md'), `${entry}Mine.\n${entry}Yours.\n`)
    await memory.search('short-term', { text: 'mine' })
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(bad).toMatchObject([
      {
        check: 'keys',
        message: "memory/EPHEMERAL.md has 'session:s1' more than once",
        remedy: expect.stringContaining('keep one'),
      },
    ])
    await memory.close()
  })

  it('names the second versions of files that a syncer left', async () => {
    const { store, memory, root, at } = await openWithArchives(1)
    mkdirSync(at('long-term'), { recursive: true })
    const ofSyncthing = '.sync-conflict-20261127-101010-ABCDEFG.md'
    for (const name of [
      `EPHEMERAL${ofSyncthing}`,
      "MEMORY (Ada's conflicted copy 2026-11-27).md",
      'conflicts.md',
    ])
      writeFileSync(at(name), 'text')
    writeFileSync(at('long-term', `pref${ofSyncthing}`), 'text')
    writeFileSync(join(root, 'TODO (conflict).md'), 'not of the memory')
    const copies = checkUp(defaultFileSystem, store, { deep: false, fix: true }).find(
      ({ check }) => check === 'copies',
    )
    expect(copies).toMatchObject({
      ok: false,
      problems: [
        `memory/EPHEMERAL${ofSyncthing} is another version of memory/EPHEMERAL.md`,
        "memory/MEMORY (Ada's conflicted copy 2026-11-27).md is another version of memory/MEMORY.md",
        `memory/long-term/pref${ofSyncthing} is another version of memory/long-term/pref.md`,
      ],
    })
    await memory.close()
  })

  it('finds nothing wrong with a memory that is whole, and says so once of each thing', async () => {
    const { store, memory } = await openWithArchives(2)
    await memory.search('episodic', { text: 'summary' })
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
    expect(new Set(findings.map(({ check }) => check)).size).toBe(findings.length)
    await memory.close()
  })

  it('leaves an archive to a person whose name stands for its session', async () => {
    const { store, memory, at } = await openWithArchives(1)
    writeFileSync(at('conversations/archive-log-001.md'), 'by hand')
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(findings.filter(({ ok, check }) => !ok || check === 'archive numbers')).toMatchObject([
      {
        ok: false,
        message: 'number 1 is used twice',
        remedy: expect.stringContaining('memory/conversations/conversation-002.md'),
      },
    ])
    expect(readFileSync(at('conversations/archive-log-001.md'), 'utf8')).toBe('by hand')
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
    await memory.close()
  })

  it('names folders that have the names of files', async () => {
    const { store, memory, at } = await openWithArchives(2)
    for (const name of ['MEMORY.md', 'EPHEMERAL.md', 'conversations/conversation-002.md']) {
      rmSync(at(name), { force: true })
      mkdirSync(at(name))
    }
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    expect(findings.find(({ check }) => check === 'files')?.problems?.toSorted()).toEqual(
      ['memory/EPHEMERAL.md', 'memory/MEMORY.md', 'memory/conversations/conversation-002.md'].map(
        (path) => `${path} is not a file: move it away`,
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
