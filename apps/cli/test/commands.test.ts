import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShell, poolSession, type Shell, temporaryFolder, writeSession } from './support.ts'

async function shellWithSession() {
  const shell = createShell()
  const transcripts = temporaryFolder()
  const path = writeSession(transcripts, 'pool-leak', poolSession)
  await shell.run('init')
  await shell.run('archive', path)
  return { ...shell, path, transcripts }
}

describe('init', () => {
  it('creates the files of the entity layout and a second time changes none of them', async () => {
    const shell = createShell()
    const first = await shell.json<{ created: string[]; kept: string[] }>('init')
    expect(first.created).toEqual([
      'memory/MEMORY.md',
      'memory/EPHEMERAL.md',
      'memory/ARCHIVE.md',
      'memory/conversations/',
    ])
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), '## Mine\n')
    const second = await shell.json<{ created: string[]; kept: string[] }>('init')
    expect(second.created).toEqual([])
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toContain('## Mine')
  })

  it('creates the user layout when asked', async () => {
    const shell = createShell()
    await shell.run('init', '--layout', 'user')
    expect(readdirSync(shell.root).sort()).toEqual(['ARCHIVE.md', 'EPHEMERAL.md', 'memories', 'memory'])
  })
})

describe('init at a terminal', () => {
  it('asks for the layout of a new memory and takes entity when nothing is typed', async () => {
    const user = createShell(temporaryFolder(), 'user')
    await user.run('init')
    expect(existsSync(join(user.root, 'memories'))).toBe(true)
    const entity = createShell(temporaryFolder(), '')
    await entity.run('init')
    expect(existsSync(join(entity.root, 'memory/conversations'))).toBe(true)
    expect(await createShell(temporaryFolder(), 'both').run('init')).toMatchObject({ code: 2 })
  })
})

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
    expect(err).toContain('is no transcript that Recall can read')
    expect(readdirSync(join(shell.root, 'memory/conversations'))).toEqual([])
  })

  it('fails for a missing transcript with the path in the message', async () => {
    const { code, err } = await createShell().run('archive', 'nowhere.jsonl')
    expect(code).toBe(1)
    expect(err).toContain('nowhere.jsonl')
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

describe('search', () => {
  it('prints the documented JSON', async () => {
    const shell = await shellWithSession()
    const answer = await shell.json<{ results: Record<string, unknown>[] }>('search', 'retry path client')
    expect(Object.keys(answer)).toEqual(['query', 'mode', 'tookMs', 'results'])
    expect(answer).toMatchObject({ query: 'retry path client', mode: 'lexical' })
    expect(Object.keys(answer.results[0] ?? {})).toEqual([
      'scope',
      'key',
      'path',
      'line',
      'score',
      'title',
      'date',
      'snippet',
      'neighbours',
    ])
    expect(answer.results[0]).toMatchObject({
      scope: 'episodic',
      key: 'conversation:pool-leak',
      path: 'memory/conversations/conversation-001.md',
      snippet: 'The retry path in src/pool.ts takes a client and never releases it.',
    })
  })

  it('shows every line that has all the words, and with --ranked the best of each memory', async () => {
    const shell = createShell()
    await shell.run('init')
    const folder = temporaryFolder()
    const turns = ['The pool leaks.', 'It rains.', 'Is it the pool that leaks?', 'Only the pool.']
    const session = turns.map((text, i) => ({
      role: i % 2 ? ('assistant' as const) : ('user' as const),
      text,
    }))
    await shell.run('archive', writeSession(folder, 'one', session))
    const lines = async (...options: string[]): Promise<string[]> => {
      const { results } = await shell.json<{ results: { snippet: string }[] }>(
        'search',
        'pool leak',
        '--scope',
        'episodic',
        ...options,
      )
      return results.map(({ snippet }) => snippet)
    }
    expect(await lines()).toEqual(['The pool leaks.', 'The pool leaks.', 'Is it the pool that leaks?'])
    expect(await lines('--ranked')).toEqual(['The pool leaks.'])
    expect(await lines('--limit', '1')).toEqual(['The pool leaks.'])
  })

  it('names the line of the file on which the match stands', async () => {
    const shell = await shellWithSession()
    const { results } = await shell.json<{ results: { path: string; line: number; snippet: string }[] }>(
      'search',
      'leak test passes',
    )
    const [hit] = results
    const lines = readFileSync(join(shell.root, hit?.path ?? ''), 'utf8').split('\n')
    expect(lines[(hit?.line ?? 0) - 1]).toBe(hit?.snippet)
  })

  it('finds what was typed into MEMORY.md by hand a moment ago', async () => {
    const shell = await shellWithSession()
    appendFileSync(
      join(shell.root, 'memory/MEMORY.md'),
      '\n## Deploys\n\nWe deploy from the release branch, never on Fridays.\n',
    )
    const { out } = await shell.run('search', 'release branch')
    expect(out).toContain('memory/MEMORY.md:7')
    expect(out).toContain('We deploy from the release branch')
  })

  it('ranks an entry with all words above one with some, and explains the score', async () => {
    const shell = await shellWithSession()
    const { results } = await shell.json<{ results: { score: number; signals: Record<string, number> }[] }>(
      'search',
      '--ranked',
      '--explain',
      'database connections hour',
    )
    const [first] = results
    const total = Object.values(first?.signals ?? {}).reduce((sum, share) => sum + share, 0)
    expect(total).toBeCloseTo(first?.score ?? 0, 2)
    expect(Object.keys(first?.signals ?? {})).toEqual(
      expect.arrayContaining(['words', 'document', 'recency']),
    )
  })

  it('exits with 1 when nothing is found and with 2 when it is used wrongly', async () => {
    const shell = await shellWithSession()
    expect(await shell.run('search', 'zeppelin')).toMatchObject({ code: 1, out: 'Nothing found.\n' })
    expect(await shell.run('search', 'pool', '--limit', 'many')).toMatchObject({ code: 2 })
    expect(await shell.run('search')).toMatchObject({ code: 2 })
    expect(await shell.run('seach', 'pool')).toMatchObject({ code: 2 })
  })

  it('shows lines around a match and searches one scope when asked', async () => {
    const shell = await shellWithSession()
    const { out } = await shell.run('search', 'retry path', '-C', '2', '--scope', 'episodic')
    expect(out).toContain('### Assistant')
    expect((await shell.run('search', 'retry path', '--scope', 'long-term')).code).toBe(1)
  })

  it('prints no control characters that a memory holds', async () => {
    const shell = createShell()
    await shell.run('init')
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), '\n## Trap\n\nbeware \u001b[2Jof the zeppelin\n')
    const { out } = await shell.run('search', 'zeppelin')
    expect(out).toContain('of the zeppelin')
    expect(out).not.toContain('\u001b')
  })
})

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

  it('shows bars for people', async () => {
    const shell = await shellWithSession()
    const { out, code } = await shell.run('status')
    expect(code).toBe(0)
    expect(out).toMatch(/MEMORY\.md {3}░+ {2}3 of 200 lines/)
    expect(out).toMatch(/window {6}█+░+ {2}1 of 5 sessions/)
  })

  it('is degraded without MEMORY.md and down without the folder, with exit code 1', async () => {
    const shell = await shellWithSession()
    rmSync(join(shell.root, 'memory/MEMORY.md'))
    expect(await shell.json('status')).toMatchObject({ health: 'degraded' })
    expect((await createShell().run('status')).code).toBe(1)
    expect(await createShell().json('status')).toMatchObject({ health: 'down' })
  })
})

describe('consume', () => {
  it('prints the window, and with --clear empties it for good', async () => {
    const shell = await shellWithSession()
    expect((await shell.run('consume', '--clear')).out).toContain('## Session pool-leak')
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
    await shell.run('archive', shell.path)
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
  })

  it('keeps as many sessions as the settings say', async () => {
    const shell = createShell()
    await shell.run('init')
    await shell.run('config', 'ephemeral.max_entries', '2')
    const folder = temporaryFolder()
    for (const day of [1, 2, 3]) writeSession(folder, `day-${day}`, poolSession, `2026-03-0${day}`)
    await shell.run('archive', folder)
    const { entries } = await shell.json<{ entries: { sessionId: string }[] }>('consume')
    expect(entries.map(({ sessionId }) => sessionId)).toEqual(['day-2', 'day-3'])
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
})

describe('distill', () => {
  const heavy = `# Memory\n\n## Debugging\n\n${Array.from({ length: 230 }, (_, i) => `- fact ${i}`).join('\n')}\n\n## Style\n\nShort.\n`

  it('shows a plan, and applies it only when asked', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), heavy)
    expect((await shell.run('distill')).out).toContain('Would move to topic files:\n  Debugging')
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toBe(heavy)
    await shell.run('distill', '--apply')
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8').split('\n').length).toBeLessThan(20)
    expect(readFileSync(join(shell.root, 'memory/debugging.md'), 'utf8')).toContain('- fact 229')
    expect((await shell.run('search', 'fact 117')).out).toContain('memory/debugging.md')
  })
})

describe('forget', () => {
  it('shows first, then removes the archive, its row and its entry in the window, and keeps it forgotten', async () => {
    const shell = await shellWithSession()
    const shown = await shell.json<{ forgotten: boolean; memories: unknown[] }>(
      'forget',
      'conversation:pool-leak',
    )
    expect(shown).toMatchObject({
      forgotten: false,
      memories: [
        { scope: 'episodic', key: 'conversation:pool-leak' },
        { scope: 'short-term', key: 'session:pool-leak' },
      ],
    })
    expect((await shell.run('search', 'retry path')).code).toBe(0)
    const { out } = await shell.run('forget', 'conversation:pool-leak', '--yes')
    expect(out).toMatch(/receipt [0-9a-f]{16}/)
    expect((await shell.run('search', 'retry path')).code).toBe(1)
    expect(readFileSync(join(shell.root, 'memory/ARCHIVE.md'), 'utf8')).not.toContain('pool-leak')
    expect(existsSync(join(shell.root, 'memory/conversations/conversation-001.md'))).toBe(false)
    const again = await shell.run('archive', shell.path)
    expect(again.code).toBe(3)
    expect(again.err).toContain('was forgotten')
    expect(await shell.json('import', shell.path)).toMatchObject({ archived: 0, forgotten: 1, failed: [] })
  })

  it('finds memories by what they contain', async () => {
    const shell = await shellWithSession()
    expect(await shell.json('forget', '--containing', 'never releases it')).toMatchObject({
      memories: [{ key: 'conversation:pool-leak' }],
    })
    expect((await shell.run('forget', '--containing', 'zeppelin')).code).toBe(1)
  })
})

describe('scrub', () => {
  it('finds secrets that people typed into their files, and replaces them when asked', async () => {
    const shell = await shellWithSession()
    const secret = ['sk_', 'live_', '4eC39HqLyjWDarjtT1zdp7dc'].join('')
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), `\n## Keys\n\nstripe: ${secret}\n`)
    expect(await shell.run('scrub')).toMatchObject({ code: 1 })
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toContain(secret)
    expect(await shell.run('scrub', '--yes')).toMatchObject({ code: 0 })
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).not.toContain(secret)
    expect(await shell.run('scrub')).toMatchObject({ code: 0, out: 'No secrets found.\n' })
  })
})

/** What a memory holds; times of files survive a backup to the second only. */
const memories = async (shell: Shell): Promise<unknown[]> =>
  (await shell.run('export')).out
    .trim()
    .split('\n')
    .map((line) => {
      const { key, scope, type, tags, value } = JSON.parse(line) as Record<string, unknown>
      return { key, scope, type, tags, value }
    })

describe('backup and restore', () => {
  it('bring a memory to another place, with everything in it', async () => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect((await shell.run('backup', file)).code).toBe(0)
    const other = createShell(join(temporaryFolder(), 'restored'))
    expect((await other.run('restore', file)).code).toBe(0)
    expect(await memories(other)).toEqual(await memories(shell))
    expect(await other.json('doctor', '--deep')).toMatchObject({ healthy: true })
  })

  it('never restores over a memory', async () => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const { code, err } = await shell.run('restore', file)
    expect(code).toBe(3)
    expect(err).toContain('already holds a memory')
  })

  it('leaves nothing behind when the file is damaged', async () => {
    const shell = await shellWithSession()
    const folder = temporaryFolder()
    await shell.run('backup', join(folder, 'memory.tar.gz'))
    const bytes = readFileSync(join(folder, 'memory.tar.gz'))
    writeFileSync(join(folder, 'torn.tar.gz'), bytes.subarray(0, bytes.length / 2))
    const other = createShell(join(folder, 'restored'))
    expect((await other.run('restore', join(folder, 'torn.tar.gz'))).code).toBe(3)
    expect(existsSync(join(folder, 'restored', 'memory'))).toBe(false)
    expect(readdirSync(folder).filter((name) => name.includes('restoring'))).toEqual([])
  })

  it('goes on where a restore was killed, and removes what that one had unpacked', async () => {
    const shell = createShell()
    await shell.run('init', '.', '--layout', 'user')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
    const folder = temporaryFolder()
    const file = join(folder, 'memory.tar.gz')
    expect((await shell.run('backup', file)).code).toBe(0)
    const other = createShell(join(folder, 'restored'))
    mkdirSync(other.root)
    // Some of it had been moved in; `memory` comes last.
    cpSync(join(shell.root, 'memories'), join(other.root, 'memories'), { recursive: true })
    const abandoned = join(folder, `restored.restoring-${2 ** 22 + 1}`)
    const underWay = join(folder, `restored.restoring-${process.ppid}`)
    for (const name of [abandoned, underWay]) mkdirSync(name)
    expect(await other.run('restore', file, '--layout', 'user')).toMatchObject({ code: 0, err: '' })
    expect(await memories(other)).toEqual(await memories(shell))
    expect([existsSync(abandoned), existsSync(underWay)]).toEqual([false, true])
  })

  it('overwrites nothing that lies where the backup belongs', async () => {
    const shell = createShell()
    await shell.run('init', '.', '--layout', 'user')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell()
    writeFileSync(join(other.root, 'EPHEMERAL.md'), 'mine')
    const { code, err } = await other.run('restore', file, '--layout', 'user')
    expect([code, readdirSync(other.root)]).toEqual([3, ['EPHEMERAL.md']])
    expect(err).toContain('EPHEMERAL.md is not what the backup holds')
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
    expect(out).toContain('odd.md')
    expect(readFileSync(join(shell.root, 'memory/long-term/odd.md'))).toEqual(bytes)
    expect((await shell.run('search', 'retry path')).code).toBe(0)
  })
})

describe('the rest', () => {
  it('reindex reports what it indexed', async () => {
    const shell = await shellWithSession()
    expect(await shell.json('reindex', '--full')).toMatchObject({ documents: 3 })
  })

  it('config shows, sets and refuses', async () => {
    const shell = await shellWithSession()
    expect((await shell.run('config')).out).toBe('ephemeral.max_entries = 5\n')
    await shell.run('config', 'ephemeral.max_entries', '9')
    expect(readFileSync(join(shell.root, 'memory/.recall-echo.toml'), 'utf8')).toBe(
      '[ephemeral]\nmax_entries = 9\n',
    )
    expect(await shell.run('config', 'ephemeral.max_entries', '99')).toMatchObject({ code: 2 })
    expect(await shell.run('config', 'colour')).toMatchObject({ code: 2 })
  })

  it('config keeps comments and other settings', async () => {
    const shell = await shellWithSession()
    const path = join(shell.root, 'memory/.recall-echo.toml')
    writeFileSync(path, '# mine\n[ephemeral]\nmax_entries = 3 # few\n\n[other]\nx = 1\n')
    await shell.run('config', 'ephemeral.max_entries', '7')
    expect(readFileSync(path, 'utf8')).toBe('# mine\n[ephemeral]\nmax_entries = 7 # few\n\n[other]\nx = 1\n')
  })

  it('export prints one JSON line for each memory', async () => {
    const shell = await shellWithSession()
    const lines = (await shell.run('export')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string })
    expect(lines.map(({ key }) => key)).toEqual([
      'session:pool-leak',
      'MEMORY.md#intro',
      'conversation:pool-leak',
    ])
  })

  it('completion prints a script for each shell and refuses others', async () => {
    const shell = createShell()
    for (const name of ['bash', 'zsh', 'fish']) {
      const { code, out } = await shell.run('completion', name)
      expect(code).toBe(0)
      expect(out).toContain('archive')
    }
    expect(await shell.run('completion', 'cmd')).toMatchObject({ code: 2 })
  })

  it('every command has help with examples', async () => {
    const shell = createShell()
    const { out } = await shell.run('--help')
    const names = [...out.matchAll(/^ {2}([a-z]+) {2,}|^ {2}([a-z]+) [[<]/gm)].map(
      ([, bare, taking]) => bare ?? taking ?? '',
    )
    expect(names).toEqual(
      expect.arrayContaining([
        'init',
        'status',
        'archive',
        'checkpoint',
        'import',
        'search',
        'distill',
        'consume',
        'doctor',
        'reindex',
        'config',
        'export',
        'backup',
        'restore',
        'forget',
        'scrub',
        'completion',
      ]),
    )
    for (const name of names) {
      const help = await shell.run(name, '--help')
      expect(help.code).toBe(0)
      expect(help.out).toContain('Examples:')
    }
  })

  it('a missing root is an error that says what to do', async () => {
    const shell = createShell(join(temporaryFolder(), 'gone'))
    const { code, err } = await shell.run('search', 'anything')
    expect(code).toBe(3)
    expect(err).toContain("create it with 'recall init'")
  })
})
