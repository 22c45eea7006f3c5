import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openFileMemory } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { createShell, poolSession, shellWithSession, temporaryFolder, writeSession } from './support.ts'

describe('status', () => {
  it('prints the documented JSON', async () => {
    const shell = await shellWithSession()
    await shell.run('search', 'pool')
    const state = await shell.json('status')
    expect(state).toMatchObject({
      health: 'healthy',
      reason: '',
      memory: { lines: 3, limit: 200 },
      ephemeral: { entries: 1, max: 5 },
      archives: { count: 1 },
      index: { fresh: true },
      recent: [{ number: 1, session: 'pool-leak', messages: 4, duration: '3m' }],
    })
    expect(Object.keys(state)).toEqual([
      'health',
      'reason',
      'memory',
      'ephemeral',
      'archives',
      'index',
      'recent',
    ])
  })

  it.each(['memory/MEMORY.md', 'memory/EPHEMERAL.md'])(
    'names %s while a merge is unfinished',
    async (path) => {
      const shell = await shellWithSession()
      appendFileSync(join(shell.root, path), '\n<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> 51fb131\n')
      expect(await shell.json('status')).toMatchObject({
        health: 'degraded',
        reason: `${path} holds both sides of a merge: 'recall doctor' says what to do`,
      })
      expect((await shell.run('status')).code).toBe(1)
    },
  )

  it('names the window while a mark of a merge is left in it', async () => {
    const shell = await shellWithSession()
    appendFileSync(join(shell.root, 'memory/EPHEMERAL.md'), '>>>>>>> 51fb131\n')
    expect((await shell.run('status')).out).toContain(
      "memory/EPHEMERAL.md holds a mark of an unfinished merge: 'recall doctor' says what to do",
    )
  })

  it('says what becomes of a window that holds more sessions than it may', async () => {
    const shell = createShell()
    for (const name of ['a', 'b', 'c'])
      await shell.run('archive', writeSession(temporaryFolder(), name, poolSession))
    expect((await shell.run('status')).out).toContain('3 of 5 sessions')
    writeFileSync(join(shell.root, 'memory/.recall-echo.toml'), '[ephemeral]\nmax_entries = 2\n')
    expect((await shell.run('status')).out).toContain('3 sessions, 2 from the next one on')
    await shell.run('consume', '--clear')
    await shell.run('config', 'ephemeral.max_entries', '1')
    expect((await shell.run('status')).out).toContain('0 of 1 session\n')
  })

  it('counts entries, and no files that hold none', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(join(shell.root, 'memory/rope.md'), '# Rope\n\nIt is in the boat.\n')
    await shell.run('search', 'rope')
    // MEMORY.md has its title; the window, which is read too, is empty.
    expect(await shell.json('status')).toMatchObject({ index: { fresh: true, documents: 2 } })
  })

  it('names the sessions that ended last, whenever they were archived, and not their helpers', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    await shell.run('init')
    const days = ['2026-03-04', '2026-03-01', '2026-03-06', '2026-03-02', '2026-03-05', '2026-03-03']
    for (const day of days) await shell.run('archive', writeSession(folder, `of-${day}`, poolSession, day))
    const { recent } = await shell.json<{ recent: { session: string }[] }>('status')
    expect(recent.map(({ session }) => session)).toEqual(
      days
        .sort()
        .reverse()
        .slice(0, 5)
        .map((day) => `of-${day}`),
    )
    // A table that somebody emptied tells nothing: then the last numbers count.
    writeFileSync(join(shell.root, 'memory/ARCHIVE.md'), '')
    const { recent: byNumber } = await shell.json<{ recent: { number: number }[] }>('status')
    expect(byNumber.map(({ number }) => number)).toEqual([6, 5, 4, 3, 2])
  })

  it('names a session of several archives once, by its last part', async () => {
    const shell = await shellWithSession()
    const words = 'the pool leaks a client in its retry path '.repeat(8000)
    const turns = poolSession.map(({ role }) => ({ role, text: words }))
    await shell.run('archive', writeSession(shell.transcripts, 'long', turns, '2026-03-06'))
    const { recent, archives } = await shell.json<{ recent: unknown[]; archives: unknown }>('status')
    expect(archives).toMatchObject({ count: 5 })
    expect(recent).toMatchObject([
      { number: 5, session: 'long', part: 4, messages: 1 },
      { number: 1, session: 'pool-leak' },
    ])
    expect((await shell.run('status')).out).toContain('part 4: ')
  })

  it('names a session whose archive another tool wrote by its file, at its time', async () => {
    const shell = await shellWithSession()
    const path = join(shell.root, 'memory/conversations/conversation-002.md')
    writeFileSync(path, 'What we talked about.\n')
    utimesSync(path, new Date('2026-03-07T08:00:00Z'), new Date('2026-03-07T08:00:00Z'))
    await shell.run('doctor', '--fix')
    expect((await shell.json<{ recent: unknown[] }>('status')).recent[0]).toEqual({
      number: 2,
      date: '2026-03-07T08:00:00.000Z',
      session: 'conversation-002',
      messages: 0,
      duration: '0s',
      topics: [],
      opening: 'What we talked about.',
    })
    expect((await shell.run('status')).out).toMatch(/002 .* What we talked about\.$/m)
  })

  it('promises no more of distill than it does', async () => {
    const shell = await shellWithSession()
    const section = (_: unknown, i: number) => `## About ${i}\n\n- fact\n`
    const memory = `# Memory\n\n${Array.from({ length: 100 }, section).join('')}`
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), memory)
    expect((await shell.run('status')).out).toContain(
      "302 of 200 lines → 'recall distill' says how to shorten it\n",
    )
    expect((await shell.run('distill')).out).toContain('shorten it by hand')
  })

  it('cuts a long title to the width of the terminal', async () => {
    const shell = createShell()
    const path = join(temporaryFolder(), 's.jsonl')
    const turns = poolSession.map(({ role, text }) => JSON.stringify({ role, content: text }))
    writeFileSync(
      path,
      `${JSON.stringify({ session_id: 's', title: 'pool '.repeat(40) })}\n${turns.join('\n')}\n`,
    )
    await shell.run('init')
    await shell.run('archive', path)
    const { out } = await shell.run('status')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(out).toMatch(/pool [^\n]+…\n/)
  })

  it('shows bars for people', async () => {
    const shell = await shellWithSession()
    const { out, code } = await shell.run('status')
    expect(code).toBe(0)
    expect(out).toMatch(/MEMORY\.md {3}░+ {2}3 of 200 lines/)
    expect(out).toMatch(/window {6}█+░+ {2}1 of 5 sessions/)
  })

  it.each([
    ['is not text', (path: string) => writeFileSync(path, Buffer.from([0x23, 0xff]))],
    [
      'is a link',
      (path: string) => {
        renameSync(path, `${path}.elsewhere`)
        symlinkSync(`${path}.elsewhere`, path)
      },
    ],
  ])('is degraded when MEMORY.md %s, and no command takes it for empty', async (_, spoil) => {
    const shell = await shellWithSession()
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), '\n## Zebra\n\nThe zebra crossing.\n')
    spoil(join(shell.root, 'memory/MEMORY.md'))
    const state = await shell.json<{ health: string; reason: string }>('status')
    expect(state.health).toBe('degraded')
    expect(state.reason).toContain('MEMORY.md')
    const search = await shell.run('search', 'pool')
    expect(search.code).toBe(0)
    expect(search.err).toContain('not searched')
    expect(search.err).toContain('MEMORY.md')
    const exported = await shell.run('export')
    expect(exported.code).toBe(3)
    expect(exported.err).toContain('MEMORY.md')
    const { findings } = await shell.json<{ findings: { check: string; ok: boolean }[] }>('doctor')
    expect(findings).toContainEqual(expect.objectContaining({ check: 'files', ok: false }))
  })

  it('is degraded without MEMORY.md and down without the folder, with exit code 1', async () => {
    const shell = await shellWithSession()
    rmSync(join(shell.root, 'memory/MEMORY.md'))
    expect(await shell.json('status')).toMatchObject({ health: 'degraded' })
    expect((await createShell().run('status')).code).toBe(1)
    expect(await createShell().json('status')).toMatchObject({ health: 'down' })
  })
})

describe('doctor', () => {
  it('is content with a good memory and mends a table that lost a row', async () => {
    const shell = await shellWithSession()
    expect(await shell.run('doctor')).toMatchObject({ code: 0 })
    writeFileSync(join(shell.root, 'memory/ARCHIVE.md'), '# Archive\n')
    expect((await shell.run('doctor')).out).toContain('archive 1 has no row')
    await shell.run('doctor', '--fix')
    expect(await shell.run('doctor', '--deep')).toMatchObject({ code: 0 })
  })

  it('names files that cannot be read and leaves them alone', async () => {
    const shell = await shellWithSession()
    mkdirSync(join(shell.root, 'memory/long-term'), { recursive: true })
    const bytes = Buffer.from([0x66, 0xff, 0xfe, 0x0a])
    writeFileSync(join(shell.root, 'memory/long-term/odd.md'), bytes)
    const { code, out } = await shell.run('doctor')
    expect(code).toBe(1)
    expect(out).toContain('files: memory/long-term/odd.md is not UTF-8 text')
    expect(readFileSync(join(shell.root, 'memory/long-term/odd.md'))).toEqual(bytes)
    expect((await shell.run('search', 'retry path')).code).toBe(0)
    for (const options of [[], ['--full']])
      expect(await shell.run('reindex', ...options)).toMatchObject({
        code: 0,
        err: expect.stringMatching(/^recall: not indexed: .*odd\.md is not UTF-8 text: .*\n$/),
      })
  })
})

it('the doctor says what status says of a memory that a program made', async () => {
  const shell = createShell()
  const memory = await openFileMemory({ root: shell.root, create: true })
  await memory.write('long-term', 'walrus', 'Otto')
  await memory.close()
  const { reason } = await shell.json<{ reason: string }>('status')
  expect(reason).toBe('the curated memory file and the archive folder do not exist')
  const { out, code } = await shell.run('doctor')
  expect(code).toBe(1)
  expect(out).toContain(`wrong   parts: ${reason}\n        → 'recall init' creates what is missing`)
  await shell.run('init')
  expect((await shell.run('status')).code).toBe(0)
  expect((await shell.run('doctor')).code).toBe(0)
})

it('the doctor tells several problems on a line each', async () => {
  const shell = await shellWithSession()
  for (const name of ['conversation-02.md', 'notes.md'])
    writeFileSync(join(shell.root, 'memory/conversations', name), 'x\n')
  const { out } = await shell.run('doctor')
  const [first, second] = ['conversation-02.md', 'notes.md'].map((name) => `memory/conversations/${name}`)
  expect(out).toContain(
    `places:\n          ${first} is not read\n          ${second} is not read\n        → `,
  )
})

it('the doctor names two layouts in one root, and how to go on', async () => {
  const shell = await shellWithSession()
  writeFileSync(join(shell.root, 'EPHEMERAL.md'), 'A note.\n')
  for (const command of [['search', 'pool'], ['doctor']]) {
    const { out, err } = await shell.run(...command)
    expect(`${out}${err}`).toContain('--layout entity or --layout user')
  }
  expect((await shell.run('doctor')).code).toBe(1)
  expect(await shell.json('doctor')).toMatchObject({
    healthy: false,
    findings: [{ check: 'layout', ok: false, remedy: expect.stringContaining('name the layout') }],
  })
  expect((await shell.run('doctor', '--layout', 'entity')).out).toContain('belongs to the user layout')
})
