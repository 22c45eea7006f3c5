import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { conversationKey, conversationType } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { datesInTable } from '../src/documents/archive-index.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { addTombstones } from '../src/tombstones.ts'
import { caseBlindFileSystem } from './support/case-blind-file-system.ts'
import { listingBackwards } from './support/listing-backwards.ts'
import { openWithArchives } from './support/open-with-archives.ts'
import { archiveOf } from './support/storm-values.ts'
import { whileReplacing } from './support/while-replacing.ts'

describe('the doctor, of archives', () => {
  it('adds and removes rows of ARCHIVE.md and leaves what people wrote there', async () => {
    const { store, memory, at } = await openWithArchives(3)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    writeFileSync(
      at('ARCHIVE.md'),
      `My own words.\n\n${table.replace(/^\| 002 .*\n/m, '')}${'| 009 | gone |\n'.repeat(2)}`,
    )
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(bad.map(({ message }) => message)).toEqual(['archive 2 has no row; row 9 has no archive'])
    checkUp(defaultFileSystem, store, { deep: false, fix: true })
    const mended = readFileSync(at('ARCHIVE.md'), 'utf8')
    expect(mended.startsWith('My own words.\n')).toBe(true)
    expect(mended.match(/^\| 00\d/gm)?.sort()).toEqual(['| 001', '| 002', '| 003'])
    expect(checkUp(defaultFileSystem, store, { deep: true, fix: false }).filter(({ ok }) => !ok)).toEqual([])
    await memory.close()
  })

  it('leaves the rows of a table that a person made beside its own', async () => {
    const { store, memory, at } = await openWithArchives(2)
    const codes = '\n## Error codes\n\n| 001 | 2026-01-01 | s2 |\n| 404 | route lost | mine |\n'
    appendFileSync(at('ARCHIVE.md'), codes)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(findings.filter(({ ok, fixed }) => !ok || fixed)).toEqual([])
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table)
    await memory.delete('episodic', conversationKey('s1'))
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table.replace(/\| 001 .*\n/, ''))
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

  it('finds rows that tell of the session of another archive', async () => {
    const { store, memory, at } = await openWithArchives(3)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    const changed = table.replace('| s1 |', '| of a person |').replace('| s2 |', '| s3 |')
    writeFileSync(at('ARCHIVE.md'), changed.replace(/\| s3 \|(?=[^\n]*\n$)/, '| conversation-003 |'))
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: true }).find(({ fixed }) => fixed)
    expect(bad?.problems).toEqual([
      'row 2 names another session than its archive',
      'row 3 names another session than its archive',
    ])
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table.replace('| s1 |', '| of a person |'))
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

  it.each([
    ['conversation:s3', 's3'],
    ['conversation:s3', 's3/helper'],
    ['conversation:s3#2', 's3\npart: 2'],
  ])(
    'gives no number to a copy of what was forgotten under %s, in the archive of %j',
    async (key, session) => {
      const { store, memory, at } = await openWithArchives(2)
      const copies = ['conversation-002 2.md', 'archive-log-002.md'].map((name) => at('conversations', name))
      for (const copy of copies) writeFileSync(copy, `---\nsession_id: ${session}\n---\nforgotten\n`)
      await addTombstones(defaultFileSystem, store, [{ scope: 'episodic', namespace: 'default', key }], 0)
      const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
      expect(findings.filter(({ check }) => check === 'archive numbers')).toEqual([
        {
          check: 'archive numbers',
          ok: false,
          message: expect.stringContaining('holds a session that was forgotten; memory/conversations/'),
          problems: [
            expect.stringContaining('archive-log-002.md holds'),
            expect.stringContaining(' 2.md holds'),
          ],
          remedy: 'forgotten: delete it',
        },
      ])
      for (const copy of copies) expect(readFileSync(copy, 'utf8')).toContain('forgotten')
      await memory.close()
    },
  )

  it('puts no archive in the place of a file whose name differs in case, on a disk that ignores it', async () => {
    const { store, memory, at } = await openWithArchives(2)
    const foreign = at('conversations/Conversation-002.md')
    renameSync(at('conversations/conversation-002.md'), at('conversations/archive-log-001.md'))
    writeFileSync(foreign, 'by hand')
    checkUp(caseBlindFileSystem, store, { deep: false, fix: true })
    expect(readFileSync(foreign, 'utf8')).toBe('by hand')
    expect(readdirSync(at('conversations')).sort()).toEqual([
      'Conversation-002.md',
      'conversation-001.md',
      'conversation-003.md',
    ])
    await memory.close()
  })

  it('removes one of two equal archives of a session, and names those that differ', async () => {
    const { store, memory, at } = await openWithArchives(2)
    const archive = (n: number) => at(`conversations/conversation-00${n}.md`)
    const [one, two] = [1, 2].map((n) => readFileSync(archive(n), 'utf8'))
    writeFileSync(archive(3), `${one}`.replace('log: 1\n', 'log: 3\n').replaceAll('\n', '\r\n'))
    writeFileSync(archive(4), `${two}And more.\n`)
    const look = () => checkUp(listingBackwards, store, { deep: false, fix: true })
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
    const again = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    expect(again.filter(({ ok }) => !ok)).toEqual([])
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

  it('names the archive of a session of the window whose file is gone, and leaves what else stands there', async () => {
    const { store, memory, at } = await openWithArchives(4)
    const second = { ...archiveOf('s1', 5), part: 2 }
    await memory.write('episodic', conversationKey('s1', 2), second, { type: conversationType })
    renameSync(at('conversations/conversation-001.md'), at('conversations/conversation-006.md'))
    renameSync(at('conversations/conversation-005.md'), at('conversations/conversation-001.md'))
    copyFileSync(at('conversations/conversation-004.md'), at('conversations/conversation-007.md'))
    appendFileSync(at('conversations/conversation-007.md'), 'And more.\n')
    writeFileSync(at('conversations/by hand.md'), 'of s3')
    const told = [
      'conversations/conversation-009.md',
      'conversation:s2',
      'conversations/by hand.md',
      'conversations/conversation-007.md',
    ]
    const session = (pointer: string, i: number): string =>
      `## Session s${i + 1} — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: ${pointer}\n\nText\n`
    const window = told.map(session).join('\n---\n\n')
    writeFileSync(at('EPHEMERAL.md'), window)
    checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(readFileSync(at('EPHEMERAL.md'), 'utf8')).toBe(window.replace('-009', '-006'))
    await memory.close()
  })

  it('keeps both archives of a session that cannot be read', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const [first, second] = [1, 2].map((n) => at(`conversations/conversation-00${n}.md`)) as [string, string]
    appendFileSync(first, Buffer.from([0xff]))
    copyFileSync(first, second)
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(findings.find(({ check }) => check === 'sessions archived twice')).toMatchObject({ ok: false })
    expect(readdirSync(at('conversations'))).toHaveLength(2)
    await memory.close()
  })

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

  it('keeps the row of an archive that comes back while it looks', async () => {
    const { store, memory, at } = await openWithArchives(2)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    renameSync(at('conversations/conversation-002.md'), at('.away'))
    const exclusively = <T>(call: () => T): T => {
      renameSync(at('.away'), at('conversations/conversation-002.md'))
      return store.exclusively(call)
    }
    const findings = checkUp(defaultFileSystem, { ...store, exclusively }, { deep: false, fix: true })
    expect(findings.find(({ fixed }) => fixed)?.message).toBe('row 2 has no archive')
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table)
    await memory.close()
  })

  it.each([
    { name: 'ARCHIVE.md', wrong: '| 002 | of another machine |\n' },
    {
      name: 'EPHEMERAL.md',
      wrong:
        '## Session s1 — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: conversations/conversation-002.md\n\nOf s1\n',
    },
  ])('keeps what a person saves into $name while it is mended', async ({ name, wrong }) => {
    const { store, memory, at } = await openWithArchives(2)
    appendFileSync(at(name), wrong)
    const fileSystem = whileReplacing(() => appendFileSync(at(name), '\nBy hand.\n'))
    const mended = checkUp(fileSystem, store, { deep: false, fix: true }).filter(({ fixed }) => fixed)
    expect(mended).toHaveLength(1)
    expect(readFileSync(at(name), 'utf8')).toContain('By hand.')
    const left = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    expect(left.filter(({ ok }) => !ok)).toEqual([])
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

  it.each([
    { name: 'archive-log-001.md', problem: 'number 1 is used twice' },
    {
      name: 'conversation-001 (conflicted copy).md',
      problem:
        'memory/conversations/conversation-001 (conflicted copy).md is not read: it is another copy of archive 1',
    },
  ])('leaves $name to a person where the name stands for its session', async ({ name, problem }) => {
    const { store, memory, at } = await openWithArchives(1)
    writeFileSync(at('conversations', name), 'by hand')
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(findings.filter(({ ok, check }) => !ok || check === 'archive numbers')).toMatchObject([
      {
        ok: false,
        message: problem,
        remedy: expect.stringContaining('memory/conversations/conversation-002.md'),
      },
    ])
    expect(readFileSync(at('conversations', name), 'utf8')).toBe('by hand')
    await memory.close()
  })

  it('numbers archives behind those of the other layout, and leaves these as they are', async () => {
    const { store, memory, root, at } = await openWithArchives(2)
    const others = ['archive-log-1000.md', 'archive-log-999.md', 'archive-log-999 (conflicted copy).md']
    mkdirSync(join(root, 'memories'))
    for (const name of ['archive-log-001.md', ...others])
      writeFileSync(join(root, 'memories', name), `---\nsession_id: ${name}\n---\nby hand`)
    renameSync(at('conversations/conversation-002.md'), at('conversations/archive-log-001.md'))
    checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(readdirSync(at('conversations')).sort()).toEqual(['conversation-001.md', 'conversation-1001.md'])
    expect(readdirSync(join(root, 'memories'))).toHaveLength(4)
    await memory.close()
  })

  it('finds a row that tells of another part of the session, also where that is about many things', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const topics = Array.from({ length: 500 }, (_, i) => `topic ${i}`)
    const second = { ...archiveOf('s1', 2), topics, part: 2 }
    await memory.write('episodic', conversationKey('s1', 2), second, { type: conversationType })
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    writeFileSync(at('ARCHIVE.md'), table.replace('s1 (part 2)', 's1'))
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table)
    await memory.close()
  })

  it('gives rows to archives that say little or cannot be read, in the order of their names', async () => {
    const { store, memory, at } = await openWithArchives(1)
    writeFileSync(at('conversations/conversation-002.md'), 'by hand')
    utimesSync(at('conversations/conversation-002.md'), 1e9, 1e9)
    writeFileSync(at('conversations/conversation-003.md'), Buffer.from([0xff, 0xfe]))
    checkUp(listingBackwards, store, { deep: false, fix: true })
    const dates = datesInTable(readFileSync(at('ARCHIVE.md'), 'utf8'))
    expect([...dates.keys()]).toEqual([1, 2, 3])
    expect(dates.get(2)?.date).toBe('2001-09-09T01:46:40.000Z')
    await memory.close()
  })

  it('keeps the table where the folder of archives goes away while it looks', async () => {
    const { store, memory, at } = await openWithArchives(2)
    appendFileSync(at('ARCHIVE.md'), '| 009 | gone |\n')
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    const exclusively = <T>(call: () => T): T => {
      renameSync(at('conversations'), at('.away'))
      return store.exclusively(call)
    }
    checkUp(defaultFileSystem, { ...store, exclusively }, { deep: false, fix: true })
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table)
    await memory.close()
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
