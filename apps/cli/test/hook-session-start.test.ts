import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createShell, poolSession, temporaryFolder, writeSession } from './support.ts'

const event = (fields: Record<string, unknown>): string => JSON.stringify(fields)

it('tells a session what is written in plain sentences', async () => {
  const shell = createShell()
  await shell.run('init')
  const start = () =>
    shell
      .withInput(event({ session_id: 'n', hook_event_name: 'SessionStart', transcript_path: '/n' }))
      .run('hook', 'session-start')
  expect((await start()).out).toBe('')
  appendFileSync(join(shell.root, 'memory/MEMORY.md'), '\nNever deploy on Fridays.\n')
  const { out } = await start()
  expect(out).toContain('Never deploy on Fridays.')
  expect(out).not.toContain('0 sessions')
})

it('does not wait for a process that hangs and holds the lock of the memory', async () => {
  const shell = createShell()
  await shell.run('init')
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const ended = { session_id: 's2', transcript_path: writeSession(shell.root, 's2', poolSession) }
  await shell.withInput(event({ ...ended, hook_event_name: 'SessionEnd' })).run('hook', 'session-end')
  const holding = `const { openFileStore } = await import('@recall/store-file')
const store = await openFileStore({ root: process.argv[1] })
store.exclusively(() => {
  process.stdout.write('held')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})`
  const flags = ['--import', 'tsx', '-C', '@recall/source', '--input-type=module', '-e', holding]
  const holder = spawn(process.execPath, [...flags, shell.root], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await once(holder.stdout, 'data')
  const begun = performance.now()
  const starting = event({ session_id: 'n', hook_event_name: 'SessionStart', transcript_path: '/n' })
  const { out } = await shell.withInput(starting).run('hook', 'session-start', '--clear')
  expect(out).toContain('Session s1')
  // Hosts wait ten seconds.
  expect(performance.now() - begun).toBeLessThan(8000)
})

it('tells nothing of a memory in the working folder where RECALL_ROOT is set to nothing', async () => {
  const shell = createShell()
  await shell.run('init', '.')
  writeFileSync(join(shell.root, 'memory/MEMORY.md'), 'Deploys of this project are frozen.\n')
  const starting = event({ session_id: 's1', hook_event_name: 'SessionStart', transcript_path: '/t.jsonl' })
  const hook = createShell(shell.root, null, { RECALL_ROOT: '' }, { input: starting })
  expect((await hook.run('hook', 'session-start')).out).not.toContain('frozen')
})

it('tells a curated memory that is full of secrets, without them', async () => {
  const shell = createShell()
  await shell.run('init')
  const lines = Array.from({ length: 120 }, (_, i) => `- router ${i} password: kx${i}Zq9! beside the door\n`)
  writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n${lines.join('').repeat(2)}`)
  const starting = event({ session_id: 's1', hook_event_name: 'SessionStart', transcript_path: '/t.jsonl' })
  const { out } = await shell.withInput(starting).run('hook', 'session-start')
  expect(out).toContain('router 0 password: [redacted:password]')
  expect(out).not.toContain('Zq9!')
})

it('tells as much as the host takes, in whatever script, and of whatever has to be escaped', async () => {
  const shell = createShell()
  await shell.run('init')
  const told = async (text: string): Promise<string> => {
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n${text}`)
    const ofCodex = { session_id: 'n', hook_event_name: 'SessionStart', transcript_path: '/n', turn_id: '1' }
    const { out } = await shell.withInput(event(ofCodex)).run('hook', 'session-start')
    return (JSON.parse(out) as { hookSpecificOutput: { additionalContext: string } }).hookSpecificOutput
      .additionalContext
  }
  const han = await told('数据库连接池满了，重试没有抖动。\n'.repeat(400))
  expect(han).toContain('数据库连接池满了')
  expect(Buffer.byteLength(han)).toBeLessThanOrEqual(10_000)
  const marks = await told('The <recalled-memory> is ours.\n'.repeat(190))
  expect(marks).toContain('&lt;recalled-memory')
  expect(marks.length).toBeLessThanOrEqual(7000)
})

it('says to the person what was loaded, and nothing else', async () => {
  const shell = createShell()
  await shell.run('init')
  const notice = async (): Promise<string> => {
    const input = event({ session_id: 'n', hook_event_name: 'SessionStart', transcript_path: '/n' })
    const { out } = await shell.withInput(input).run('hook', 'session-start')
    return (JSON.parse(out) as { systemMessage: string }).systemMessage
  }
  const window = join(shell.root, 'memory/EPHEMERAL.md')
  writeFileSync(window, 'Call Ada back.\n')
  expect(await notice()).toBe('Recall: notes loaded.')
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  expect(await notice()).toBe('Recall: the last session loaded.')
  appendFileSync(join(shell.root, 'memory/MEMORY.md'), '\nNever deploy on Fridays.\n')
  expect(await notice()).toBe('Recall: the last session and curated memory loaded.')
  writeFileSync(window, '')
  expect(await notice()).toBe('Recall: curated memory loaded.')
})

it.runIf(process.platform !== 'win32')(
  'leaves out what is no file of the memory, and tells the rest',
  async () => {
    const shell = createShell()
    await shell.run('archive', writeSession(shell.root, 's1', poolSession))
    const curated = join(shell.root, 'memory/MEMORY.md')
    const start = () =>
      shell
        .withInput(event({ session_id: 'n', hook_event_name: 'SessionStart', transcript_path: '/n' }))
        .run('hook', 'session-start')
    const elsewhere = join(temporaryFolder(), 'diary.md')
    writeFileSync(elsewhere, 'What nobody is told.\n')
    const places = [() => symlinkSync(elsewhere, curated), () => mkdirSync(curated)]
    for (const take of places) {
      take()
      const { out, err } = await start()
      expect(out).toContain('s1')
      expect(out).not.toContain('What nobody is told.')
      expect(err).toContain(`not told: ${curated} is `)
      rmSync(curated, { recursive: true })
    }
    // A pipe that nobody writes to would keep the reader waiting.
    execFileSync('mkfifo', [curated])
    expect(await start()).toMatchObject({
      out: expect.stringContaining('s1'),
      err: expect.stringContaining('is not a file'),
    })
  },
)

it('says that a session was not archived, also where there is nothing else to tell', async () => {
  const shell = createShell()
  await shell.run('init')
  const transcript = join(shell.root, 'damaged.jsonl')
  writeFileSync(transcript, 'no transcript at all\n')
  const told = async (name: string, fields: Record<string, unknown>): Promise<string> =>
    (await shell.withInput(event({ transcript_path: transcript, ...fields })).run('hook', name)).out
  await told('session-end', { session_id: 's1', hook_event_name: 'SessionEnd' })
  const start = { session_id: 's2', hook_event_name: 'SessionStart', transcript_path: '/n' }
  for (const source of ['startup', 'resume'])
    expect(JSON.parse(await told('session-start', { ...start, source }))).toEqual({
      systemMessage: `Recall: Not archived: ${transcript} is not a transcript of Claude Code that Recall can read`,
    })
})

it('tells the person when the memory cannot be read, where the host shows it', async () => {
  const shell = createShell()
  writeFileSync(join(shell.root, 'memory'), 'no folder')
  const start = async (fields: Record<string, unknown>): Promise<string> =>
    (await shell.withInput(event({ session_id: 's', ...fields })).run('hook', 'session-start')).out
  expect(JSON.parse(await start({ hook_event_name: 'SessionStart', transcript_path: '/n' }))).toEqual({
    systemMessage: expect.stringMatching(
      /^Recall: .*memory cannot be created \(EEXIST\): what is there is not a folder/,
    ),
  })
  expect(JSON.parse(await start({ conversation_id: 's' }))).toEqual({})
})

it('tells a resumed session nothing a second time, and a compacted one again', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const start = (source: string) =>
    shell
      .withInput(event({ session_id: 'n', hook_event_name: 'SessionStart', source, transcript_path: '/n' }))
      .run('hook', 'session-start')
  expect((await start('resume')).out).toBe('')
  expect((await start('compact')).out).toContain('s1')
})

it('tells a resumed session again where the host has kept nothing of it', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const input = event({ sessionId: 'n', source: 'resume', timestamp: 1, cwd: '/' })
  const { out } = await shell.withInput(input).run('hook', 'session-start')
  expect(JSON.parse(out)).toEqual({ additionalContext: expect.stringContaining('s1') })
})

describe('in Gemini CLI, which loses what it is told at a start', () => {
  const names: Record<string, string> = {
    'session-start': 'SessionStart',
    'turn-start': 'BeforeAgent',
    'pre-compact': 'PreCompress',
    'session-end': 'SessionEnd',
  }
  const message = (id: string, type: string, content: string) =>
    JSON.stringify({ id, timestamp: '2026-11-20T09:00:00Z', type, content })
  const header = JSON.stringify({ sessionId: 'n', projectHash: 'p' })
  const zebraChat = [header, message('1', 'user', 'a zebra'), message('2', 'gemini', 'ok'), ''].join('\n')

  async function gemini() {
    const shell = createShell()
    await shell.run('archive', writeSession(shell.root, 's1', poolSession))
    const transcript = join(shell.root, 'chat.jsonl')
    const run = async (name: string, fields: Record<string, unknown> = {}, ...flags: string[]) => {
      const about = { session_id: 'n', timestamp: 't', transcript_path: transcript, ...fields }
      const input = event({ ...about, hook_event_name: names[name] })
      return (await shell.withInput(input).run('hook', name, ...flags)).out
    }
    return { shell, transcript, run }
  }

  it('tells a session with its first prompt, and with the next one after a compaction', async () => {
    const { run } = await gemini()
    expect(JSON.parse(await run('session-start', { source: 'startup' }))).toEqual({
      systemMessage: 'Recall: the last session loaded.',
    })
    expect(JSON.parse(await run('turn-start')).hookSpecificOutput).toEqual({
      hookEventName: 'BeforeAgent',
      additionalContext: expect.stringContaining('Session s1'),
    })
    expect(await run('turn-start')).toBe('{}\n')
    await run('session-end')
    expect(await run('session-start', { source: 'resume' })).toBe('{}\n')
    expect(await run('turn-start')).toBe('{}\n')
    await run('pre-compact', { trigger: 'manual' })
    expect(await run('turn-start')).toContain('Session s1')
    expect(await run('turn-start', { session_id: 'cleared' })).toContain('Session s1')
  })

  it('lets a prompt pass when the window cannot be read, and says why where the host logs it', async () => {
    const { shell, transcript } = await gemini()
    writeFileSync(join(shell.root, 'memory/EPHEMERAL.md'), Buffer.from([0xff]))
    const about = { session_id: 'n', timestamp: 't', transcript_path: transcript }
    const input = event({ ...about, hook_event_name: 'BeforeAgent' })
    expect(await shell.withInput(input).run('hook', 'turn-start')).toEqual({
      code: 0,
      out: '{}\n',
      err: expect.stringMatching(/^recall: not told: .*EPHEMERAL\.md is not UTF-8/),
    })
  })

  it('tells a session that has no transcript when it starts', async () => {
    const { run } = await gemini()
    const fields = { source: 'startup', transcript_path: '' }
    expect(await run('session-start', fields)).toContain('Session s1')
    expect(await run('turn-start', fields)).toBe('{}\n')
  })

  it('empties the window with --clear once a prompt has brought it', async () => {
    const { shell, run } = await gemini()
    const window = () => readFileSync(join(shell.root, 'memory/EPHEMERAL.md'), 'utf8')
    await run('session-start', { source: 'startup' }, '--clear')
    expect(window()).toContain('Session s1')
    await run('turn-start', {}, '--clear')
    expect(window()).not.toContain('Session s1')
  })

  it('archives a session that was killed after it was resumed, for which the host names another file', async () => {
    const { shell, transcript, run } = await gemini()
    await run('session-start', { source: 'startup' })
    writeFileSync(transcript, zebraChat)
    await run('session-start', { source: 'resume', transcript_path: join(shell.root, 'empty.jsonl') })
    await run('session-start', { source: 'startup', session_id: 'next', transcript_path: '/next.jsonl' })
    expect(readFileSync(join(shell.root, 'memory/EPHEMERAL.md'), 'utf8')).toContain('a zebra')
  })

  it('archives a compacted session also when its next prompt came first', async () => {
    const { shell, transcript, run } = await gemini()
    writeFileSync(transcript, zebraChat)
    await run('pre-compact', { trigger: 'manual' })
    await run('turn-start')
    await shell.run('hook', 'drain')
    expect(readFileSync(join(shell.root, 'memory/conversations/conversation-002.md'), 'utf8')).toContain(
      'a zebra',
    )
  })
})

it('empties the window with --clear once it was given, and keeps what comes later', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
  expect((await shell.withInput(input).run('hook', 'session-start', '--clear')).out).toContain('s1')
  expect((await shell.withInput(input).run('hook', 'session-start', '--clear')).out).toBe('')
})

it('takes out of the window with --clear what it told, and leaves what there was no room for', async () => {
  const shell = createShell()
  await shell.run('init')
  const path = join(shell.root, 'memory/EPHEMERAL.md')
  const entry = (id: string, day: number): string =>
    `## Session ${id} — 2026-01-0${day}T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: x\n\n${`What ${id} found. `.repeat(350)}\n`
  writeFileSync(path, `${entry('older', 1)}\n---\n\n${entry('newer', 2)}\n---\n\nCall Ada back.\n`)
  const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
  const { out } = await shell.withInput(input).run('hook', 'session-start', '--clear')
  expect(out).toContain('What newer found')
  expect(out).toContain('Call Ada back.')
  expect(out).not.toContain('What older found')
  const left = readFileSync(path, 'utf8')
  expect(left).toContain('What older found')
  expect(left).not.toContain('newer')
  expect(left).not.toContain('Ada')
  expect((await shell.withInput(input).run('hook', 'session-start', '--clear')).out).toContain(
    'What older found',
  )
  expect(readFileSync(path, 'utf8').trim()).toBe('')
})

it('keeps with --clear a session that it told only in part', async () => {
  const shell = createShell()
  await shell.run('init')
  const path = join(shell.root, 'memory/EPHEMERAL.md')
  const window = `## Session s9 — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: x\n\nThe merger with Numbat. ${'And so on. '.repeat(1100)}\n`
  writeFileSync(path, window)
  const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
  const { out } = await shell.withInput(input).run('hook', 'session-start', '--clear')
  expect(out).toContain('The merger with Numbat.')
  expect(out).toContain('the rest is in memory')
  expect(readFileSync(path, 'utf8')).toBe(window)
})

it('tells of no session without those that came after it', async () => {
  const shell = createShell()
  await shell.run('init')
  const entry = (id: string, length: number): string =>
    `## Session ${id} — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: x\n\n${`What ${id} found. `.repeat(length)}\n`
  const window = [entry('s1', 1), entry('s2', 900), entry('s3', 1)].join('\n---\n\n')
  writeFileSync(join(shell.root, 'memory/EPHEMERAL.md'), window)
  const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
  const { out } = await shell.withInput(input).run('hook', 'session-start')
  expect(out).toContain('What s3 found.')
  expect(out).not.toContain('What s1 found.')
})

it('leaves in the window with --clear a session that it did not tell, though another one says the same', async () => {
  const shell = createShell()
  await shell.run('init')
  const path = join(shell.root, 'memory/EPHEMERAL.md')
  const entry = (id: string, found: string): string =>
    `## Session ${id} — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: x\n\n${found}\n`
  const window = [
    entry('s1', 'Nothing new.'),
    entry('s2', 'And so on. '.repeat(1500)),
    entry('s3', 'Nothing new.'),
  ]
  writeFileSync(path, window.join('\n---\n\n'))
  const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
  expect((await shell.withInput(input).run('hook', 'session-start', '--clear')).out).toContain('Nothing new.')
  const left = readFileSync(path, 'utf8')
  expect(left).toContain('## Session s1')
  expect(left).not.toContain('## Session s3')
})

describe('notes in the window, with --clear', () => {
  const session = (id: string, found: string): string =>
    `## Session ${id} — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: x\n\n${found}\n`
  const separator = '\n---\n\n'
  const long = session('s1', 'And so on. '.repeat(1500))

  /** The window after a session was given it. */
  async function leftOf(window: string): Promise<string> {
    const shell = createShell()
    await shell.run('init')
    const path = join(shell.root, 'memory/EPHEMERAL.md')
    writeFileSync(path, window)
    const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
    await shell.withInput(input).run('hook', 'session-start', '--clear')
    return readFileSync(path, 'utf8')
  }

  it.each([
    ['a session quotes them', session('s2', 'I read: Call Ada back.')],
    ['a session has them among its lines', session('s2', 'I read:\n\nCall Ada back.')],
    ['another note begins with them', 'Call Ada back.\n\nAnd Jonas.\n'],
  ])('stay when they were not told, though %s', async (_, told) => {
    const left = await leftOf(['Call Ada back.\n', long, told].join(separator))
    expect(left).toContain('Call Ada back.')
    expect(left).toContain('Session s1')
    expect(left).not.toContain('Session s2')
  })

  it.each([
    ['below each other', ['Call Ada back.\n', 'And Jonas.\n', session('s2', 'Nothing new.')].join(separator)],
    ['between sessions', ['Call Ada back.\n', session('s2', 'Nothing new.'), 'And Jonas.\n'].join(separator)],
    ['right above a session', `# Now\n${separator}And Jonas.\n\n${session('s2', 'Nothing new.')}`],
    ['with rules in code', `Call Ada back:\n\n\`\`\`yaml\n---\nat: 9\n---\n\`\`\`\n\nAnd Jonas.\n`],
  ])('go when they were told, %s', async (_, window) => {
    const left = await leftOf(window)
    for (const told of ['Ada', 'Jonas', 'Session']) expect(left).not.toContain(told)
  })
})

it('leaves the window with --clear to the next session when one goes on after it was compacted', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const start = (source: string) => {
    const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source })
    return shell.withInput(input).run('hook', 'session-start', '--clear')
  }
  for (const source of ['compact', 'startup']) expect((await start(source)).out).toContain('s1')
})

it('keeps with --clear notes that it told only in part', async () => {
  const shell = createShell()
  await shell.run('init')
  const path = join(shell.root, 'memory/EPHEMERAL.md')
  const notes = `Call Ada back.\n${'And so on.\n'.repeat(1100)}Water the numbat.\n`
  writeFileSync(path, notes)
  const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
  const { out } = await shell.withInput(input).run('hook', 'session-start', '--clear')
  expect(out).toContain('Call Ada back.')
  expect(out).not.toContain('numbat')
  expect(readFileSync(path, 'utf8')).toBe(notes)
})

it.each([
  ['on Windows', /\n/g],
  ['on Windows in part', /\n(?=It is signed)/g],
])('empties with --clear a window that was written %s', async (_, lineEnd) => {
  const shell = createShell()
  await shell.run('init')
  const path = join(shell.root, 'memory/EPHEMERAL.md')
  const window = `## Session s9 — 2026-01-01T10:00:00.000Z
**Duration**: 5m · **Messages**: 2 · **Archive**: x

The merger with Numbat.
It is signed.

---

Call Ada back.
On Friday.
`
  writeFileSync(path, window.replace(lineEnd, '\r\n'))
  const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
  const { out } = await shell.withInput(input).run('hook', 'session-start', '--clear')
  expect(out).toContain('It is signed.')
  expect(readFileSync(path, 'utf8').trim()).toBe('')
})

it('tells sessions apart that a bare line of dashes divides', async () => {
  const shell = createShell()
  await shell.run('init')
  const entry = (id: string): string =>
    `## Session ${id} — 2026-01-01T10:00:00.000Z\n**Duration**: 5m · **Messages**: 2 · **Archive**: x\n\nWhat ${id} found.\n`
  writeFileSync(join(shell.root, 'memory/EPHEMERAL.md'), `${entry('s1')}---\n${entry('s2')}`)
  const input = event({ session_id: 'n', hook_event_name: 'SessionStart', source: 'startup' })
  expect((await shell.withInput(input).run('hook', 'session-start')).out).toContain('last 2 sessions')
})
