import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import type { ImportReport } from '../src/imports/import-report.ts'
import { createShell, jsonLines, type Shell, temporaryFolder, writeFiles } from './support.ts'

function claudeMemDatabase(path: string): void {
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE sdk_sessions (id INTEGER);
    CREATE TABLE observations (id INTEGER, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, subtitle TEXT, narrative TEXT, text TEXT, facts TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, created_at_epoch INTEGER);
    INSERT INTO observations VALUES (7, 'm1', 'api', 'decision', 'Pick pgvector for quokkas', NULL, 'It was faster.', NULL, '["one"]', '["trade-off"]', '[]', '["db.ts"]', 1790845200000);`)
  database.close()
}

it.each([
  [
    'the graph of the MCP memory server',
    'memory.jsonl',
    jsonLines(
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
  expect(await shell.json<ImportReport>('import', source)).toMatchObject({ memories, failed: [] })
  expect((await shell.run('search', 'pangolin')).out).toMatch(/pangolin/i)
  // Also when the file was touched, and its memories are the same.
  writeFileSync(join(folder, name), `${content}\n`)
  expect(await shell.json<ImportReport>('import', source)).toMatchObject({ memories: 0, unchanged: memories })
})

describe('times', () => {
  /** When the memories were created and last changed, by a word of each. */
  const timesIn = async (shell: Shell, word: string) => {
    const lines = (await shell.run('export')).out.trim().split('\n')
    const { createdAt, updatedAt } = JSON.parse(lines.find((line) => line.includes(word)) as string)
    return [createdAt, updatedAt].map((time) => new Date(time).toISOString())
  }

  it('keeps the time when a memory was recorded, else that of its file', async () => {
    const folder = temporaryFolder()
    writeFiles(folder, {
      'mem0.json': JSON.stringify([{ id: 'a', memory: 'pangolin', created_at: '2025-09-01T08:00:00Z' }]),
      'walrus.md': '---\ncreated: 2025-10-02T00:00:00Z\n---\nThe walrus.',
      'event.md': '---\ndate: 2026-12-24T00:00:00Z\n---\nThe reindeer.',
      'graph.jsonl': jsonLines({ type: 'entity', name: 'api', observations: ['Uses a narwhal'] }),
    })
    const changed = new Date('2026-02-03T00:00:00Z')
    utimesSync(join(folder, 'graph.jsonl'), changed, changed)
    const shell = createShell()
    await shell.run('import', folder)
    const expected = {
      pangolin: '2025-09-01T08:00:00.000Z',
      walrus: '2025-10-02T00:00:00.000Z',
      narwhal: changed.toISOString(),
      // What is to come was not recorded then.
      reindeer: '2026-03-06T12:00:00.000Z',
    }
    for (const [word, time] of Object.entries(expected))
      expect(await timesIn(shell, word)).toEqual([time, time])
  })

  it('says of a memory that its source changed when that was seen', async () => {
    const folder = temporaryFolder()
    const record = { id: 'a', created_at: '2025-09-01T08:00:00Z' }
    const shell = createShell()
    for (const memory of ['a pangolin', 'two pangolins']) {
      writeFiles(folder, { 'mem0.json': JSON.stringify([{ ...record, memory }]) })
      await shell.run('import', folder)
    }
    expect(await timesIn(shell, 'two pangolins')).toEqual([
      '2025-09-01T08:00:00.000Z',
      '2026-03-06T12:00:00.000Z',
    ])
  })
})

it('keeps no secret of a tag, and tells of it', async () => {
  const shell = createShell()
  const folder = temporaryFolder()
  const secret = `ghp_${'a1B2'.repeat(9)}`
  writeFiles(folder, { 'mem0.json': JSON.stringify([{ id: 'a', memory: 'walrus', categories: [secret] }]) })
  expect(await shell.json('import', folder)).toMatchObject({ memories: 1, redactions: { github: 1 } })
  expect((await shell.run('export')).out).not.toContain(secret)
})

it('reads the database of claude-mem without changing it', async () => {
  const path = join(temporaryFolder(), 'claude-mem.db')
  claudeMemDatabase(path)
  const before = readFileSync(path)
  const shell = createShell()
  expect(await shell.json<ImportReport>('import', path)).toMatchObject({ memories: 1 })
  expect(readFileSync(path)).toEqual(before)
  expect(readdirSync(dirname(path))).toEqual(['claude-mem.db'])
  const { results } = await shell.json<{ results: { key: string }[] }>('search', 'quokkas')
  expect(results[0]?.key).toMatch(/^import:claude-mem:/)
})

it('replaces secrets, and brings back nothing that was forgotten', async () => {
  const shell = createShell()
  const token = `ghp_${'a1B2'.repeat(9)}`
  const source = join(temporaryFolder(), 'memory.jsonl')
  writeFileSync(source, jsonLines({ type: 'entity', name: 'ci', observations: [`token ${token}`] }))
  expect((await shell.json<ImportReport>('import', source)).redactions).not.toEqual({})
  expect((await shell.run('export')).out).not.toContain(token)
  await shell.run('forget', '--containing', 'token', '--yes')
  writeFileSync(source, `${readFileSync(source, 'utf8')}\n`)
  expect(await shell.json<ImportReport>('import', source)).toMatchObject({ memories: 0, forgotten: 1 })
})

it('makes no hash of a secret in an id, and keeps memories apart whose ids differ in it alone', async () => {
  const shell = createShell()
  const folder = temporaryFolder()
  const write = (...letters: string[]): void => {
    const entities = letters.map((letter, i) => ({
      type: 'entity',
      name: `${'ghp_'}${letter.repeat(36)}`,
      entityType: 'key',
      observations: [`Opens door ${i}`, 'Opens many a gate'],
    }))
    writeFiles(folder, { 'memory.jsonl': jsonLines(...entities) })
  }
  const keys = async (): Promise<string[]> => {
    const { out } = await shell.run('export')
    return [...out.matchAll(/"import:[^"]+"/g)].map(([key]) => key).sort()
  }
  write('a', 'b')
  expect(await shell.json('import', folder)).toMatchObject({ memories: 4 })
  const before = await keys()
  expect(before).toHaveLength(4)
  write('c', 'd')
  expect(await shell.json('import', folder)).toMatchObject({ memories: 0, unchanged: 4 })
  expect(await keys()).toEqual(before)
})

it('tells of memories that have the id of a later one, which alone is kept', async () => {
  const folder = temporaryFolder()
  const list = ['walrus', 'narwhal'].map((memory) => ({ id: 'same', memory }))
  writeFiles(folder, { 'mem0.json': JSON.stringify(list) })
  const shell = createShell()
  const { memories, skipped } = await shell.json<ImportReport>('import', join(folder, 'mem0.json'))
  expect({ memories, skipped }).toEqual({ memories: 1, skipped: { 'memory with the id of a later one': 1 } })
  expect((await shell.run('search', 'narwhal')).out).toContain('narwhal')
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
  expect(await shell.json<ImportReport>('import', folder, '--since', '2026-06-01')).toMatchObject({
    memories: 1,
    skipped: { 'memory recorded before --since': 1 },
  })
  expect(await shell.json<ImportReport>('import', folder, '--since', '2026-06-01')).toMatchObject({
    memories: 0,
  })
  expect(await shell.json<ImportReport>('import', folder)).toMatchObject({ memories: 1, unchanged: 1 })
})

it('takes a note that was edited since --since, whatever its date', async () => {
  const shell = createShell()
  const folder = temporaryFolder()
  writeFiles(folder, { 'walrus.md': '---\ndate: 2020-03-29\n---\nThe walrus.' })
  expect(await shell.json('import', folder, '--since', '2026-01-01')).toMatchObject({
    memories: 1,
    skipped: {},
  })
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
