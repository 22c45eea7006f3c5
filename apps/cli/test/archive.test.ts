import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager } from '@recall/core'
import { openFileStore } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { type ArchiveResult, createArchiver } from '../src/archiving/archiver.ts'
import { createShell, poolSession, shellWithSession, temporaryFolder, writeSession } from './support.ts'

describe('archive', () => {
  it('writes a numbered archive, a row in the table and an entry in the window', async () => {
    const { root } = await shellWithSession()
    const archive = readFileSync(join(root, 'memory/conversations/conversation-001.md'), 'utf8')
    for (const { text } of poolSession) expect(archive).toContain(text)
    expect(archive).toMatch(
      /^---\nlog: 1\ndate: "2026-03-05T10:03:00.000Z"\nsession_id: "pool-leak"\nmessage_count: 4\nduration: "3m"\nsource: "session"\ntopics: \[/,
    )
    expect(archive).toContain('## Summary')
    expect(archive).toMatch(/\*\*Decisions\*\*: .*decided to release the client in finally/)
    expect(readFileSync(join(root, 'memory/ARCHIVE.md'), 'utf8')).toMatch(
      /^\| 001 \| 2026-03-05T10:03:00.000Z \| pool-leak \| 4 \| 3m \| session \|/m,
    )
    expect(readFileSync(join(root, 'memory/EPHEMERAL.md'), 'utf8')).toMatch(/^## Session pool-leak — /)
  })

  it('names each transcript that it could not archive', async () => {
    const shell = createShell()
    await shell.run('init')
    const path = join(shell.root, 'long.jsonl')
    const message = { role: 'user', content: 'The pool leaks.' }
    const line = {
      type: 'user',
      uuid: 'u1',
      sessionId: 'x'.repeat(1001),
      timestamp: '2026-03-05T10:00:00Z',
      message,
    }
    writeFileSync(path, `${JSON.stringify(line)}\n`)
    const other = writeSession(shell.root, 'other', poolSession)
    const told = `recall: not archived: ${path}: the sessionId of a conversation becomes part of keys`
    expect(await shell.run('archive', path, other)).toMatchObject({
      code: 3,
      err: expect.stringContaining(told),
    })
    expect((await shell.run('archive', path)).err).toContain(`${path}: the sessionId of`)
  })

  it('keeps what a person writes into an archive while a model summarises what follows', async () => {
    const shell = await shellWithSession()
    const archives = join(shell.root, 'memory/conversations')
    const lm = {
      model: 'slow',
      async complete() {
        appendFileSync(join(archives, 'conversation-001.md'), 'Mine.\n')
        return JSON.stringify({ summary: 'The pool.', topics: [], decisions: [], action_items: [] })
      },
    }
    writeSession(shell.transcripts, 'pool-leak', [...poolSession, { role: 'user', text: 'Thank you.' }])
    const store = await openFileStore({ root: shell.root })
    const archiver = await createArchiver(createMemoryManager({ stores: store }), store, 'session', { lm })
    expect(await archiver(shell.path)).toMatchObject({ kept: ['conversation:pool-leak'] })
    await store.close()
    expect(readFileSync(join(archives, 'conversation-001.md'), 'utf8')).toContain('Mine.')
    expect(readFileSync(join(archives, 'conversation-002.md'), 'utf8')).toContain('Thank you.')
  })

  it('says that it makes a memory where there was none, and only then', async () => {
    const shell = createShell()
    const path = writeSession(temporaryFolder(), 'pool-leak', poolSession)
    expect((await shell.run('archive', path)).err).toBe(
      `recall: there was no memory in ${shell.root}: this is a new one\n`,
    )
    expect((await shell.run('archive', path)).err).toBe('')
  })

  it('makes no memory for a file that was named by mistake', async () => {
    const shell = createShell()
    const note = join(shell.root, 'note.md')
    writeFileSync(note, 'Nobody speaks here.\n')
    expect(await shell.run('archive', note)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^recall: .* is not a transcript that Recall can read/),
    })
    expect(readdirSync(shell.root)).toEqual(['note.md'])
  })

  it('keeps what a session is called, and shows it', async () => {
    const shell = createShell()
    const path = join(temporaryFolder(), 'named.jsonl')
    const lines = [
      ...poolSession.map(({ role, text }, i) => ({
        type: role,
        uuid: `m${i}`,
        sessionId: 'named',
        message: { role, content: text },
      })),
      { type: 'custom-title', customTitle: 'The leaking pool', sessionId: 'named' },
    ]
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    await shell.run('init')
    await shell.run('archive', path)
    const archive = readFileSync(join(shell.root, 'memory/conversations/conversation-001.md'), 'utf8')
    expect(archive).toContain('\ntitle: "The leaking pool"\n')
    expect((await shell.run('status')).out).toContain('The leaking pool')
    expect(await shell.json('status')).toMatchObject({ recent: [{ title: 'The leaking pool' }] })
    expect((await shell.run('search', '--ranked', 'client')).out).toContain('The leaking pool')
  })

  it('names of a long session how many parts it has', async () => {
    const shell = createShell()
    const turns = Array.from({ length: 4 }, (_, i) => ({
      role: 'user',
      text: `${i} ${'word '.repeat(90_000)}`,
    }))
    const path = writeSession(temporaryFolder(), 'long', turns as typeof poolSession)
    expect((await shell.run('archive', path)).out).toContain(
      '  as conversation:long, in 4 parts · summary by',
    )
  })

  it('changes nothing when the same session is archived again', async () => {
    const shell = await shellWithSession()
    const files = ['conversations/conversation-001.md', 'ARCHIVE.md', 'EPHEMERAL.md'].map((name) =>
      join(shell.root, 'memory', name),
    )
    const before = files.map((path) => readFileSync(path, 'utf8'))
    const { archived } = await shell.json<{ archived: { status: string }[] }>('archive', shell.path)
    expect(archived).toMatchObject([{ status: 'unchanged' }])
    expect(files.map((path) => readFileSync(path, 'utf8'))).toEqual(before)
    expect(readdirSync(join(shell.root, 'memory/conversations'))).toHaveLength(1)
  })

  it('takes a transcript that a host has only created for one in which nothing was said', async () => {
    const shell = await shellWithSession()
    const path = join(shell.transcripts, 'created.jsonl')
    writeFileSync(path, '')
    expect(await shell.run('archive', path)).toMatchObject({ code: 0 })
    const { archived } = await shell.json<{ archived: object[] }>('archive', shell.transcripts)
    expect(archived).toMatchObject([
      { path, sessionId: 'created', status: 'empty', messageCount: 0 },
      { status: 'unchanged' },
    ])
  })

  it('replaces the archive of a session that went on', async () => {
    const shell = await shellWithSession()
    writeSession(shell.transcripts, 'pool-leak', [
      ...poolSession,
      { role: 'user', text: 'And ship it on Friday.' },
    ])
    await shell.run('archive', shell.path)
    expect(readdirSync(join(shell.root, 'memory/conversations'))).toEqual(['conversation-001.md'])
    expect((await shell.run('search', 'ship friday')).out).toContain('ship it on Friday')
  })

  it('replaces the archive of a session whose times were never set, and brings it back from an export', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    for (const turns of [poolSession.slice(0, 2), poolSession]) {
      const path = writeSession(folder, 'unset', turns, '0001-01-01')
      expect(await shell.run('archive', path)).toMatchObject({ code: 0 })
    }
    const exported = (await shell.run('export')).out
    const file = join(folder, 'export.jsonl')
    writeFileSync(file, exported)
    const fresh = createShell()
    expect(await fresh.run('import', file)).toMatchObject({ code: 0 })
    expect((await fresh.run('export')).out).toBe(exported)
  })

  it('keeps a checkpoint out of the window until the session has ended', async () => {
    const shell = createShell()
    const path = writeSession(temporaryFolder(), 'pool-leak', poolSession)
    await shell.run('init')
    await shell.run('checkpoint', path)
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
    expect((await shell.run('status', '--json')).out).toContain('"count":1')
    await shell.run('archive', path)
    expect((await shell.run('consume')).out).toContain('## Session pool-leak')
    expect(readdirSync(join(shell.root, 'memory/conversations'))).toHaveLength(1)
  })

  it('says which formats it reads when a file is no transcript, and archives nothing', async () => {
    const shell = createShell()
    await shell.run('init')
    const path = join(temporaryFolder(), 'shopping.jsonl')
    writeFileSync(path, '{"milk": 2}\n')
    const { code, err } = await shell.run('archive', path)
    expect(code).toBe(2)
    expect(err).toContain('is not a transcript that Recall can read')
    for (const format of ['Qwen Code chat', 'opencode.db#<id>', 'conversations.json#<id>', '## User'])
      expect(err).toContain(format)
    expect(readdirSync(join(shell.root, 'memory/conversations'))).toEqual([])
  })

  it('takes all sessions of a log of Aider, or one, and again what was added', async () => {
    const shell = createShell()
    await shell.run('init')
    const path = join(temporaryFolder(), '.aider.chat.history.md')
    const session = (time: string, said: string): string =>
      `\n# aider chat started at 2026-11-20 ${time}\n\n> Aider v0.86.1  \n\n#### ${said}  \n\nIt sleeps.\n\n`
    writeFileSync(path, session('09:00:00', 'where is the walrus?') + session('10:00:00', 'and the lynx?'))
    const archived = async (...argv: string[]) =>
      (await shell.json<{ archived: ArchiveResult[] }>('archive', ...argv)).archived.map((each) => [
        each.sessionId,
        each.status,
        each.window,
      ])
    const ids = ['09', '10', '11'].map((hour) => `aider-2026-11-20T${hour}-00-00`)
    expect(await archived(`${path}#${ids[1]}`)).toEqual([[ids[1], 'archived', 'added']])
    expect(await archived(path)).toEqual([
      [ids[0], 'archived', 'added'],
      [ids[1], 'unchanged', 'present'],
    ])
    appendFileSync(path, `#### thanks  \n${session('11:00:00', 'where is the ocelot?')}`)
    expect(await archived(path)).toEqual([
      [ids[0], 'unchanged', 'present'],
      [ids[1], 'updated', 'updated'],
      [ids[2], 'archived', 'added'],
    ])
    const archive = readFileSync(join(shell.root, 'memory/conversations/conversation-001.md'), 'utf8')
    expect(archive).toMatch(/^duration: "unknown"$/m)
    expect(archive).toContain(
      '### Assistant\n\n> [output] Aider v0.86.1\n\n### User\n\nand the lynx?\n\n### Assistant\n\nIt sleeps.\n\n### User\n\nthanks\n',
    )
  })

  it('tells apart sessions of two logs of Aider that began in the same second', async () => {
    const shell = createShell()
    await shell.run('init')
    const logOf = (folder: string): string => {
      const path = join(temporaryFolder(), '.aider.chat.history.md')
      const head = '# aider chat started at 2026-11-20 09:00:00'
      writeFileSync(path, `${head}\n\n> Git repo: ${folder}  \n\n#### fix the lint  \n`)
      return path
    }
    const { archived } = await shell.json<{ archived: ArchiveResult[] }>('archive', logOf('a'), logOf('b'))
    expect(archived.map(({ sessionId, status }) => [sessionId, status])).toEqual([
      ['aider-2026-11-20T09-00-00', 'archived'],
      [expect.stringMatching(/^aider-2026-11-20T09-00-00-[0-9a-f]{6}$/), 'archived'],
    ])
  })

  it('takes markdown and JSON, named and among other files in a folder', async () => {
    const folder = temporaryFolder()
    writeFileSync(
      join(folder, 'talk.md'),
      '## User\n\nWhere is the walrus?\n\n## Assistant\n\nIn the pool.\n',
    )
    writeFileSync(
      join(folder, 'chat.json'),
      JSON.stringify([{ role: 'user', content: 'the narwhal sleeps' }]),
    )
    writeFileSync(join(folder, 'notes.md'), '# Notes\n\nNobody speaks here.\n')
    writeFileSync(join(folder, 'package.json'), '{}')
    writeSession(folder, 'lines', poolSession)
    const named = createShell()
    expect((await named.run('archive', join(folder, 'talk.md'))).code).toBe(0)
    expect((await named.run('search', 'walrus')).code).toBe(0)
    const { archived } = await createShell().json<{ archived: { sessionId: string }[] }>('archive', folder)
    expect(archived.map(({ sessionId }) => sessionId).sort()).toEqual(['chat', 'lines', 'talk'])
  })

  it('archives the good sessions of a folder that also holds a bad one, says so, and fails', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    for (const name of ['a', 'c']) writeSession(folder, name, poolSession)
    writeFileSync(join(folder, 'b.jsonl'), '{"milk": 2}\n')
    const { code, out } = await shell.run('archive', folder, '--json')
    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({
      archived: [{ sessionId: 'a' }, { sessionId: 'c' }],
      failed: [{ path: join(folder, 'b.jsonl') }],
    })
    expect((await shell.run('archive', folder)).err).toContain('b.jsonl')
  })

  it('takes a session from a folder with a # in its name', async () => {
    const shell = createShell()
    const folder = join(temporaryFolder(), 'a#b')
    mkdirSync(folder)
    expect((await shell.run('archive', writeSession(folder, 's', poolSession))).code).toBe(0)
    expect(await shell.json('import', folder)).toMatchObject({ unchanged: 1, failed: [] })
  })

  it('never overwrites what a person wrote into an archive or into the window', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    await shell.run('archive', writeSession(folder, 's', poolSession.slice(0, 2)))
    const archive = join(shell.root, 'memory/conversations/conversation-001.md')
    const window = join(shell.root, 'memory/EPHEMERAL.md')
    writeFileSync(
      window,
      readFileSync(window, 'utf8')
        .trimEnd()
        .replace(/[^\n]+$/, 'MY SUMMARY'),
    )
    await shell.run('archive', join(folder, 's.jsonl'))
    expect(readFileSync(window, 'utf8')).toContain('MY SUMMARY')
    writeFileSync(archive, `${readFileSync(archive, 'utf8')}\nMY NOTE\n`)
    const { out } = await shell.run('archive', writeSession(folder, 's', poolSession))
    expect(out).toContain('kept')
    expect(readFileSync(archive, 'utf8')).toContain('MY NOTE')
    expect(readFileSync(window, 'utf8')).toContain('MY SUMMARY')
    expect((await shell.run('search', 'leak test passes')).code).toBe(0)
  })

  it('prints no secret that a title holds', async () => {
    const shell = createShell()
    const secret = ['ghp', '_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('')
    const path = join(temporaryFolder(), 't.jsonl')
    writeFileSync(
      path,
      `${JSON.stringify({ title: `use ${secret}` })}\n${JSON.stringify({ role: 'user', content: 'hello there' })}\n`,
    )
    const { out } = await shell.run('archive', path)
    expect(out).toContain('[redacted:github]')
    expect(out).not.toContain(secret)
  })

  it('fails for a missing transcript with the path in the message', async () => {
    const { code, err } = await createShell().run('archive', 'nowhere.jsonl')
    expect(code).toBe(1)
    expect(err).toContain('nowhere.jsonl')
  })

  it.runIf(process.platform !== 'win32')('refuses a pipe, whatever it is called', async () => {
    const shell = createShell()
    const pipe = join(shell.root, 'talk.jsonl')
    execFileSync('mkfifo', [pipe])
    const { code, err } = await shell.run('archive', pipe)
    expect([code, err]).toEqual([2, expect.stringContaining('is a pipe or a device')])
  })

  it('archives what can be read beside a path that is missing, names that one, and fails', async () => {
    const shell = createShell()
    const path = writeSession(temporaryFolder(), 'good', poolSession)
    const missing = join(shell.root, 'nowhere.jsonl')
    const { code, out } = await shell.run('archive', missing, path, '--json')
    expect(code).toBe(3)
    const failed = [{ path: missing, reason: `${missing} does not exist` }]
    expect(JSON.parse(out)).toMatchObject({ archived: [{ sessionId: 'good' }], failed })
    expect((await shell.run('archive', path, missing)).err).toBe(
      `recall: not archived: ${missing} does not exist\n`,
    )
    const nothing = createShell()
    expect(await nothing.run('archive', 'a.jsonl', 'b.jsonl')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/a\.jsonl does not exist; .*b\.jsonl does not exist/),
    })
    expect(readdirSync(nothing.root)).toEqual([])
  })

  it('says once which formats it understands, however many files have none of them', async () => {
    const shell = createShell()
    await shell.run('init')
    const folder = temporaryFolder()
    writeSession(folder, 'good', poolSession)
    for (const name of ['one', 'two']) writeFileSync(join(folder, `${name}.jsonl`), 'hello {')
    const { code, err } = await shell.run('archive', folder)
    expect(code).toBe(3)
    const lines = err.trimEnd().split('\n')
    expect(lines.slice(0, -1)).toEqual(
      ['one', 'two'].map(
        (name) =>
          `recall: not archived: ${join(folder, name)}.jsonl is not a transcript that Recall can read`,
      ),
    )
    expect(lines.at(-1)).toMatch(/^recall: it understands: Claude Code session/)
  })

  it('replaces secrets before they reach the disk and says so', async () => {
    const shell = createShell()
    await shell.run('init')
    const secret = ['ghp', '_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('')
    const path = writeSession(temporaryFolder(), 'leaky', [{ role: 'user', text: `use ${secret} to push` }])
    const { out } = await shell.run('archive', path)
    expect(out).toContain('secrets replaced: 1 github')
    const archive = readFileSync(join(shell.root, 'memory/conversations/conversation-001.md'), 'utf8')
    expect(archive).toContain('[redacted:github]')
    expect(archive).not.toContain(secret)
  })
})

describe('import', () => {
  it('archives a folder of sessions and passes over what it has seen', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    for (const day of [1, 2, 3]) writeSession(folder, `day-${day}`, poolSession, `2026-03-0${day}`)
    expect(await shell.json('import', folder, '--dry-run')).toMatchObject({ unchanged: 0 })
    expect(await shell.json('import', folder)).toMatchObject({ archived: 3, messages: 12, failed: [] })
    expect(await shell.json('import', folder)).toMatchObject({ archived: 0, unchanged: 3 })
    writeSession(folder, 'day-4', poolSession, '2026-03-04')
    expect(await shell.json('import', folder)).toMatchObject({ archived: 1, unchanged: 3 })
  })

  it('imports the good sessions of a folder that also holds a bad one, and names the bad one', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    writeSession(folder, 'good', poolSession)
    writeFileSync(join(folder, 'bad.jsonl'), '{"milk": 2}\n')
    const report = await shell.json<{ archived: number; failed: { path: string }[] }>('import', folder)
    expect(report.archived).toBe(1)
    expect(report.failed.map(({ path }) => path)).toEqual([join(folder, 'bad.jsonl')])
  })

  it('imports what can be read beside a path that is missing, and names that one', async () => {
    const shell = createShell()
    const path = writeSession(temporaryFolder(), 'good', poolSession)
    const failed = [{ path: join(shell.root, 'nowhere.jsonl'), reason: 'does not exist' }]
    const planned = await shell.run('import', 'nowhere.jsonl', path, '--dry-run', '--json')
    expect([planned.code, JSON.parse(planned.out)]).toEqual([3, { wouldRead: [path], unchanged: 0, failed }])
    const { code, out } = await shell.run('import', 'nowhere.jsonl', path, '--json')
    expect([code, JSON.parse(out)]).toMatchObject([3, { archived: 1, failed }])
    expect(await shell.run('import', 'nowhere.jsonl')).toMatchObject({ code: 1 })
  })
})
