import { truncate, writeFile } from 'node:fs/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { isMemoryError } from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ImportedMemory, readMemoryExport } from '../src/index.ts'
import { withHoles } from './hostile.ts'
import { temporaryFile } from './support.ts'

const now = Date.UTC(2026, 0, 1)

async function read(value: unknown, name = 'export.json') {
  const path = await temporaryFile(name, typeof value === 'string' ? value : JSON.stringify(value))
  return readMemoryExport(path, { name, now })
}

const texts = (found: { records: ImportedMemory[] } | null) => found?.records.map(({ text }) => text)

const agentmemory = {
  version: '0.3.0',
  exportedAt: '2025-12-01T00:00:00Z',
  sessions: [{ id: 's1', project: 'api', startedAt: '2025-11-01T00:00:00Z' }],
  memories: [
    {
      id: 'mem_1',
      createdAt: '2025-11-02T09:00:00Z',
      type: 'architecture',
      title: 'Pools',
      content: 'The pool holds ten walruses.',
      concepts: ['pool', ''],
      files: ['db.ts'],
      isLatest: true,
      project: 'api',
    },
    { id: 'mem_0', title: 'Pools', content: 'The pool holds two.', isLatest: false },
    { id: 'mem_2', title: 'Gone', content: 'Forget this.', forgetAfter: '2025-12-31T00:00:00Z' },
    { id: 'mem_3', title: 'Later', content: 'Not yet.', forgetAfter: '2026-12-31T00:00:00Z' },
    { id: 'mem_4', title: 'Said once.', content: 'Said once.', forgetAfter: '2026-01-01T00:00:00Z' },
    { content: 'nameless' },
    null,
  ],
  observations: {
    s1: [
      {
        id: 'obs_1',
        timestamp: '2025-11-01T09:00:00Z',
        type: 'decision',
        title: 'Chose pgvector',
        subtitle: 'For search.',
        narrative: 'It was faster.',
        facts: ['one', 'two'],
        concepts: ['trade-off'],
        files: ['db.ts', 'db.ts'],
      },
      { id: 'obs_2', hookType: 'post_tool_use', toolOutput: 'raw' },
    ],
  },
  summaries: [
    { sessionId: 's1', project: 'api', createdAt: '2025-11-01T10:00:00Z', title: 'A day', narrative: 'Went well.', keyDecisions: ['pgvector'], filesModified: ['db.ts'], concepts: [] },
  ],
  lessons: [{ id: 'l' }],
} // biome-ignore format: a fixture

it('reads an export of agentmemory, without what it has replaced or let go', async () => {
  const found = await read(agentmemory)
  expect(found?.format).toBe('agentmemory')
  expect(texts(found)).toEqual([
    'Pools\nThe pool holds ten walruses.\nFiles: db.ts',
    'Later\nNot yet.',
    'Said once.',
    'Chose pgvector\nFor search.\nIt was faster.\n- one\n- two\nFiles: db.ts',
    'A day\nWent well.\n- pgvector\nFiles: db.ts',
  ])
  expect(found?.records[0]).toMatchObject({
    source: 'agentmemory',
    id: 'mem_1',
    tags: ['pool'],
    type: 'architecture',
    project: 'api',
    at: '2025-11-02T09:00:00.000Z',
  })
  expect(found?.records.map(({ id }) => id)).toEqual([
    'mem_1',
    'mem_3',
    'mem_4',
    'observation:obs_1',
    'summary:s1',
  ])
  expect(found?.records[3]).toMatchObject({
    project: 'api',
    type: 'decision',
    at: '2025-11-01T09:00:00.000Z',
  })
  expect(found?.skipped).toEqual({
    'memory that a newer one replaced': 1,
    'memory that has expired': 1,
    'record without text or id': 3,
    'record of a kind that is not imported': 1,
  })
})

it.each([
  ['memory', [{ id: 'a', memory: 'likes tea' }]],
  ['text in an answer', { results: [{ id: 'a', text: 'likes tea' }] }],
  ['content in an answer', { count: 1, results: [{ id: 'a', content: 'likes tea' }] }],
  ['text in a list', [{ id: 'a', text: 'likes tea', userId: 'ana' }]],
  ['content in a list', [{ id: 'a', content: 'likes tea', created_at: '2025-01-01T00:00:00Z' }]],
  ['an empty memory beside a text', [{ id: 'a', memory: '', text: 'likes tea', hash: 'h' }]],
])('reads memories of mem0 spelled as %s', async (_, value) => {
  const found = await read(value)
  expect(found).toMatchObject({ format: 'mem0', records: [{ id: 'a', text: 'likes tea' }], skipped: {} })
})

it('keeps of mem0 whose memory it was, how memories relate, and counts what has no text', async () => {
  const found = await read({
    results: [
      { id: 'a', text: 'likes tea', userId: 'ana', run_id: 'r1', categories: ['drinks'], appId: 'api', createdAt: '2025-01-01T00:00:00Z' },
      { id: 'b', memory: '' },
    ],
    relations: [{ source: 'ana', relationship: 'drinks', destination: 'tea' }, { source: 'ana' }],
  }) // biome-ignore format: a fixture
  expect(found?.records).toMatchObject([
    { tags: ['drinks', 'user:ana', 'run:r1'], project: 'api', at: '2025-01-01T00:00:00.000Z' },
    { text: 'ana drinks tea', tags: ['ana', 'tea'], type: 'relation' },
  ])
  expect(found?.skipped).toEqual({ 'memory without text or id': 1, 'relation without both its ends': 1 })
})

it('takes from mem0 no memory whose last day is over', async () => {
  const found = await read([
    { id: 'a', memory: 'likes tea', expiration_date: '2025-12-31' },
    { id: 'b', memory: 'likes milk', expirationDate: '2026-01-01' },
    { id: 'c', memory: 'likes rain', expiration_date: 'never' },
  ])
  expect(texts(found)).toEqual(['likes milk', 'likes rain'])
  expect(found?.skipped).toEqual({ 'memory that has expired': 1 })
})

it('takes no list of other things for memories', async () => {
  for (const value of [
    [{ id: 'a', text: 'a row of something' }],
    [],
    [1],
    { results: [] },
    { results: [{ id: 1 }] },
  ]) {
    expect(await read(value)).toBeNull()
  }
})

it('reads the documents and instructions of projects on claude.ai', async () => {
  const found = await read([
    {
      uuid: 'p1',
      name: 'Sea',
      created_at: '2025-05-01T00:00:00Z',
      prompt_template: 'Speak of walruses.',
      docs: [
        { uuid: 'd1', filename: 'tides.md', content: 'High at noon.', created_at: '2025-06-01T00:00:00Z' },
        { uuid: 'd2', filename: 'empty.md', content: '' },
        { uuid: 'd3', content: 'Low at six.' },
      ],
    },
    { uuid: 'p2', name: 'Bare', docs: [] },
  ])
  expect(found).toMatchObject({
    records: [
      { id: 'instructions:p1', text: '# Instructions of Sea\n\nSpeak of walruses.', project: 'Sea' },
      { id: 'document:d1', text: '# tides.md\n\nHigh at noon.', at: '2025-06-01T00:00:00.000Z' },
      { id: 'document:d3', text: '# Document\n\nLow at six.', at: '2025-05-01T00:00:00.000Z' },
    ],
    skipped: { 'document without text or id': 1 },
  })
})

it('reads the graph of the MCP memory server, each observation and each relation by itself', async () => {
  const found = await read(
    [
      {
        type: 'entity',
        name: 'api',
        entityType: 'project',
        observations: ['Uses a pool', 'Deploys on Fridays', { content: 1 }],
      },
      { type: 'relation', from: 'ana', to: 'api', relationType: 'maintains' },
      { type: 'relation', from_id: 'ana', to_id: 'api' },
      { type: 'relation', from: 'ana' },
      { type: 'entity', name: 'bare', observations: [] },
      [],
    ]
      .map((line) => JSON.stringify(line))
      .join('\n'),
    'memory.jsonl',
  )
  const source = 'mcp-memory'
  const ofApi = { source, tags: ['api', 'project'], type: 'observation' }
  const ofAna = { source, tags: ['ana', 'api'], type: 'relation' }
  expect(found?.records).toEqual([
    { ...ofApi, id: 'observation:api|Uses a pool', text: 'api: Uses a pool' },
    { ...ofApi, id: 'observation:api|Deploys on Fridays', text: 'api: Deploys on Fridays' },
    { ...ofAna, id: 'relation:ana|maintains|api', text: 'ana maintains api' },
    { ...ofAna, id: 'relation:ana|relates to|api', text: 'ana relates to api' },
  ])
  expect(found?.skipped).toEqual({
    'observation that is not a text': 1,
    'entity without a name': 1,
    'entity without observations': 1,
    'line that is not an object': 1,
  })
})

it('reads the observations and summaries of claude-mem, by the ids that it knows them by', async () => {
  const at = { memory_session_id: 'm1', created_at_epoch: Date.UTC(2025, 0, 1) }
  const found = await read({
    exportedAtEpoch: 1,
    observations: [
      {
        ...at,
        id: 7,
        project: 'old',
        merged_into_project: 'api',
        type: 'decision',
        title: 'Pool',
        subtitle: 'of ten',
        narrative: 'It leaks.',
        text: 'not read',
        facts: '["one", "two"]',
        concepts: '["trade-off"]',
        files_read: '["a.ts"]',
        files_modified: '["a.ts", "b.ts"]',
      },
      { ...at, id: 8, content_hash: 'h8', text: 'By itself', created_at: 'not read' },
      { id: 9, memory_session_id: 'm1', title: 'Undated', created_at: '2025-02-01' },
      { id: 10 },
      null,
    ],
    summaries: [{ ...at, id: 1, request: 'Mend it', learned: 'Why', completed: ' ', project: 'api' }],
  })
  const common = { source: 'claude-mem', at: '2025-01-01T00:00:00.000Z' }
  expect(found?.records).toEqual([
    {
      ...common,
      project: 'api',
      id: `observation:m1|Pool|${at.created_at_epoch}`,
      text: 'Pool\nof ten\nIt leaks.\n- one\n- two\nFiles: a.ts, b.ts',
      tags: ['trade-off'],
      type: 'decision',
    },
    { ...common, id: 'h8', text: 'By itself', tags: [], type: 'observation' },
    {
      source: 'claude-mem',
      at: '2025-02-01T00:00:00.000Z',
      id: 'observation:m1|Undated|9',
      text: 'Undated',
      tags: [],
      type: 'observation',
    },
    {
      ...common,
      project: 'api',
      id: `summary:m1|Mend it|${at.created_at_epoch}`,
      text: 'Request: Mend it\nLearned: Why',
      tags: [],
      type: 'session-summary-import',
    },
  ])
  expect(found?.skipped).toEqual({ 'record without text': 2 })
})

it('reads the database of claude-mem, also one that has no summaries yet, and no database of another tool', async () => {
  const fill = async (sql: string) => {
    const path = await temporaryFile('claude-mem.db', '')
    const database = new DatabaseSync(path)
    database.exec(sql)
    database.close()
    return texts(await readMemoryExport(path, { name: 'claude-mem.db', now }))
  }
  const observations =
    "CREATE TABLE observations (id INTEGER, title TEXT); INSERT INTO observations VALUES (1, 'a walrus');"
  const whole = `${observations} CREATE TABLE sdk_sessions (id INTEGER);`
  expect(await fill(whole)).toEqual(['a walrus'])
  const summaries =
    "CREATE TABLE session_summaries (id INTEGER, request TEXT); INSERT INTO session_summaries VALUES (1, 'feed it');"
  expect(await fill(`${whole} ${summaries}`)).toEqual(['a walrus', 'Request: feed it'])
  expect(await fill(observations)).toBeUndefined()
})

it('refuses an export over 64 MB, which it would hold in memory as a whole', async () => {
  const path = await temporaryFile('export.json', '[]')
  await truncate(path, 64 * 1024 * 1024 + 1)
  await expect(readMemoryExport(path, { name: 'export', now })).rejects.toThrow('Split it')
})

it('reads an export of mcp-memory-service, by the hash of each memory', async () => {
  const memory = { content: ' It leaks. ', content_hash: 'h', tags: 'pool, api', memory_type: 'note' }
  const found = await read({
    export_metadata: {},
    memories: [{ ...memory, created_at: 1.5e9 }, { content: 'nameless' }, null],
  })
  const at = '2017-07-14T02:40:00.000Z'
  const record = { source: 'mcp-memory-service', id: 'h', text: 'It leaks.', tags: ['pool', 'api'] }
  expect(found).toEqual({
    format: 'mcp-memory-service',
    records: [{ ...record, type: 'note', at }],
    skipped: { 'memory without text or hash': 2 },
  })
})

it.each([
  [{ partial: true }, { 'rest of an export that says it is not complete': 1 }],
  [{ importable: false, warnings: ['cut'] }, { 'rest of an export that says it is not complete': 1 }],
  [{ partial: false, importable: true }, {}],
])('says of an export of claude-mem whether it is whole: %j', async (metadata, skipped) => {
  const observations = [{ id: 1, title: 'a walrus' }]
  const found = await read({ exportedAtEpoch: 1, observations, metadata })
  expect(texts(found)).toEqual(['a walrus'])
  expect(found?.skipped).toEqual(skipped)
})

it('takes the tags of observations in a note, with a category or without, and none of tasks and links', async () => {
  const note =
    '---\nname: Coffee\nmodified: 2025-02-01T10:00:00Z\n---\n- [method] Pour over #slow\n- Grind late #fresh\n-  [ ] buy #task\n- [x] did #task\n- [[Link]] #link\n- [text](url) #link\nProse #prose\n'
  const found = await read(note, 'coffee.md')
  expect(found?.records).toMatchObject([{ tags: ['slow', 'fresh'], at: '2025-02-01T10:00:00.000Z' }])
  expect(texts(found)?.[0]).toMatch(/^# Coffee\n/)
})

it('dates a note as its front matter does, when nothing says when it was created', async () => {
  const at = async (head: string) => (await read(`---\n${head}\n---\nIt hides.\n`, 'q.md'))?.records[0]?.at
  expect(await at('date: 2025-02-01\nmodified: 2025-03-01')).toBe('2025-02-01T00:00:00.000Z')
  expect(await at('date: 2025-02-01\ncreated: 2025-01-01')).toBe('2025-01-01T00:00:00.000Z')
  expect(await at('date: some day\nmodified: 2025-03-01')).toBe('2025-03-01T00:00:00.000Z')
  expect(await at('date: some day')).toBeUndefined()
})

it('takes the tags of a note whole in every script', async () => {
  const found = await read('- one #हिन्दी\n- two #u\u0308ber\n- three #ที่นี่\n', 'note.md')
  expect(found?.records).toMatchObject([{ tags: ['हिन्दी', 'u\u0308ber', 'ที่นี่'] }])
})

it('keeps the properties of a note that a memory has no place for below its text', async () => {
  const head =
    'title: Quoll\ntags: [pet]\nstatus: urgent\naliases: [Spotty, "Native cat"]\nage: 3\nsize:\n  cm: 40\nempty:\n'
  const found = await read(`---\n${head}---\nIt hides by day.\n`, 'quoll.md')
  expect(texts(found)).toEqual([
    '# Quoll\n\nIt hides by day.\n\nstatus: urgent\naliases: Spotty, Native cat\nage: 3\nsize: {"cm":"40"}',
  ])
  expect(texts(await read('---\nstatus: urgent\n---\n', 'quoll.md'))).toEqual(['# quoll\n\nstatus: urgent'])
  // The last line may have no end, and what divides may have spaces behind it.
  expect(texts(await read('--- \ntitle: Quoll\nstatus: urgent\n---', 'q.md'))).toEqual([
    '# Quoll\n\nstatus: urgent',
  ])
  expect(await read('---\ntitle: Quoll\n---\n', 'quoll.md')).toMatchObject({
    records: [],
    skipped: { 'empty note': 1 },
  })
})

it('keeps what stands in the front matter of a note as it was written, also where YAML sees a number', async () => {
  const front =
    'title: 1984\ntags: [2024, pool]\ntype: 1\nversion: 1.10\nzip: 00501\nsha: 1e10\ndone: True\nnone: ~'
  const note = await read(`---\n${front}\n---\nIt leaks.`, 'note.md')
  expect(note?.records).toMatchObject([{ tags: ['2024', 'pool'], type: '1' }])
  expect(texts(note)).toEqual(['# 1984\n\nIt leaks.\n\nversion: 1.10\nzip: 00501\nsha: 1e10\ndone: True'])
})

it.each([
  ['2024', '2024-01-01T00:00:00.000Z'],
  ['2024-03-05', '2024-03-05T00:00:00.000Z'],
  ['1709600000', '2024-03-05T00:53:20.000Z'],
  ['1709600000000', '2024-03-05T00:53:20.000Z'],
  ['some day', undefined],
])('dates a note that was created %s', async (created, at) => {
  expect((await read(`---\ncreated: ${created}\n---\nIt leaks.`, 'note.md'))?.records[0]?.at).toBe(at)
})

it.each(['birds/quoll.md', 'birds/quoll.MD', 'birds/quoll.markdown'])(
  'calls the note %s by its path',
  async (name) => {
    const path = await temporaryFile(name.slice(6), 'It hides.\r\nBy day.\r\n')
    const note = { isFile: true, id: 'birds/quoll', type: 'note', tags: [], source: 'markdown' }
    expect(await readMemoryExport(path, { name, now })).toEqual({
      format: 'markdown note',
      records: [{ ...note, text: '# quoll\n\nIt hides.\nBy day.' }],
      skipped: {},
    })
  },
)

it('takes from the front matter of a note its link, its type and its project', async () => {
  const front = 'permalink: birds/quoll\ntype: animal\nproject: zoo\nrule: a---\n---b: c'
  const note = await read(`---\n${front}\n---\n# Quoll\n\nIt hides.`, 'a.md')
  const text = '# Quoll\n\nIt hides.\n\nrule: a---\n---b: c'
  expect(note?.records).toEqual([
    {
      source: 'basic-memory',
      id: 'birds/quoll',
      isFile: true,
      type: 'animal',
      project: 'zoo',
      tags: [],
      text,
    },
  ])
})

it.each([
  ['---\npermalink: birds/quoll\n---\nIt hides.', 'basic-memory'],
  ['# Quoll\n\n- [habit] Hides by day #quoll (seen)', 'basic-memory'],
  ['See [[Birds]].\n\n- [[Owls]]\n- [site](https://example.org) x\n- [ ] feed\n- [x] wash', 'markdown'],
  ['---\ntitle: Quoll\ntags: [pet]\n---\nIt hides.', 'markdown'],
])('names the source of a note by what only basic-memory writes: %j', async (note, source) => {
  expect((await read(note, 'quoll.md'))?.records).toMatchObject([{ source }])
})

it.each([
  ['broken', 'tags: [pet\n', 1],
  ['nested too deep', `a: ${'['.repeat(5000)}\n`, 1],
  ['with aliases', 'a: &a [1]\nb: *a\n', 1],
  ['with a list for a key', '? [a]\n: b\n', 1],
  ['longer than any', `a: ${'x'.repeat(64 * 1024)}\n`, undefined],
])('keeps front matter as text that is %s', async (_, front, count) => {
  const note = `---\n${front}---\nIt hides.`
  const found = await read(note, 'quoll.md')
  expect(texts(found)).toEqual([`# quoll\n\n${note}`])
  expect(found?.skipped['unreadable front matter, kept as text']).toBe(count)
})

it('takes a line in a note for front matter only where the note begins with it', async () => {
  const note = 'It hides.\n---\nstatus: urgent\n---\nBy day.'
  expect(texts(await read(note, 'quoll.md'))).toEqual([`# quoll\n\n${note}`])
  expect(texts(await read('---\nBy day.', 'quoll.md'))).toEqual(['# quoll\n\n---\nBy day.'])
  for (const words of ['It hides.', '- It hides.']) {
    const setOff = `---\n${words}\n---\nBy day.`
    expect(texts(await read(setOff, 'quoll.md'))).toEqual([`# quoll\n\n${setOff}`])
  }
  expect(texts(await read('---\n\n---\nBy day.', 'quoll.md'))).toEqual(['# quoll\n\nBy day.'])
})

it('refuses memories in another encoding, whose letters it would lose', async () => {
  const inEncoding = async (name: string, text: string, encoding: 'latin1' | 'utf16le') =>
    readMemoryExport(await temporaryFile(name, Buffer.from(text, encoding)), { name, now })
  const note = '# Zürich\n\nDer Zoo öffnet um neun.\n'
  await expect(inEncoding('zoo.md', note, 'latin1')).rejects.toThrow('is not UTF-8 text')
  await expect(inEncoding('zoo.md', note, 'utf16le')).rejects.toThrow('is not UTF-8 text')
  const memories = JSON.stringify([{ id: '1', memory: 'Der Zoo öffnet um neun.' }])
  await expect(inEncoding('zoo.json', memories, 'latin1')).rejects.toThrow('is not UTF-8 text')
  expect(await inEncoding('other.json', '["öffnet"]', 'latin1')).toBeNull()
})

it('reads all memories behind a byte order mark, whatever their form', async () => {
  const entity = (name: string) => JSON.stringify({ type: 'entity', name, observations: ['leaks'] })
  const lines = await read(`\uFEFF${entity('pool')}\r\n${entity('pipe')}\r\n`, 'memory.jsonl')
  expect([texts(lines), lines?.skipped]).toEqual([['pool: leaks', 'pipe: leaks'], {}])
  expect(texts(await read(`\uFEFF${JSON.stringify([{ id: '1', memory: 'leaks' }])}`))).toEqual(['leaks'])
  expect(texts(await read('\uFEFF---\ntitle: Pool\n---\nleaks', 'a.md'))).toEqual(['# Pool\n\nleaks'])
  const mem0 = '\uFEFF---\nid: 1\ncreated_at: 2025-01-01\n---\nleaks\n'
  expect(await read(mem0, 'b.md')).toMatchObject({ format: 'mem0', records: [{ text: 'leaks' }] })
})

it('counts in the markdown of mem0 what has no text, no id or no date', async () => {
  const block = (fields: string, said = 'leaks') => `---\n${fields}\n---\n${said}\n`
  const dated = 'created_at: 2025-01-01'
  const found = await read(
    [
      block(`id: 1\n${dated}\ntype: fact`),
      block(`id: 2\n${dated}`, ' '),
      block(`id:\n${dated}`),
      block('id: 4'),
    ].join(''),
    'b.md',
  )
  expect(found).toMatchObject({
    records: [{ id: '1', text: 'leaks', type: 'fact', at: '2025-01-01T00:00:00.000Z' }],
    skipped: { 'memory without text or id': 3 },
  })
})

it('says that an export is missing', async () => {
  const missing = readMemoryExport('/nowhere.json', { name: 'nowhere.json', now })
  await expect(missing).rejects.toMatchObject({ code: 'MEMORY_NOT_FOUND' })
})

it('reads or refuses whatever stands in an export, each memory with a text and an id', async () => {
  const path = await temporaryFile('export.json', '')
  const samples = [
    agentmemory,
    { results: [{ id: 'a', text: 'b', metadata: {}, expiration_date: 'x' }], relations: [{ source: 'a', relationship: 'b', destination: 'c' }] },
    [{ uuid: 'p', name: 'n', prompt_template: 't', docs: [{ uuid: 'd', filename: 'f', content: 'c' }] }],
  ] // biome-ignore format: samples
  await fc.assert(
    fc.asyncProperty(fc.oneof(...samples.map(withHoles)), async (value) => {
      await writeFile(path, JSON.stringify(value))
      try {
        const found = await readMemoryExport(path, { name: 'export', now })
        for (const { id, text, tags, at } of found?.records ?? []) {
          expect(id).not.toBe('')
          expect(text.trim()).not.toBe('')
          expect(tags.every((tag) => typeof tag === 'string')).toBe(true)
          if (at !== undefined) expect(new Date(at).toISOString()).toBe(at)
        }
      } catch (error) {
        if (!isMemoryError(error)) throw error
      }
    }),
  )
})
