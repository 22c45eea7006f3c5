import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { listImportable, listSessionTranscripts, openTranscript } from '../src/index.ts'
import { jsonLines, messagesOf, temporaryFolder, zstandard } from './support.ts'

/** Lists the transcripts of sessions in a folder with these files. */
async function folderOf(files: Record<string, string | Buffer>) {
  const root = await temporaryFolder()
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  const list = async (path: string) =>
    (await listSessionTranscripts(join(root, path))).map((found) =>
      relative(root, found).replaceAll('\\', '/'),
    )
  return { root, list }
}

it('lists a Claude Code session with the helpers in its folder', async () => {
  const said = jsonLines({
    type: 'user',
    uuid: 'u',
    sessionId: 'a',
    message: { role: 'user', content: 'hi' },
  })
  const { list } = await folderOf({
    'p/a.jsonl': said,
    'p/b.jsonl': said,
    'p/a/subagents/agent-1.jsonl': said,
    'p/a/subagents/workflows/wf_1/agent-2.jsonl': said,
    'p/a/subagents/workflows/wf_1/journal.jsonl': '{}\n',
    'p/a/tool-results/big.jsonl': '{}\n',
  })
  expect(await list('p/a.jsonl')).toEqual([
    'p/a.jsonl',
    'p/a/subagents/agent-1.jsonl',
    'p/a/subagents/workflows/wf_1/agent-2.jsonl',
  ])
  expect(await list('p/b.jsonl')).toEqual(['p/b.jsonl'])
})

it('lists a Gemini CLI session with the helpers in the folder that is named after it', async () => {
  const chat = (sessionId: string, kind: string) => jsonLines({ sessionId, projectHash: 'h', kind })
  const { list } = await folderOf({
    'chats/session-1-g1.jsonl': chat('g1-a', 'main'),
    'chats/session-1-g2.jsonl': chat('g2-b', 'main'),
    'chats/session-1-g3.jsonl': chat('..', 'main'),
    'chats/session-1-g4.jsonl': chat('', 'main'),
    'chats/g1-a/h1.jsonl': chat('h1', 'subagent'),
    'chats/g1-a/h1/h2.jsonl': chat('h2', 'subagent'),
  })
  expect(await list('chats/session-1-g1.jsonl')).toEqual([
    'chats/session-1-g1.jsonl',
    'chats/g1-a/h1.jsonl',
    'chats/g1-a/h1/h2.jsonl',
  ])
  for (const alone of ['g2', 'g3', 'g4']) {
    const path = `chats/session-1-${alone}.jsonl`
    expect(await list(path)).toEqual([path])
  }
})

it('finds the helpers of a Codex session among the sessions that began after it', async () => {
  const rollout = (day: string, id: string) =>
    `sessions/${day.replaceAll('-', '/')}/rollout-${day}T09-00-00-${id}.jsonl`
  const meta = (id: string, more = {}) =>
    jsonLines(
      { type: 'session_meta', payload: { id, ...more } },
      { type: 'session_meta', payload: { id: 'c1' } },
    )
  const helper = (id: string, parent: string) =>
    meta(id, { source: { subagent: { thread_spawn: { parent_thread_id: parent } } } })
  const session = rollout('2026-11-20', 'c1')
  const { root, list } = await folderOf({
    [rollout('2026-11-19', 'h0')]: helper('h0', 'c1'),
    [session]: meta('c1'),
    [rollout('2026-11-20', 'c2')]: meta('c2'),
    [rollout('2026-11-20', 'h1')]: helper('h1', 'c1'),
    [rollout('2026-11-21', 'h2')]: helper('h2', 'h1'),
    [rollout('2026-11-21', 'h3')]: helper('h3', 'c2'),
    [rollout('2026-11-21', 'h4')]: '{"type":"sess',
    [`${rollout('2026-11-21', 'torn')}.zst`]: zstandard('{"type":"sess').subarray(0, 12),
    [rollout('2026-11-22', 'h5')]: helper('h5', 'c1'),
    [rollout('2026-11-23', 'h6')]: helper('h6', 'c1'),
    [`${rollout('2026-11-21', 'h7')}.bak`]: helper('h7', 'c1'),
    'sessions/2026/11/21/old-rollout-2026-11-21T09-00-00-h8.jsonl': helper('h8', 'c1'),
    'sessions/2026/11/21/renamed.jsonl': helper('h9', 'c1'),
  })
  const ended = new Date('2026-11-21T12:00:00Z')
  await utimes(join(root, session), ended, ended)
  expect(await list(session)).toEqual([
    session,
    rollout('2026-11-20', 'h1'),
    rollout('2026-11-21', 'h2'),
    rollout('2026-11-22', 'h5'),
  ])
  expect(await list(rollout('2026-11-20', 'h1'))).toEqual([
    rollout('2026-11-20', 'h1'),
    rollout('2026-11-21', 'h2'),
  ])
  expect(await list('sessions/2026/11/21/renamed.jsonl')).toEqual(['sessions/2026/11/21/renamed.jsonl'])
})

it('lists with a forked Codex session the one on whose history it builds, and none for one that was wound back', async () => {
  const rollout = (day: number, id: string) =>
    `sessions/2026/11/${day}/rollout-2026-11-${day}T09-00-00-${id}.jsonl`
  const meta = (id: string, origin?: string) =>
    jsonLines({
      type: 'session_meta',
      payload: { id, ...(origin === undefined ? {} : { history_base: { thread_id: origin } }) },
    })
  const [first, again] = [rollout(18, 'c1'), rollout(19, 'c1_r2')]
  const { list } = await folderOf({
    [first]: meta('c1'),
    [again]: meta('c1', 'c1'),
    [rollout(20, 'c2')]: meta('c2', 'c1'),
    [rollout(21, 'c3')]: meta('c3', 'c2'),
    [rollout(22, 'c4')]: meta('c4', 'gone'),
    [rollout(23, 'ac1')]: meta('ac1'),
  })
  expect(await list(rollout(21, 'c3'))).toEqual([rollout(21, 'c3'), rollout(20, 'c2'), first, again])
  for (const alone of [again, rollout(22, 'c4')]) expect(await list(alone)).toEqual([alone])
})

it('lists each Codex session once where two say that they build on each other', async () => {
  const path = (id: string) => `sessions/2026/11/18/rollout-2026-11-18T09-00-00-${id}.jsonl`
  const meta = (id: string, thread_id: string) =>
    jsonLines({ type: 'session_meta', payload: { id, history_base: { thread_id } } })
  const { list } = await folderOf({ [path('c1')]: meta('c1', 'c2'), [path('c2')]: meta('c2', 'c1') })
  expect(await list(path('c1'))).toEqual([path('c1'), path('c2')])
})

it('finds the helpers of a Codex session also in a folder of a person, but not in those below it', async () => {
  const source = { subagent: { thread_spawn: { parent_thread_id: 'c1' } } }
  const rollout = (payload: { id: string; source?: object }) => jsonLines({ type: 'session_meta', payload })
  const session = 'rollout-2026-11-20T09-00-00-c1.jsonl'
  const helper = 'rollout-2026-11-20T09-00-01-h1.jsonl'
  const { list } = await folderOf({
    [session]: rollout({ id: 'c1' }),
    [helper]: rollout({ id: 'h1', source }),
    'below/rollout-2026-11-20T09-00-01-h2.jsonl': rollout({ id: 'h2', source }),
  })
  expect(await list(session)).toEqual([session, helper])
})

it('finds a Codex session and its helper that the host has compressed', async () => {
  const rollout = (payload: object) => jsonLines({ type: 'session_meta', payload })
  const session = 'rollout-2026-11-20T09-00-00-c1.jsonl.zst'
  const helper = 'rollout-2026-11-20T09-00-01-h1.jsonl.zst'
  const { root, list } = await folderOf({
    [session]: zstandard(rollout({ id: 'c1' })),
    [helper]: zstandard(rollout({ id: 'h1', parent_thread_id: 'c1' })),
  })
  expect(await list(session)).toEqual([session, helper])
  expect(await listImportable(root)).toEqual([join(root, session), join(root, helper)])
  const { sessionId } = await openTranscript(join(root, session))
  expect(sessionId).toBe('c1')
})

it('lists with a forked Claude Code session those that it was forked from, and reads each turn with one of them', async () => {
  const say = (uuid: string, sessionId: string, forkedFrom?: string) => ({
    type: 'user',
    uuid,
    sessionId,
    message: { role: 'user', content: uuid },
    ...(forkedFrom === undefined ? {} : { forkedFrom: { sessionId: forkedFrom, messageUuid: uuid } }),
  })
  const title = { type: 'custom-title', customTitle: 'x', sessionId: 'c' }
  const { root, list } = await folderOf({
    'p/a.jsonl': jsonLines(say('a1', 'a'), say('a2', 'a')),
    'p/b.jsonl': jsonLines(say('a1', 'b', 'a'), say('b1', 'b')),
    'p/c.jsonl': jsonLines(title, say('a1', 'c', 'b'), say('b1', 'c', 'b'), say('c1', 'c')),
    'p/gone.jsonl': jsonLines(say('x1', 'gone', 'x'), say('g1', 'gone')),
    'p/out.jsonl': jsonLines(say('a1', 'out', '../p/a'), say('o1', 'out')),
    'p/itself.jsonl': jsonLines(say('i1', 'itself', 'itself'), say('a1', 'itself', 'a')),
    'p/a/subagents/agent-a77.jsonl': jsonLines({ ...say('h1', 'a'), isSidechain: true, agentId: 'a77' }),
  })
  const said = async (name: string): Promise<string[]> =>
    (await messagesOf(await openTranscript(join(root, 'p', name)))).map(({ id }) => id)
  const ofA = ['p/a.jsonl', 'p/a/subagents/agent-a77.jsonl']
  expect(await list('p/c.jsonl')).toEqual(['p/c.jsonl', 'p/b.jsonl', ...ofA])
  expect(await list('p/a.jsonl')).toEqual(ofA)
  const paths = ['p/b.jsonl', ...ofA].map((path) => join(root, path))
  expect(await listImportable(join(root, 'p/b.jsonl'))).toEqual(paths)
  for (const alone of ['p/gone.jsonl', 'p/out.jsonl', 'p/itself.jsonl'])
    expect(await list(alone)).toEqual([alone])
  expect([await said('a.jsonl'), await said('b.jsonl'), await said('c.jsonl')]).toEqual([
    ['a1', 'a2'],
    ['b1'],
    ['c1'],
  ])
  // Where the other transcript is gone, nothing else has what was said before.
  expect([await said('gone.jsonl'), await said('out.jsonl')]).toEqual([
    ['x1', 'g1'],
    ['a1', 'o1'],
  ])
})

it.each([
  ['Claude Code', { sessionId: 'b', message: { role: 'user', content: 'go' } }],
  ['Qwen Code', { sessionId: 'b', message: { role: 'user', parts: [{ text: 'go' }] } }],
])('says of a forked session of %s where it works, not where the other one did', async (_, said) => {
  const forkedFrom = { sessionId: 'a', messageUuid: 'u1' }
  const copied = { ...said, type: 'user', uuid: 'u1', cwd: '/home/dev/api', forkedFrom }
  const { root } = await folderOf({
    'p/a.jsonl': jsonLines({ ...copied, sessionId: 'a', forkedFrom: undefined }),
    'p/b.jsonl': jsonLines(copied, { ...said, type: 'user', uuid: 'u2', cwd: '/home/dev/api-2' }),
    'p/c.jsonl': jsonLines(copied),
  })
  const projectOf = async (name: string) => {
    const conversation = await openTranscript(join(root, 'p', name))
    await messagesOf(conversation)
    return conversation.facts.project
  }
  expect(await projectOf('b.jsonl')).toBe('/home/dev/api-2')
  expect(await projectOf('c.jsonl')).toBe('/home/dev/api')
})

it.each(['s1/s1.jsonl', 's1.jsonl'])('lists a Cursor session with its helpers: %s', async (session) => {
  const line = jsonLines({ role: 'user', message: { content: 'paint it' } })
  const helpers = ['s1/subagents/h1.jsonl', 's1/subagents/h2.jsonl']
  const { root, list } = await folderOf({
    [session]: line,
    's2/s2.jsonl': line,
    's1/subagents/notes.txt': 'x',
    ...Object.fromEntries(helpers.map((helper) => [helper, line])),
  })
  expect(await list(session)).toEqual([session, ...helpers])
  expect(await list('s2/s2.jsonl')).toEqual(['s2/s2.jsonl'])
  const ids = await Promise.all([session, ...helpers].map((path) => openTranscript(join(root, path))))
  expect(ids.map(({ sessionId, parent }) => [sessionId, parent])).toEqual([
    ['s1', undefined],
    ['s1/h1', 's1'],
    ['s1/h2', 's1'],
  ])
})

it('lists an OpenCode session with its helpers and theirs', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, time_created INTEGER);
    INSERT INTO session VALUES ('o1', 'o3', 1), ('o2', NULL, 2), ('o3', 'o4', 3), ('o4', 'o1', 4), ('o5', 'o1', 3);`)
  database.close()
  const addresses = (...ids: string[]) => ids.map((id) => `${path}#${id}`)
  expect(await listSessionTranscripts(`${path}#o1`)).toEqual(addresses('o1', 'o5', 'o4', 'o3'))
  expect(await listSessionTranscripts(`${path}#o2`)).toEqual(addresses('o2'))
})

it('lists a transcript of another form, and a conversation of an export, alone', async () => {
  const { root, list } = await folderOf({ 'a.md': '# Notes\n', 'empty.jsonl': '' })
  for (const path of ['a.md', 'empty.jsonl']) expect(await list(path)).toEqual([path])
  const database = join(root, 'other.db')
  new DatabaseSync(database).close()
  for (const address of [join(root, 'conversations.json#c1'), `${database}#o1`])
    expect(await listSessionTranscripts(address)).toEqual([address])
})

it('says that a missing path is missing', async () => {
  await expect(listSessionTranscripts('/nowhere')).rejects.toMatchObject({ code: 'MEMORY_NOT_FOUND' })
})
