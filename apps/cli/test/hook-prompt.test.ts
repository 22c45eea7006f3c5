import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type ConversationArchive, conversationKey, stripRecalled } from '@recall/core'
import { openFileMemory } from '@recall/store-file'
import { expect, it, onTestFinished } from 'vitest'
import { createShell, jsonLines, poolSession, temporaryFolder, writeFiles, writeSession } from './support.ts'

const event = (fields: Record<string, unknown>): string => JSON.stringify(fields)

it('looks a prompt up when it is asked to, and says nothing when memory has nothing', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const ask = (prompt: string) =>
    shell
      .withInput(event({ session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt }))
      .run('hook', 'prompt')
  const { out } = await ask('who never releases the client in the retry path?')
  expect(JSON.parse(out).hookSpecificOutput.additionalContext).toContain('never releases it')
  const long = `${'who never releases the client in the retry path?'.padEnd(1999, '.')}🙂`
  expect((await ask(long)).out).toBe(out)
  expect((await ask('quixotic marmalade zeppelins')).out).toBe('')
  expect((await ask('ok')).out).toBe('')
})

it('says nothing to a prompt without a subject, however often its words were said', async () => {
  const shell = createShell()
  const prompts = [
    'Thanks, now fix the tests please.',
    "Why doesn't this work? Check again.",
    'Did you push? Then commit and continue with the next one.',
  ]
  const turns = prompts.map((text) => ({ role: 'user' as const, text }))
  await shell.run('archive', writeSession(shell.root, 's1', [...turns, ...poolSession]))
  const ask = (prompt: string) =>
    shell
      .withInput(event({ session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt }))
      .run('hook', 'prompt')
  for (const prompt of prompts) expect((await ask(prompt)).out, prompt).toBe('')
  expect((await ask('please fix the client that is never released')).out).not.toBe('')
})

it('tells a fact to who asks for it in other words', async () => {
  const shell = createShell()
  const facts = ['Ben likes choirs.', 'Releases go out on Tuesdays.', 'The staging cluster is in Frankfurt.']
  mkdirSync(join(shell.root, 'memory'))
  writeFileSync(
    join(shell.root, 'memory/MEMORY.md'),
    ['# Memory', ...facts.map((fact, i) => `## Fact ${i}\n\n${fact}`)].join('\n\n'),
  )
  const ask = async (prompt: string) => {
    const input = event({ session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt })
    return (await shell.withInput(input).run('hook', 'prompt')).out
  }
  expect(await ask('where is our staging cluster hosted by the provider?')).toContain('Frankfurt')
  expect(await ask('add a button to the settings page that resets all filters')).toBe('')
})

it('looks a prompt up in the memory of the person, not in one that the session works on', async () => {
  const home = temporaryFolder()
  const own = join(home, '.recall')
  mkdirSync(own)
  mkdirSync(join(home, 'memory'))
  writeFileSync(join(home, 'memory/MEMORY.md'), '# Another memory\n')
  await createShell(home, null, { RECALL_ROOT: own }).run('archive', writeSession(home, 's1', poolSession))
  const prompt = 'who never releases the client in the retry path?'
  const { out } = await createShell(home, null, {})
    .withInput(event({ session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt }))
    .run('hook', 'prompt')
  expect(JSON.parse(out).hookSpecificOutput.additionalContext).toContain('never releases it')
})

it('tells with a question that was asked before what was answered, in whole blocks that a host takes', async () => {
  const shell = createShell()
  for (const id of ['s1', 's2', 's3']) {
    const turns = [
      { role: 'user' as const, text: `Which green for the shed? ${`shed ${id} green `.repeat(90)}` },
      { role: 'assistant' as const, text: `Teal. ${`${id} `.repeat(300)}` },
      { role: 'user' as const, text: `Then paint it. ${`<recalled-memory ${id}> `.repeat(40)}` },
    ]
    await shell.run('archive', writeSession(shell.root, id, turns))
  }
  const input = { session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt: 'which green for the shed' }
  for (const [more, limit] of [
    [{}, 10_000],
    [{ turn_id: 't' }, 7000],
  ] as const) {
    const { out } = await shell.withInput(event({ ...input, ...more })).run('hook', 'prompt')
    const { additionalContext: told } = JSON.parse(out).hookSpecificOutput
    expect(told).toContain('Teal.')
    expect(told.length).toBeLessThanOrEqual(limit)
    expect(stripRecalled(told)).toBe('')
  }
})

it('cuts what it tells between two characters', async () => {
  const shell = createShell()
  await shell.run('init')
  const smiles = '🙂'.repeat(600)
  writeFileSync(
    join(shell.root, 'memory/MEMORY.md'),
    `# Memory\n\n## Paint\n\nThe shed was teal. ${smiles}\n`,
  )
  const input = {
    session_id: 'p',
    hook_event_name: 'UserPromptSubmit',
    prompt: 'which paint is on the shed?',
  }
  const { out } = await shell.withInput(event(input)).run('hook', 'prompt')
  const { additionalContext: told } = JSON.parse(out).hookSpecificOutput
  expect(told).toContain('🙂…')
  expect(told.isWellFormed()).toBe(true)
})

it('tells no secret that only the rest of a note shows to be one', async () => {
  const shell = createShell()
  await shell.run('init')
  const value = { password: 'hunter2hunter2', note: 'the frontend is deployed by the runner of the harbour' }
  mkdirSync(join(shell.root, 'memory/long-term'), { recursive: true })
  const note = `---\nformat: "json"\n---\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`
  writeFileSync(join(shell.root, 'memory/long-term/deploy.md'), note)
  const prompt = 'which runner of the harbour deployed the frontend?'
  const { out } = await shell
    .withInput(event({ session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt }))
    .run('hook', 'prompt')
  expect(out).toContain('[redacted:password]')
  expect(out).not.toContain('hunter2')
})

it('tells no secret that somebody typed into a file', async () => {
  const shell = createShell()
  await shell.run('init')
  const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_')
  const section = `## Deploying\n\nThe deployment of the frontend takes the token ${secret} from the runner.\n`
  writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n${section}`)
  const prompt = 'which token does the deployment of the frontend take from the runner?'
  const { out } = await shell
    .withInput(event({ session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt }))
    .run('hook', 'prompt')
  expect(out).toContain('takes the token [redacted:github] from the runner')
})

it('tells no secret that somebody typed beside what was asked about', async () => {
  const shell = createShell()
  const turns = [
    { role: 'user' as const, text: 'Which green is on the shed?' },
    { role: 'assistant' as const, text: `Teal. ${'They came and went. '.repeat(60)}` },
  ]
  await shell.run('archive', writeSession(shell.root, 's1', turns))
  const archive = join(shell.root, 'memory/conversations/conversation-001.md')
  const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_')
  writeFileSync(archive, readFileSync(archive, 'utf8').replace('Teal.', `Teal, with ${secret}.`))
  const input = {
    session_id: 'p',
    hook_event_name: 'UserPromptSubmit',
    prompt: 'which green is on the shed?',
  }
  const { out } = await shell.withInput(event(input)).run('hook', 'prompt')
  expect(out).toContain('Teal, with [redacted:github].')
  expect(out).not.toContain(secret)
})

it('tells of a long answer the place that was asked about', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const answer = `${'They came and went. '.repeat(60)}The heron stood in the reeds at noon.`
  const turns = [
    { role: 'user' as const, text: 'What did you see?' },
    { role: 'assistant' as const, text: answer },
  ]
  await shell.run('archive', writeSession(shell.root, 's2', turns))
  const prompt = 'when did the heron stand in the reeds?'
  const { out } = await shell
    .withInput(event({ session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt }))
    .run('hook', 'prompt')
  expect(out).toContain('The heron stood in the reeds at noon.')
})

it('tells a resumed session nothing of itself, which it still knows, until it is compacted', async () => {
  const shell = createShell()
  const parked = (where: string) => [
    { role: 'user' as const, text: `My bicycle is parked behind the ${where}.` },
    { role: 'assistant' as const, text: 'I see.' },
  ]
  await shell.run('archive', writeSession(shell.root, 's1', parked('mill')))
  const fire = (name: string, fields: Record<string, unknown>) =>
    shell.withInput(event({ session_id: 's2', ...fields })).run('hook', name)
  const ask = () =>
    fire('prompt', { hook_event_name: 'UserPromptSubmit', prompt: 'where is my bicycle parked?' })
  const transcript_path = writeSession(shell.root, 's2', parked('church'))
  await fire('session-end', { hook_event_name: 'SessionEnd', transcript_path })
  await shell.run('hook', 'drain')
  const memory = await openFileMemory({ root: shell.root })
  const first = await memory.read<ConversationArchive>('episodic', conversationKey('s2'))
  const body = first?.body.replaceAll('church', 'barn')
  await memory.write('episodic', conversationKey('s2', 2), { ...first, log: undefined, part: 2, body })
  await memory.close()
  const { out } = await ask()
  expect(out).toContain('behind the mill')
  expect(out).not.toMatch(/behind the (?:church|barn)/)

  await fire('pre-compact', { hook_event_name: 'PreCompact', transcript_path })
  writeSession(shell.root, 's2', [...parked('church'), ...parked('school')])
  await shell.run('hook', 'drain')
  expect((await ask()).out).toContain('behind the church')
})

it('tells a forked session nothing of those that it was forked from, until it is compacted', async () => {
  const shell = createShell()
  await shell.run('init')
  const say = (uuid: string, sessionId: string, content: string, from?: string) => {
    const forkedFrom = from === undefined ? {} : { forkedFrom: { sessionId: from, messageUuid: uuid } }
    return { type: 'user', uuid, sessionId, message: { role: 'user', content }, ...forkedFrom }
  }
  const [mill, church, barn] = ['mill', 'church', 'barn'].map(
    (where) => `My bicycle is parked behind the ${where}.`,
  ) as [string, string, string]
  writeFiles(shell.root, {
    's1.jsonl': jsonLines(say('u1', 's1', mill)),
    's2.jsonl': jsonLines(say('u1', 's2', mill, 's1'), say('u2', 's2', church)),
    's3.jsonl': jsonLines(say('u1', 's3', mill, 's2'), say('u2', 's3', church, 's2')),
    'other.jsonl': jsonLines(say('u4', 'other', barn)),
  })
  for (const name of ['s2.jsonl', 'other.jsonl']) await shell.run('archive', join(shell.root, name))
  const fire = (name: string, hook_event_name: string, fields: Record<string, unknown> = {}) => {
    const transcript_path = join(shell.root, 's3.jsonl')
    const input = event({ session_id: 's3', transcript_path, hook_event_name, ...fields })
    return shell.withInput(input).run('hook', name)
  }
  const ask = async () =>
    (await fire('prompt', 'UserPromptSubmit', { prompt: 'where is my bicycle parked?' })).out
  expect(await ask()).toContain('behind the church')
  await fire('session-start', 'SessionStart', { source: 'fork' })
  const told = await ask()
  expect(told).toContain('behind the barn')
  expect(told).not.toMatch(/behind the (?:mill|church)/)
  await fire('pre-compact', 'PreCompact')
  expect(await ask()).toContain('behind the church')
})

it('answers as long as somebody waits for it while another process keeps the lock', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const internal = join(shell.root, 'memory/.recall')
  writeFileSync(join(shell.root, 'memory/topic.md'), '## Pools\n\nThe retry path leaks.\n')
  const holder = new DatabaseSync(join(internal, 'lock.db'))
  onTestFinished(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const prompt = 'who never releases the client in the retry path?'
  const ask = () =>
    shell
      .withInput(event({ session_id: 'p', hook_event_name: 'UserPromptSubmit', prompt }))
      .run('hook', 'prompt')
  const answered = await ask()
  expect(answered.out).toContain('never releases it')
  expect(answered.err).toBe('')
  // It is about to change several files, of which only some are changed.
  writeFileSync(join(internal, 'journal.json'), '{"version":1,"steps":[]}')
  expect(await ask()).toMatchObject({ out: '', err: expect.stringContaining('for 1 s') })
})
