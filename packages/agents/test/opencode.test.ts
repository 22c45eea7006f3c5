import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import {
  listImportable,
  listSessionTranscripts,
  openTranscript,
  sessionRevisions,
  stateOfSource,
} from '../src/index.ts'
import { messagesOf, outline, temporaryFolder } from './support.ts'

it('knows the helpers of an OpenCode session', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', NULL, 1), ('o2', 'o1', 2), ('o3', 'o2', 3), ('o4', 'o4', 4);`)
  database.close()
  expect(await openTranscript(`${path}#o1`)).not.toHaveProperty('parent')
  // An id with a slash is what keeps a helper out of the window also where only its archive is known.
  expect(await openTranscript(`${path}#o2`)).toMatchObject({ sessionId: 'o1/o2', parent: 'o1' })
  expect(await openTranscript(`${path}#o3`)).toMatchObject({ sessionId: 'o1/o2/o3', parent: 'o1/o2' })
  expect(await openTranscript(`${path}#o4`)).not.toHaveProperty('parent')
})

it.each([
  ['1', "INSERT INTO part VALUES ('p1', 'm1', 'x')"],
  ['1, which wrote it anew', "UPDATE message SET data = 'longer'"],
  ['2', "INSERT INTO session_message VALUES ('o2', 'x')"],
])('tells which sessions went on in a database of OpenCode %s', async (_, said) => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    CREATE TABLE session_v2 (id TEXT, parent_id TEXT, time_created INTEGER);
    CREATE TABLE session_message (session_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', NULL, 1), ('o2', 'o1', 2), ('o3', NULL, 3);
    INSERT INTO message VALUES ('m1', 'o2', 'said');`)
  const revisions = () => sessionRevisions(path, ['o1', 'o2', 'o3'])
  const before = await revisions()
  database.exec(said)
  const after = await revisions()
  database.close()
  expect([...before.keys()].filter((id) => before.get(id) !== after.get(id))).toEqual(['o1', 'o2'])
})

it('takes no name that OpenCode gives every session for a title, nor its own summary for an answer', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  const message = (id: string, data: unknown) =>
    `INSERT INTO message VALUES ('${id}', 'o1', ${id}, '${JSON.stringify(data)}');
     INSERT INTO part VALUES ('p${id}', '${id}', '${JSON.stringify({ type: 'text', text: `text ${id}` })}');`
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', NULL, 'New session - 2026-11-20T09:00:00.000Z', 1), ('o2', NULL, 'Pool', 2);
    ${message('1', { role: 'user', summary: { diffs: [] } })}
    ${message('2', { role: 'assistant', summary: true, mode: 'compaction' })}
    ${message('3', { role: 'assistant' })}`)
  database.close()
  const conversation = await openTranscript(`${path}#o1`)
  expect(conversation.facts).not.toHaveProperty('title')
  // It is counted as versions did that took it for an answer, so that what they archived is known again.
  expect(outline(await messagesOf(conversation))).toEqual([
    'user: text 1',
    'assistant: (result) [compacted]',
    'assistant: text 3',
  ])
  expect((await openTranscript(`${path}#o2`)).facts.title).toBe('Pool')
})

it('lists the sessions of OpenCode in the order in which they began, and those of no other database', async () => {
  const folder = await temporaryFolder()
  const create = (name: string, sql: string) => {
    const database = new DatabaseSync(join(folder, name))
    database.exec(sql)
    database.close()
    return join(folder, name)
  }
  const tables = ['session (id TEXT, time_created INTEGER)', 'message (id TEXT)', 'part (id TEXT)']
  const whole = create(
    'a.db',
    `${tables.map((table) => `CREATE TABLE ${table};`).join('')}
    INSERT INTO session VALUES ('late', 2), ('early', 1), ('earliest', 1);`,
  )
  expect(await listImportable(whole)).toEqual(['earliest', 'early', 'late'].map((id) => `${whole}#${id}`))
  for (const [i, missing] of tables.entries()) {
    const some = tables.filter((table) => table !== missing).map((table) => `CREATE TABLE ${table};`)
    const other = create(`${i}.db`, some.join(''))
    expect(await listImportable(other)).toEqual([other])
  }
})

it('says which session a database of OpenCode does not have', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE session (id TEXT)')
  database.close()
  const refusal = { code: 'MEMORY_NOT_FOUND', message: `${path} has no session o1`, details: { path } }
  await expect(openTranscript(`${path}#o1`)).rejects.toMatchObject(refusal)
})

it('knows when something was said in OpenCode, and where, and counts messages of no speaker', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, title TEXT, directory TEXT, parent_id TEXT);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', 'A new session - 2026-11', '/home/dev/api', 'gone'), ('o2', NULL, NULL, NULL);
    INSERT INTO message VALUES ('m1', 'o1', 1763600000000, '{"role":"user"}'),
      ('m2', 'o1', 1763600001000, '{"role":"system"}'), ('m3', 'o1', NULL, '{"role":"assistant"}');
    INSERT INTO part SELECT 'p' || id, id, '{"type":"text","text":"text ' || id || '"}' FROM message;`)
  database.close()
  const conversation = await openTranscript(`${path}#o1`)
  const messages = await messagesOf(conversation)
  expect(messages.map(({ at }) => at)).toEqual([undefined, '2025-11-20T00:53:20.000Z'])
  expect(messages[0]).not.toHaveProperty('at')
  expect(conversation).toMatchObject({
    parent: 'gone',
    facts: {
      title: 'A new session - 2026-11',
      project: '/home/dev/api',
      skipped: { 'line that is not a message': 1 },
    },
  })
  expect((await openTranscript(`${path}#o2`)).facts).toEqual({ skipped: {} })
})

it('counts the parts of an OpenCode message that are damaged', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', 1);
    INSERT INTO message VALUES ('m1', 'o1', 1, '{"role":"user"}');
    INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"hello"}'), ('p2', 'm1', '{"type":"te'),
      ('p3', 'm1', '{"type":"step-start"}');`)
  database.close()
  const conversation = await openTranscript(`${path}#o1`)
  expect(outline(await messagesOf(conversation))).toEqual(['user: hello'])
  expect(conversation.facts.skipped).toEqual({ 'unrecognised content block': 1 })
})

it('sees that a session in a database goes on while what is new stands only in its log', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  await writeFile(path, 'unchanged')
  const before = await stateOfSource(`${path}#o1`)
  expect(await stateOfSource(`${path}#o1`)).toEqual(before)
  // Whoever opens a database leaves an empty one.
  await writeFile(`${path}-wal`, '')
  expect(await stateOfSource(`${path}#o1`)).toEqual(before)
  await writeFile(`${path}-wal`, 'new')
  const after = await stateOfSource(`${path}#o1`)
  expect(after.stamp).not.toBe(before.stamp)
  expect(after.changedAt).toBeGreaterThanOrEqual(before.changedAt)
})

/** A session of messages, each of data and parts, as it is read. */
async function readSession(...messages: [data: unknown, ...parts: unknown[]][]) {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', 1);`)
  const toMessage = database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)')
  const toPart = database.prepare('INSERT INTO part VALUES (?, ?, ?)')
  for (const [i, [data, ...parts]] of messages.entries()) {
    toMessage.run(`m${i + 1}`, 'o1', i, JSON.stringify(data))
    for (const [j, part] of parts.entries()) toPart.run(`p${i}${j}`, `m${i + 1}`, JSON.stringify(part))
  }
  database.close()
  return messagesOf(await openTranscript(`${path}#o1`))
}

it('reads a command that a person ran in OpenCode as theirs, and those of the agent as its own', async () => {
  const ran = (command: unknown, output?: string) => ({
    type: 'tool',
    tool: 'bash',
    callID: 'c',
    state: { input: { command }, ...(output === undefined ? {} : { output }) },
  })
  const notice = { type: 'text', text: 'The following tool was executed by the user', synthetic: true }
  const person = { role: 'user' }
  const answerTo = (parentID: string) => ({ role: 'assistant', parentID })
  const messages = await readSession(
    [person, notice],
    [answerTo('m1'), ran('npm test', '1 failing\n')],
    [answerTo('m1'), { type: 'step-start' }, ran('git log', 'none')],
    [person, notice],
    [answerTo('m4'), ran('sleep 9')],
    [person, { ...notice, synthetic: false }],
    [answerTo('m6'), ran('ls', 'a.ts')],
    [person, notice],
    [answerTo('m8'), ran(['ls'], 'a.ts')],
    [person, { ...notice, text: 'The file was read.' }],
    [answerTo('m10'), ran('pwd', '/')],
    [person, notice],
    [answerTo('m12'), ran('date', 'now'), { type: 'step-finish' }],
    [person, notice],
    [answerTo('m14'), { type: 'text', text: 'fine' }],
  )
  expect(outline(messages)).toEqual([
    'user: ! npm test',
    'assistant: (result) 1 failing',
    'assistant: (uses bash) | (result) none',
    'user: ! sleep 9',
    'assistant: (result) ',
    'user: The following tool was executed by the user',
    'assistant: (uses bash) | (result) a.ts',
    'assistant: (uses bash) | (result) a.ts',
    'assistant: (uses bash) | (result) /',
    'assistant: (uses bash) | (result) now',
    'assistant: fine',
  ])
  expect(messages.slice(0, 2).map(({ id }) => id)).toEqual(['m2', 'm2#output'])
})

it('reads of an answer in OpenCode what was said and which tools were used, and not what was thought', async () => {
  const tool = (more: object) => ({ type: 'tool', tool: 'edit', callID: 'c', ...more })
  const [message] = await readSession([
    { role: 'assistant' },
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: ' \n' },
    { type: 'text', text: 7 },
    { type: 'text', text: 'done' },
    tool({ state: { input: { filePath: 'a.css' }, output: 'fine' } }),
    tool({ state: { input: { filePath: 'b.css' }, error: 'no such file' } }),
    tool({ callID: 7, state: null }),
    tool({ state: { output: ['fine'] } }),
  ])
  expect(message?.content).toEqual([
    { type: 'text', text: 'done' },
    { type: 'tool_use', id: 'c', name: 'edit', input: { filePath: 'a.css' } },
    { type: 'tool_result', toolUseId: 'c', content: 'fine' },
    { type: 'tool_use', id: 'c', name: 'edit', input: { filePath: 'b.css' } },
    { type: 'tool_result', toolUseId: 'c', content: 'no such file', isError: true },
    { type: 'tool_use', id: '', name: 'edit', input: null },
    { type: 'tool_use', id: 'c', name: 'edit', input: null },
  ])
})

it('reads a slash command of OpenCode that a helper works on as what a person typed', async () => {
  const subtask = { type: 'subtask', agent: 'build', prompt: 'You are a code reviewer.' }
  const messages = await readSession(
    [{ role: 'user' }, { ...subtask, command: 'review' }],
    [{ role: 'user' }, subtask],
    [{ role: 'assistant' }, { type: 'tool', tool: 'task', callID: 'c', state: { output: 'fine' } }],
  )
  expect(outline(messages)).toEqual(['user: /review', 'assistant: (uses task) | (result) fine'])
})

it('takes what a plugin of OpenCode shows a person for no words of theirs', async () => {
  const shown = { type: 'text', text: 'Running a skill', ignored: true }
  const messages = await readSession(
    [{ role: 'user' }, { ...shown, text: '12 tools pruned' }],
    [{ role: 'user' }, shown, { type: 'text', text: 'fix it', ignored: false }],
    [{ role: 'assistant' }, { type: 'text', text: 'Done.' }],
  )
  expect(outline(messages)).toEqual([
    'assistant: (result) 12 tools pruned',
    'user: fix it',
    'assistant: Done.',
  ])
})

it('leaves a mark of pictures and documents given to OpenCode, and none of files that were named', async () => {
  const file = (mime: unknown) => ({ type: 'file', mime, filename: 'a', url: 'data:' })
  const messages = await readSession(
    [{ role: 'user' }, file('image/png')],
    [{ role: 'user' }, { type: 'text', text: 'and @a.ts?' }, file('text/plain'), file('application/pdf')],
    [{ role: 'user' }, file('application/x-directory'), file(undefined)],
  )
  expect(outline(messages)).toEqual(['user: [image]', 'user: and @a.ts? | [document]'])
})

/** A database of both versions of OpenCode, with these rows. */
async function databaseOfBoth(rows: string): Promise<string> {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  const session =
    'id TEXT, parent_id TEXT, title TEXT, directory TEXT, time_created INTEGER, time_updated INTEGER'
  database.exec(`
    CREATE TABLE session (${session});
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    CREATE TABLE session_v2 (${session});
    CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, data TEXT);
    ${rows}`)
  database.close()
  return path
}

const said = (seq: number, type: string, data: unknown): string =>
  `INSERT INTO session_message VALUES ('m${seq}', 'o1', '${type}', ${seq}, 1763600000000, '${JSON.stringify(data)}');`

describe('a session of OpenCode 2', () => {
  it('is read with what was said, typed, run and used in it, and without what the host says', async () => {
    const file = (mime: string) => ({ mime, name: 'a', source: { type: 'uri', uri: 'file:///a' } })
    const tool = (state: unknown) => ({
      type: 'tool',
      id: 'call_1',
      name: 'shell',
      state,
      time: { created: 1 },
    })
    const path = await databaseOfBoth(`
      INSERT INTO session_v2 VALUES ('o1', NULL, 'Pool', '/home/dev/api', 1, 1);
      ${said(12, 'assistant', { content: [{ type: 'text', text: 'It leaked.' }] })}
      ${said(1, 'user', { text: 'fix the pool', files: [file('image/png'), file('text/plain')] })}
      ${said(2, 'synthetic', { text: 'a plugin says' })}
      ${said(3, 'system', { text: 'the date is' })}
      ${said(4, 'assistant', {
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'I look.' },
          tool({ status: 'completed', input: { command: 'ls' }, content: [{ type: 'text', text: 'src' }] }),
          tool({
            status: 'error',
            input: { command: 'x' },
            content: [{ type: 'text', text: 'so far' }],
            error: { type: 'unknown', message: 'no x' },
          }),
          tool({ status: 'streaming', input: '{"comm' }),
        ],
      })}
      ${said(5, 'shell', { command: 'make', status: 'exited', output: { output: 'built\n', size: 6 } })}
      ${said(6, 'shell', { command: 'make -n', status: 'running' })}
      ${said(13, 'shell', { callID: 'c', command: 'ls', output: 'pool.ts' })}
      ${said(7, 'compaction', { status: 'completed', summary: 'We looked.', recent: '' })}
      ${said(8, 'compaction', { status: 'failed', error: { type: 'unknown', message: 'no' } })}
      ${said(9, 'skill', { skill: 's', name: 's', text: 'do it so' })}
      ${said(10, 'idle', { outcome: 'succeeded' })}
      ${said(11, 'model-switched', { model: { id: 'm', providerID: 'p' } })}`)
    expect(await listImportable(path)).toEqual([`${path}#o1`])
    const conversation = await openTranscript(`${path}#o1`)
    const messages = await messagesOf(conversation)
    expect(outline(messages)).toEqual([
      'user: fix the pool | [image]',
      'assistant: I look. | (uses shell) | (result) src | (uses shell) | (result, failed) no x | (uses shell)',
      'user: ! make',
      'assistant: (result) built',
      'user: ! make -n',
      'assistant: (result) ',
      'assistant: (result) [compacted]',
      'assistant: It leaked.',
      'user: ! ls',
      'assistant: (result) pool.ts',
    ])
    expect(conversation.facts.skipped).toEqual({})
    expect(messages[0]).toMatchObject({ id: 'm1', at: '2025-11-20T00:53:20.000Z' })
    expect(messages[1]?.content[1]).toEqual({
      type: 'tool_use',
      id: 'call_1',
      name: 'shell',
      input: { command: 'ls' },
    })
    expect(conversation).toMatchObject({
      sessionId: 'o1',
      facts: { title: 'Pool', project: '/home/dev/api', skipped: {} },
    })
  })

  it('counts what is of no known type or form', async () => {
    const path = await databaseOfBoth(`
      INSERT INTO session_v2 VALUES ('o1', NULL, NULL, NULL, 1, 1);
      ${said(1, 'dream', {})} ${said(2, 'shell', {})} ${said(3, 'assistant', {})} ${said(4, 'user', {})}
      ${said(5, 'assistant', { content: ['text', { type: 'hologram' }, 7] })}`)
    const conversation = await openTranscript(`${path}#o1`)
    expect(await messagesOf(conversation)).toEqual([])
    expect(conversation.facts).toEqual({
      skipped: { 'line that is not a message': 2, 'unrecognised content block': 4 },
    })
  })

  it('is read as the version has it that went on with it, and listed once', async () => {
    const path = await databaseOfBoth(`
      INSERT INTO session VALUES ('o1', NULL, 'one', NULL, 1, 5), ('copied', NULL, 'one', NULL, 3, 3),
        ('o3', NULL, 'one', NULL, 2, 9);
      INSERT INTO session_v2 VALUES ('o1', NULL, 'two', NULL, 1, 7), ('copied', 'o1', 'two', NULL, 3, 3),
        ('o3', NULL, 'two', NULL, 2, 8), ('new', 'o3', 'two', NULL, 4, 4);
      ${said(1, 'user', { text: 'in two' })}
      INSERT INTO message VALUES ('m1', 'o1', 1, '{"role":"user"}');
      INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"in one"}');`)
    expect(await listImportable(path)).toEqual(['o1', 'o3', 'copied', 'new'].map((id) => `${path}#${id}`))
    const titles = ['o1', 'copied', 'o3', 'new'].map(
      async (id) => (await openTranscript(`${path}#${id}`)).facts.title,
    )
    expect(await Promise.all(titles)).toEqual(['two', 'one', 'one', 'two'])
    expect(outline(await messagesOf(await openTranscript(`${path}#o1`)))).toEqual(['user: in two'])
    expect(await openTranscript(`${path}#new`)).toMatchObject({ sessionId: 'o3/new', parent: 'o3' })
    expect(await listSessionTranscripts(`${path}#o3`)).toEqual([`${path}#o3`, `${path}#new`])
  })

  it('is read where OpenCode 1 never was', async () => {
    const path = join(await temporaryFolder(), 'opencode.db')
    const database = new DatabaseSync(path)
    database.exec(`
      CREATE TABLE session_v2 (id TEXT, parent_id TEXT, time_created INTEGER, time_updated INTEGER);
      CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, data TEXT);
      INSERT INTO session_v2 VALUES ('o1', NULL, 1, 1);
      ${said(1, 'user', { text: 'hello' })}`)
    database.close()
    expect(await listImportable(path)).toEqual([`${path}#o1`])
    expect(outline(await messagesOf(await openTranscript(`${path}#o1`)))).toEqual(['user: hello'])
  })
})
