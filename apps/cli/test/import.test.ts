import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryFormats } from '@recall/agents'
import { describe, expect, it } from 'vitest'
import type { ImportReport } from '../src/imports/import-report.ts'
import { openOpencodeDatabase } from './opencode-database.ts'
import {
  createShell,
  hasTranscripts,
  jsonLines,
  temporaryFolder,
  transcriptsFolder,
  writeFiles,
} from './support.ts'

const rollout = jsonLines(
  { timestamp: '2026-11-20T09:00:00Z', type: 'session_meta', payload: { id: 'c1', cwd: '/home/dev/api' } },
  {
    timestamp: '2026-11-20T09:00:01Z',
    type: 'response_item',
    payload: {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: '<environment_context>x</environment_context>' }],
    },
  },
  {
    timestamp: '2026-11-20T09:00:02Z',
    type: 'response_item',
    payload: {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'fix the walrus leak' }],
    },
  },
  {
    timestamp: '2026-11-20T09:00:02Z',
    type: 'event_msg',
    payload: { type: 'user_message', message: 'fix the walrus leak' },
  },
  {
    timestamp: '2026-11-20T09:00:03Z',
    type: 'response_item',
    payload: { type: 'function_call', name: 'shell', arguments: '{"command":"make"}', call_id: 'k' },
  },
  {
    timestamp: '2026-11-20T09:00:04Z',
    type: 'response_item',
    payload: { type: 'function_call_output', call_id: 'k', output: 'ok' },
  },
  {
    timestamp: '2026-11-20T09:00:05Z',
    type: 'response_item',
    payload: {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'The walrus is mended.' }],
    },
  },
)
const chat = JSON.stringify(
  {
    sessionId: 'g1',
    startTime: '2026-11-20T09:00:00Z',
    messages: [
      { id: 'm1', timestamp: '2026-11-20T09:00:00Z', type: 'user', content: 'explain the narwhal cache' },
      {
        id: 'm2',
        timestamp: '2026-11-20T09:00:02Z',
        type: 'gemini',
        content: [{ text: 'It keeps narwhals warm.' }],
        toolCalls: [{ id: 't', name: 'read_file', args: { path: 'a.ts' }, result: 'x' }],
      },
      { id: 'm3', type: 'info', content: 'update available' },
    ],
  },
  null,
  2,
)

const opencodeRows = `
  INSERT INTO session VALUES ('o1', NULL, 1763600000000, 'Ocelots', '/home/dev/web');
  INSERT INTO message VALUES ('m1', 'o1', 1763600000000, '{"role":"user"}'), ('m2', 'o1', 1763600001000, '{"role":"assistant"}');
  INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"paint the ocelot"}'),
    ('p2', 'm2', '{"type":"tool","callID":"t","tool":"edit","state":{"input":{"filePath":"a.css"},"output":"done"}}'),
    ('p3', 'm2', '{"type":"text","text":"The ocelot is orange."}');`

describe('import', () => {
  it('numbers sessions in the order in which they ended, each followed by its helpers', async () => {
    const shell = createShell()
    const said = (sessionId: string) =>
      jsonLines(
        { session_id: sessionId },
        { role: 'user', content: `what of ${sessionId}?` },
        { role: 'assistant', content: 'all done' },
      )
    const folder = temporaryFolder()
    const files = { 'a.jsonl': 'late', 'b.jsonl': 'early', 'b/subagents/agent-x.jsonl': 'helper' }
    const days = { late: '2026-03-05', early: '2026-03-03', helper: '2026-03-02' } as Record<string, string>
    for (const [name, id] of Object.entries(files)) {
      writeFiles(folder, { [name]: said(id) })
      utimesSync(join(folder, name), new Date(days[id] ?? ''), new Date(days[id] ?? ''))
    }
    await shell.run('import', folder)
    const table = readFileSync(join(shell.root, 'memory/ARCHIVE.md'), 'utf8')
    expect([...table.matchAll(/\| (early|late|helper) \| 2 \|/g)].map(([, id]) => id)).toEqual([
      'early',
      'helper',
      'late',
    ])
  })

  it('without a source brings in the sessions of every agent on the machine', async () => {
    const shell = createShell()
    writeFiles(shell.root, {
      '.claude/projects/-home-dev/11111111-1111-4111-8111-111111111111.jsonl': jsonLines({
        type: 'user',
        uuid: 'u1',
        sessionId: 's',
        cwd: '/home/dev/api',
        message: { role: 'user', content: 'tame the lynx' },
      }),
      '.claude/projects/-home-dev/memory/MEMORY.md': '# theirs',
      '.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-c1.jsonl': rollout,
      '.gemini/tmp/p/chats/session-g1.json': chat,
      '.gemini/tmp/p/logs.json': '[]',
      '.gemini/tmp/p/plans/plan.md': '# A plan that nobody asked to import',
    })
    openOpencodeDatabase(shell.root, opencodeRows)
    const root = ['--root', join(shell.root, 'm')]
    expect(await shell.json<ImportReport>('import', ...root)).toMatchObject({
      archived: 4,
      failed: [],
      memories: 0,
    })
    for (const words of ['lynx', 'walrus mended', 'narwhals warm', 'ocelot orange']) {
      const { results } = await shell.json<{ results: unknown[] }>('search', words, ...root)
      expect(results, words).not.toEqual([])
    }
    expect((await shell.run('search', 'environment_context', ...root)).code).toBe(1)
    expect(await shell.json<ImportReport>('import', ...root)).toMatchObject({ archived: 0, unchanged: 4 })
    const other = ['--root', join(shell.root, 'other')]
    const { wouldRead } = await shell.json<{ wouldRead: string[] }>(
      'import',
      '--project',
      'api',
      '--dry-run',
      ...other,
    )
    expect(wouldRead).toHaveLength(2)
    expect(await shell.json<ImportReport>('import', '--project', 'api', ...other)).toMatchObject({
      archived: 2,
      passedOver: 2,
    })
    expect(await shell.json<ImportReport>('import', ...other)).toMatchObject({ archived: 2, unchanged: 2 })
  })

  it('brings in the sessions of the other agents when the database of one is damaged', async () => {
    const shell = createShell()
    const database = '.local/share/opencode/opencode.db'
    writeFiles(shell.root, {
      '.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-c1.jsonl': rollout,
      [database]: `SQLite format 3\0${'damaged'.repeat(1000)}`,
    })
    const report = await shell.json<ImportReport>('import', '--root', join(shell.root, 'm'))
    const reason = 'cannot be read as a database: file is not a database'
    expect(report).toMatchObject({ archived: 1, failed: [{ path: join(shell.root, database), reason }] })
  })

  it.runIf(process.platform === 'linux')(
    'brings in what stands beside a name that is not UTF-8',
    async () => {
      const shell = createShell()
      const folder = temporaryFolder()
      writeFiles(folder, { 'rollout.jsonl': rollout })
      mkdirSync(Buffer.from(join(folder, 'B\xfcro'), 'latin1'))
      writeFileSync(Buffer.from(join(folder, 'k\xfcche.md'), 'latin1'), '# Soup\n')
      const { out, code } = await shell.run('import', folder, '--json', '--root', join(shell.root, 'm'))
      const reason = 'cannot be found: its name is not UTF-8'
      const failed = ['B\ufffdro', 'k\ufffdche.md'].map((name) => ({ path: join(folder, name), reason }))
      expect(JSON.parse(out)).toMatchObject({ archived: 1, failed })
      expect(code).toBe(3)
    },
  )

  it('makes every conversation of an export a session of its own, and reads of the next export what is new', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    const token = `ghp_${'a1B2'.repeat(9)}`
    const claudeAi = (id: string, day: string, ...texts: string[]) => ({
      uuid: id,
      name: `About ${id}`,
      created_at: '2026-01-01T09:00:00Z',
      updated_at: `${day}T09:00:00Z`,
      chat_messages: texts.map((text, i) => ({
        uuid: `${id}-${i}`,
        sender: i % 2 === 0 ? 'human' : 'assistant',
        content: [{ type: 'text', text }],
        created_at: `${day}T09:00:0${i}Z`,
      })),
    })
    const said = (role: string, text: string) => ({
      author: { role },
      content: { content_type: 'text', parts: [text] },
      create_time: 1_767_258_000,
    })
    const chatgpt = {
      title: 'A narwhal',
      create_time: 1_767_258_000.5,
      current_node: 'c',
      mapping: {
        a: { parent: null, message: said('user', 'name my narwhal') },
        b: { parent: 'a', message: said('assistant', 'Nero') },
        c: { parent: 'a', message: said('assistant', 'Nila') },
      },
    }
    const exported = (...conversations: unknown[]) =>
      writeFiles(folder, {
        'claude/conversations.json': JSON.stringify(conversations),
        'claude/users.json': JSON.stringify([{ uuid: 'u', full_name: 'Ana' }]),
        'chatgpt/conversations.json': JSON.stringify([chatgpt]),
      })
    exported(
      claudeAi('walrus', '2026-02-01', 'where does the walrus sleep?', `On ice. Its key is ${token}.`),
      claudeAi('ocelot', '2026-03-01', 'paint the ocelot', 'It is orange.'),
    )
    expect(await shell.json<ImportReport>('import', folder)).toMatchObject({
      archived: 3,
      passedOver: 1,
      failed: [],
    })
    for (const words of ['walrus sleep', 'ocelot orange', 'narwhal Nila']) {
      expect((await shell.run('search', words)).code, words).toBe(0)
    }
    expect((await shell.run('search', 'Nero')).code).toBe(1)
    const archives = join(shell.root, 'memory/conversations')
    const texts = readdirSync(archives).map((name) => readFileSync(join(archives, name), 'utf8'))
    expect(texts.join()).not.toContain(token)
    expect(texts.find((text) => /session_id: "?walrus/.test(text))).toMatch(/^date: "2026-02-01T09:00:01/m)

    expect(await shell.json<ImportReport>('import', folder)).toMatchObject({ archived: 0, unchanged: 4 })
    exported(
      claudeAi('walrus', '2026-02-01', 'where does the walrus sleep?', `On ice. Its key is ${token}.`),
      claudeAi('ocelot', '2026-06-01', 'paint the ocelot', 'It is orange.', 'and its tail?'),
      claudeAi('lynx', '2026-04-01', 'tame the lynx', 'No.'),
    )
    expect(await shell.json<ImportReport>('import', '--since', '2026-05-01', folder)).toMatchObject({
      archived: 0,
      updated: 1,
    })
    expect(await shell.json<ImportReport>('import', folder)).toMatchObject({
      archived: 1,
      unchanged: 3,
      passedOver: 1,
    })
    expect(readdirSync(archives)).toHaveLength(4)
  })

  it('imports the sessions of a log of Aider in a folder, which is no note', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    const session = (day: number): string =>
      `\n# aider chat started at 2026-11-${day} 09:00:00\n\n#### what is day ${day}?  \n\nA day.\n\n`
    const logged = (...days: number[]) =>
      writeFiles(folder, {
        'api/.aider.chat.history.md': days.map(session).join(''),
        'api/notes.md': '# Pool\n\nIt leaks.\n',
      })
    logged(18, 19)
    expect(await shell.json<ImportReport>('import', folder)).toMatchObject({ archived: 2, memories: 1 })
    logged(18, 19, 20)
    expect(await shell.json<ImportReport>('import', folder)).toMatchObject({
      ...{ archived: 1, updated: 0, memories: 0, unchanged: 3 },
      failed: [],
    })
    expect((await shell.run('search', 'day 20')).out).toContain('conversations/conversation-003.md')
    const wanted = await shell.json('import', '--dry-run', '--project', join(folder, 'web'), folder)
    expect(wanted).toMatchObject({ wouldRead: [] })
  })

  it('says which conversation of an export cannot be read, and imports the others', async () => {
    const path = join(temporaryFolder(), 'conversations.json')
    const whole = { uuid: 'whole', chat_messages: [{ sender: 'human', text: 'tame the lynx' }] }
    writeFileSync(path, JSON.stringify([whole, whole, { ...whole, uuid: 'cut' }]).slice(0, -9))
    const shell = createShell()
    const { code, out } = await shell.run('import', path)
    expect(code).toBe(3)
    expect(out).toMatch(/1 archived/)
    expect(out).toContain(`not imported: ${path}#item-3: element 3 breaks off`)
  })

  it('fails for a named file of no known form, and passes over one in a folder', async () => {
    const folder = temporaryFolder()
    writeFiles(folder, {
      'a.json': '{"some":"thing"}',
      'b.jsonl': jsonLines({ role: 'user', content: 'hello there' }),
    })
    const shell = createShell()
    expect((await shell.run('import', join(folder, 'a.json'))).code).toBe(3)
    expect(await shell.json<ImportReport>('import', folder)).toMatchObject({
      archived: 1,
      passedOver: 1,
      failed: [],
    })
  })

  it.each(['null', '[7]', 'torn'])('reads everything again when its journal holds %s', async (journal) => {
    const shell = createShell()
    const session = join(temporaryFolder(), 'hello.jsonl')
    writeFileSync(session, jsonLines({ role: 'user', content: 'hello there' }))
    await shell.run('init')
    writeFiles(shell.root, { 'memory/.recall/imports.json': journal })
    expect(await shell.json<ImportReport>('import', session)).toMatchObject({ archived: 1, failed: [] })
    writeFiles(shell.root, { 'memory/.recall/imports.json': journal })
    expect(await shell.json<ImportReport>('import', session)).toMatchObject({ unchanged: 1, failed: [] })
    expect((await shell.run('archive', session)).code).toBe(0)
  })

  it('names the first of many files that it would read or could not, and how many more there are', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    for (let i = 0; i < 25; i++) {
      writeFileSync(join(folder, `bad-${i}.jsonl`), 'no transcript\n')
      writeFileSync(join(folder, `good-${i}.jsonl`), rollout)
    }
    const plan = await shell.run('import', folder, '--dry-run')
    expect(plan.out).toContain('and 30 more files, all of which --json prints\n50 files would be read')
    const { out } = await shell.run('import', folder)
    expect(out.match(/^not imported: /gm)).toHaveLength(20)
    expect(out).toContain('and 5 more files, all of which --json prints\n')
    expect((await shell.json<ImportReport>('import', folder)).failed).toHaveLength(25)
  })

  it('says in a line why a file was not imported, and once which formats there are', async () => {
    const folder = temporaryFolder()
    const [one, two] = [join(folder, 'one.jsonl'), join(folder, 'two.jsonl')]
    writeFiles(folder, {
      'one.jsonl': '{"milk": 2}\n',
      'two.jsonl': '{"half',
      'blank.jsonl': '\n',
      'empty.jsonl': '',
    })
    const shell = createShell()
    const { code, out } = await shell.run('import', folder)
    expect(code).toBe(3)
    expect(out).toContain('2 empty')
    const lines = out.trimEnd().split('\n')
    expect(lines).toContain(`not imported: ${one}: is not a transcript that Recall can read`)
    expect(lines).toContain(`not imported: ${two}: is not a transcript that Recall can read`)
    expect(out.match(/Claude Code session/g)).toHaveLength(1)
    for (const format of [...memoryFormats, "what 'recall export' printed"])
      expect(lines.at(-1)).toContain(format)
    expect(await shell.json<ImportReport>('import', folder)).toMatchObject({ unchanged: 2, failed: [{}, {}] })
  })

  it.runIf(hasTranscripts())('takes under a tenth of the time when it is done again', async () => {
    const shell = createShell()
    const time = async (): Promise<[number, ImportReport]> => {
      const started = performance.now()
      const report = await shell.json<ImportReport>('import', transcriptsFolder)
      return [performance.now() - started, report]
    }
    const [first, report] = await time()
    const [second, again] = await time()
    const sources = readdirSync(transcriptsFolder, { recursive: true }).filter((name) =>
      String(name).endsWith('.jsonl'),
    )
    process.stdout.write(
      `imported ${report.archived} of ${sources.length} in ${first.toFixed(0)} ms, again in ${second.toFixed(0)} ms\n`,
    )
    expect(report.archived).toBe(sources.length)
    expect(again).toMatchObject({ archived: 0, updated: 0, unchanged: sources.length })
    expect(second).toBeLessThan(first / 10)
    for (const quote of [
      'mix phx.server doesnt seem to start',
      'Phoenix server is starting in the background',
    ]) {
      const { results } = await shell.json<{ results: { path: string }[] }>('search', '--ranked', quote)
      expect(
        results.some(({ path }) => readFileSync(join(shell.root, path), 'utf8').includes(quote)),
        quote,
      ).toBe(true)
    }
  })
})
