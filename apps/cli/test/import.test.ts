import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { createShell, hasTranscripts, temporaryFolder, transcriptsFolder, writeFiles } from './support.ts'

interface Report {
  archived: number
  memories: number
  unchanged: number
  passedOver: number
  forgotten: number
  failed: unknown[]
  redactions: Record<string, number>
}

const lines = (...values: unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')

const rollout = lines(
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

function opencodeDatabase(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, title TEXT, directory TEXT, parent_id TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', 'Ocelots', '/home/dev/web', NULL, 1763600000000, 1763600000000);
    INSERT INTO message VALUES ('m1', 'o1', 1763600000000, '{"role":"user"}'), ('m2', 'o1', 1763600001000, '{"role":"assistant"}');
    INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"paint the ocelot"}'),
      ('p2', 'm2', '{"type":"tool","callID":"t","tool":"edit","state":{"input":{"filePath":"a.css"},"output":"done"}}'),
      ('p3', 'm2', '{"type":"text","text":"The ocelot is orange."}');`)
  database.close()
}

function claudeMemDatabase(path: string): void {
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE sdk_sessions (id INTEGER);
    CREATE TABLE observations (id INTEGER, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, subtitle TEXT, narrative TEXT, text TEXT, facts TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, created_at_epoch INTEGER);
    INSERT INTO observations VALUES (7, 'm1', 'api', 'decision', 'Pick pgvector for quokkas', NULL, 'It was faster.', NULL, '["one"]', '["trade-off"]', '[]', '["db.ts"]', 1790845200000);`)
  database.close()
}

describe('import', () => {
  it('numbers sessions in the order in which they ended, each followed by its helpers', async () => {
    const shell = createShell()
    const said = (sessionId: string) =>
      lines(
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
      '.claude/projects/-home-dev/11111111-1111-4111-8111-111111111111.jsonl': lines({
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
    opencodeDatabase(join(shell.root, '.local/share/opencode/opencode.db'))
    const root = ['--root', join(shell.root, 'm')]
    expect(await shell.json<Report>('import', ...root)).toMatchObject({
      archived: 4,
      failed: [],
      memories: 0,
    })
    for (const words of ['lynx', 'walrus mended', 'narwhals warm', 'ocelot orange']) {
      const { results } = await shell.json<{ results: unknown[] }>('search', words, ...root)
      expect(results, words).not.toEqual([])
    }
    expect((await shell.run('search', 'environment_context', ...root)).code).toBe(1)
    expect(await shell.json<Report>('import', ...root)).toMatchObject({ archived: 0, unchanged: 4 })
    const other = ['--root', join(shell.root, 'other')]
    expect(await shell.json<Report>('import', '--project', 'api', ...other)).toMatchObject({
      archived: 2,
      passedOver: 2,
    })
    expect(await shell.json<Report>('import', ...other)).toMatchObject({ archived: 2, unchanged: 2 })
  })

  it('brings in the sessions of the other agents when the database of one is damaged', async () => {
    const shell = createShell()
    const database = '.local/share/opencode/opencode.db'
    writeFiles(shell.root, {
      '.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-c1.jsonl': rollout,
      [database]: `SQLite format 3\0${'damaged'.repeat(1000)}`,
    })
    const report = await shell.json<Report>('import', '--root', join(shell.root, 'm'))
    const reason = 'cannot be read as a database: file is not a database'
    expect(report).toMatchObject({ archived: 1, failed: [{ path: join(shell.root, database), reason }] })
  })

  it.each([
    [
      'the graph of the MCP memory server',
      'memory.jsonl',
      lines(
        {
          type: 'entity',
          name: 'api',
          entityType: 'project',
          observations: ['Uses a pangolin', 'Deploys on Fridays'],
        },
        { type: 'relation', from: 'ana', to: 'api', relationType: 'maintains' },
      ),
      3,
    ],
    [
      'a dump of that graph',
      'graph.json',
      JSON.stringify({
        entities: [{ entityName: 'api', observations: ['pangolin'] }],
        relations: [{ from_id: 'a', to_id: 'b', relation_type: 'knows' }],
      }),
      2,
    ],
    [
      'a claude-mem export',
      'mem.json',
      JSON.stringify({
        exportedAt: 'x',
        exportedAtEpoch: 1,
        observations: [
          {
            id: 7,
            memory_session_id: 'm',
            title: 'pangolin',
            facts: '["a"]',
            concepts: '["gotcha"]',
            created_at_epoch: 1790845200000,
            type: 'decision',
          },
        ],
        summaries: [{ id: 1, memory_session_id: 'm', request: 'feed it', created_at_epoch: 2 }],
        sessions: [],
        prompts: [],
      }),
      2,
    ],
    [
      'an answer of mem0',
      'mem0.json',
      JSON.stringify({
        count: 2,
        results: [
          {
            id: 'a',
            memory: 'Prefers a pangolin',
            categories: ['pets'],
            created_at: '2026-09-01T08:00:00-07:00',
          },
          { id: 'b', memory: 'gone', expiration_date: '2020-01-01' },
        ],
      }),
      1,
    ],
    ['an old list of mem0', 'list.json', JSON.stringify([{ id: 'a', memory: 'pangolin' }]), 1],
    [
      'an answer of mem0 in other spellings',
      'sdk.json',
      JSON.stringify({
        results: [
          { id: 'a', text: 'Prefers a pangolin', userId: 'ana', createdAt: '2026-09-01T08:00:00Z' },
          { id: 'b', content: 'Feeds it' },
        ],
        relations: [{ source: 'ana', relationship: 'owns', destination: 'a pangolin' }],
      }),
      3,
    ],
    [
      'an export of agentmemory',
      'agentmemory.json',
      JSON.stringify({
        version: '0.3.0',
        exportedAt: '2026-03-01T00:00:00Z',
        sessions: [{ id: 's1', project: 'zoo' }],
        observations: { s1: [{ id: 'o1', title: 'Fed the pangolin', narrative: 'Ants.' }] },
        memories: [{ id: 'm1', title: 'Diet', content: 'A pangolin eats ants.', concepts: ['food'] }],
        summaries: [{ sessionId: 's1', project: 'zoo', title: 'A day', narrative: 'All fed.' }],
      }),
      3,
    ],
    [
      'the projects of claude.ai',
      'projects.json',
      JSON.stringify([
        {
          uuid: 'p',
          name: 'Zoo',
          docs: [{ uuid: 'd', filename: 'diet.md', content: 'A pangolin eats ants.' }],
        },
      ]),
      1,
    ],
    [
      'the markdown of mem0',
      'mem0-export-api-2026-09-01.md',
      '---\nid: abc\ncreated_at: 2026-09-01T00:00:00Z\ntype: task_learnings\ncategories: a, b\n---\nA pangolin.\n---\nid: def\ncreated_at: \n---\nAnother one.\n',
      2,
    ],
    [
      'an export of mcp-memory-service',
      'service.json',
      JSON.stringify({
        export_metadata: {},
        memories: [
          { content: 'pangolin', content_hash: 'h', tags: ['a'], created_at: 1.5e9, memory_type: 'note' },
        ],
      }),
      1,
    ],
    [
      'a folder of notes',
      'vault/Coffee.md',
      '---\ntitle: Coffee\ntags: [brew]\npermalink: coffee\n---\n- [method] Pour over a pangolin #slow\n- requires [[Grinding]]\n',
      1,
    ],
  ])('reads %s, once', async (_, name, content, memories) => {
    const folder = temporaryFolder()
    writeFiles(folder, { [name]: content })
    const shell = createShell()
    const source = join(folder, name.split('/')[0] as string)
    expect(await shell.json<Report>('import', source)).toMatchObject({ memories, failed: [] })
    expect((await shell.run('search', 'pangolin')).out).toMatch(/pangolin/i)
    // Also when the file was touched, and its memories are the same.
    writeFileSync(join(folder, name), `${content}\n`)
    expect(await shell.json<Report>('import', source)).toMatchObject({ memories: 0, unchanged: memories })
  })

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
    expect(await shell.json<Report>('import', folder)).toMatchObject({
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

    expect(await shell.json<Report>('import', folder)).toMatchObject({ archived: 0, unchanged: 4 })
    exported(
      claudeAi('walrus', '2026-02-01', 'where does the walrus sleep?', `On ice. Its key is ${token}.`),
      claudeAi('ocelot', '2026-06-01', 'paint the ocelot', 'It is orange.', 'and its tail?'),
      claudeAi('lynx', '2026-04-01', 'tame the lynx', 'No.'),
    )
    expect(await shell.json<Report>('import', '--since', '2026-05-01', folder)).toMatchObject({
      archived: 0,
      updated: 1,
    })
    expect(await shell.json<Report>('import', folder)).toMatchObject({
      archived: 1,
      unchanged: 3,
      passedOver: 1,
    })
    expect(readdirSync(archives)).toHaveLength(4)
  })

  it('says which conversation of an export cannot be read, and imports the others', async () => {
    const path = join(temporaryFolder(), 'conversations.json')
    const whole = { uuid: 'whole', chat_messages: [{ sender: 'human', text: 'tame the lynx' }] }
    writeFileSync(path, JSON.stringify([whole, whole, { ...whole, uuid: 'cut' }]).slice(0, -9))
    const shell = createShell()
    const { code, out } = await shell.run('import', path)
    expect(code).toBe(3)
    expect(out).toMatch(/1 archived/)
    expect(out).toMatch(/not imported: .*conversations\.json#item-3: .*element 3 breaks off/)
  })

  it('reads the database of claude-mem without changing it', async () => {
    const path = join(temporaryFolder(), 'claude-mem.db')
    claudeMemDatabase(path)
    const before = readFileSync(path)
    const shell = createShell()
    expect(await shell.json<Report>('import', path)).toMatchObject({ memories: 1 })
    expect(readFileSync(path)).toEqual(before)
    expect(readdirSync(dirname(path))).toEqual(['claude-mem.db'])
    const { results } = await shell.json<{ results: { key: string }[] }>('search', 'quokkas')
    expect(results[0]?.key).toMatch(/^import:claude-mem:/)
  })

  it('replaces secrets, and brings back nothing that was forgotten', async () => {
    const shell = createShell()
    const token = `ghp_${'a1B2'.repeat(9)}`
    const source = join(temporaryFolder(), 'memory.jsonl')
    writeFileSync(source, lines({ type: 'entity', name: 'ci', observations: [`token ${token}`] }))
    expect((await shell.json<Report>('import', source)).redactions).not.toEqual({})
    expect((await shell.run('export')).out).not.toContain(token)
    await shell.run('forget', '--containing', 'token', '--yes')
    writeFileSync(source, `${readFileSync(source, 'utf8')}\n`)
    expect(await shell.json<Report>('import', source)).toMatchObject({ memories: 0, forgotten: 1 })
  })

  it('leaves what is older than --since to be imported another time', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    const memory = (id: string, day: string) => ({
      id,
      memory: `about ${id}`,
      created_at: `${day}T09:00:00Z`,
    })
    writeFiles(folder, {
      'mem0.json': JSON.stringify([memory('walrus', '2026-01-01'), memory('narwhal', '2026-10-01')]),
    })
    expect(await shell.json<Report>('import', folder, '--since', '2026-06-01')).toMatchObject({ memories: 1 })
    expect(await shell.json<Report>('import', folder, '--since', '2026-06-01')).toMatchObject({ memories: 0 })
    expect(await shell.json<Report>('import', folder)).toMatchObject({ memories: 1, unchanged: 1 })
  })

  it('leaves what somebody changed here as it is, when its source changes as well', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    const source = (...texts: string[]) =>
      writeFiles(folder, { 'mem0.json': JSON.stringify(texts.map((memory, i) => ({ id: `m${i}`, memory }))) })
    source('the walrus sleeps', 'the narwhal sings')
    await shell.run('import', folder)
    // A note that is lost is made again of what is still the same.
    rmSync(join(shell.root, 'memory/.recall/imports.json'))
    await shell.run('import', folder)
    const notes = join(shell.root, 'memory/long-term')
    const path = readdirSync(notes)
      .map((name) => join(notes, name))
      .find((each) => readFileSync(each, 'utf8').includes('walrus')) as string
    writeFileSync(path, readFileSync(path, 'utf8').replace('sleeps', 'sleeps, MINE'))
    source('the walrus wakes', 'the narwhal is silent now')
    const { out } = await shell.run('import', folder)
    expect(out).toContain('1 left as they are')
    expect(readFileSync(path, 'utf8')).toContain('sleeps, MINE')
    expect((await shell.run('search', 'narwhal silent')).code).toBe(0)
  })

  it('fails for a named file of no known form, and passes over one in a folder', async () => {
    const folder = temporaryFolder()
    writeFiles(folder, {
      'a.json': '{"some":"thing"}',
      'b.jsonl': lines({ role: 'user', content: 'hello there' }),
    })
    const shell = createShell()
    expect((await shell.run('import', join(folder, 'a.json'))).code).toBe(3)
    expect(await shell.json<Report>('import', folder)).toMatchObject({
      archived: 1,
      passedOver: 1,
      failed: [],
    })
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
    expect(lines).toContain(`not imported: ${one}: is no transcript that Recall can read`)
    expect(lines).toContain(`not imported: ${two}: is no transcript that Recall can read`)
    expect(out.match(/Claude Code session/g)).toHaveLength(1)
    expect(await shell.json<Report>('import', folder)).toMatchObject({ unchanged: 2, failed: [{}, {}] })
  })

  it.runIf(hasTranscripts)('takes under a tenth of the time when it is done again', async () => {
    const shell = createShell()
    const time = async (): Promise<[number, Report]> => {
      const started = performance.now()
      const report = await shell.json<Report>('import', transcriptsFolder)
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
