import { appendFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { listImportable, listSessionTranscripts, openTranscript, stateOfSource } from '../src/index.ts'
import { messagesOf, outline, temporaryFile, temporaryFolder } from './support.ts'

afterEach(() => vi.unstubAllEnvs())

const name = '.aider.chat.history.md'

/** As the host writes them, which ends marked lines with two blanks. */
const head = (time: string): string => `\n# aider chat started at 2026-11-20 ${time}\n\n`
const banner = '> Aider v0.86.1  \n> Git repo: .git with 12 files  \n'
const prompt = (...lines: string[]): string => `\n${lines.map((line) => `#### ${line}  \n`).join('')}`
const reply = (text: string): string => `\n${text}\n\n`

const log = [
  head('09:00:00'),
  banner,
  prompt('why does the pool leak?', '', 'the one in db.ts'),
  reply('A client is never released:\n\n- in `query`\n- in `close`'),
  '> Tokens: 2.1k sent, 120 received.  \n> Applied edit to db.ts  \n',
  prompt('/run npm test'),
  '> Added 3 lines of output to the chat.  \n>   \n',
  head('09:30:00'),
  head('10:00:00'),
  banner,
  prompt('<blank>'),
  head('11:00:00'),
  prompt('thanks'),
].join('')

const idsOf = (text: string): string[] => [...text.matchAll(/#(aider-\S+)/g)].map(([, id]) => id as string)

async function readAll(path: string) {
  const found: Record<string, string[]> = {}
  for (const address of await listImportable(path)) {
    const conversation = await openTranscript(address)
    found[conversation.sessionId] = outline(await messagesOf(conversation))
  }
  return found
}

const read = async (text: string) => readAll(await temporaryFile(name, text))
/** What is said in the only session of a log. */
const said = async (text: string) => (await read(head('09:00:00') + text))['aider-2026-11-20T09-00-00']

it('reads each session of a log: what was typed, what was put out, and the replies', async () => {
  const sessions = {
    'aider-2026-11-20T09-00-00': [
      'assistant: (result) Aider v0.86.1\nGit repo: .git with 12 files',
      'user: why does the pool leak?\n\nthe one in db.ts',
      'assistant: A client is never released:\n\n- in `query`\n- in `close`',
      'assistant: (result) Tokens: 2.1k sent, 120 received.',
      'assistant: (result) Applied edit to db.ts',
      'user: /run npm test',
      'assistant: (result) Added 3 lines of output to the chat.',
    ],
    'aider-2026-11-20T09-30-00': [],
    'aider-2026-11-20T10-00-00': [],
    'aider-2026-11-20T11-00-00': ['user: thanks'],
  }
  expect(await read(log)).toEqual(sessions)
  expect(await read(`\uFEFF${log.replaceAll('\n', '\r\n')}`)).toEqual(sessions)
})

it('takes the time with which a session begins for local time, and says in which folder it was', async () => {
  vi.stubEnv('TZ', 'Asia/Kathmandu')
  const path = await temporaryFile(name, log)
  const conversation = await openTranscript(`${path}#aider-2026-11-20T11-00-00`)
  expect(conversation).toMatchObject({ isNamedByFile: true, facts: { project: dirname(path), skipped: {} } })
  expect((await messagesOf(conversation)).map(({ at }) => at)).toEqual(['2026-11-20T05:15:00.000Z'])

  const copy = await temporaryFile('copy.md', log)
  const { facts } = await openTranscript(`${copy}#aider-2026-11-20T11-00-00`)
  expect(facts).not.toHaveProperty('project')
})

describe('code in a reply', () => {
  const code = '```md\n#### not typed  \n> not put out  \n\n#### nor this  \n```'

  it('holds lines of any kind', async () => {
    const text = prompt('show it') + reply(`Like this:\n\n${code}\n\nDone.`) + prompt('thanks')
    expect(await said(text)).toEqual([
      'user: show it',
      `assistant: Like this:\n\n${code}\n\nDone.`,
      'user: thanks',
    ])
  })

  it('ends where a reply was cut off in it, and another one has code', async () => {
    const text = [
      prompt('show it'),
      reply('Like this:\n\n```ts\nconst a ='),
      '> ^C again to exit  \n',
      prompt('go on'),
      reply('```ts\nconst a = 1\n```'),
      prompt('thanks'),
    ].join('')
    expect(await said(text)).toEqual([
      'user: show it',
      'assistant: Like this:\n\n```ts\nconst a =',
      'assistant: (result) ^C again to exit',
      'user: go on',
      'assistant: ```ts\nconst a = 1\n```',
      'user: thanks',
    ])
  })

  it('ends with its session where a reply was cut off in it', async () => {
    const text = head('09:00:00') + reply('```ts\nconst a =') + head('09:10:00') + reply('```ts\nb\n```')
    expect(await read(text)).toEqual({
      'aider-2026-11-20T09-00-00': ['assistant: ```ts\nconst a ='],
      'aider-2026-11-20T09-10-00': ['assistant: ```ts\nb\n```'],
    })
  })

  it('may quote a log', async () => {
    const quoted = `\`\`\`md\n${head('08:00:00').trim()}\n\n${head('08:30:00')}#### hello\n\`\`\``
    expect(await said(prompt('and a log?') + reply(quoted))).toEqual([
      'user: and a log?',
      `assistant: ${quoted}`,
    ])
  })

  it('is found where many blocks are left open', async () => {
    const text = '```js\n~~~~ js\n'.repeat(50_000).trim()
    expect(await said(reply(text) + prompt('go on') + reply(text))).toEqual([
      `assistant: ${text}`,
      'user: go on',
      `assistant: ${text}`,
    ])
  })
})

it('takes no heading and no quote in a reply for a line of the host, which ends in two blanks', async () => {
  const text = '#### Steps\n\n1. wait\n\n> Patience is bitter.'
  expect(await said(banner + prompt('how?') + reply(text) + prompt('thanks'))).toEqual([
    'assistant: (result) Aider v0.86.1\nGit repo: .git with 12 files',
    'user: how?',
    `assistant: ${text}`,
    'user: thanks',
  ])
})

it('reads a log from which an editor removed the blanks at the ends of lines', async () => {
  expect(await read(log.replace(/ +$/gm, ''))).toEqual(await read(log))
})

it('numbers sessions that begin in the same second, and keeps ids and earlier sessions when the log grows', async () => {
  const path = await temporaryFile(name, head('09:00:00') + prompt('one') + head('09:00:00') + prompt('two'))
  const addresses = await listImportable(path)
  expect(idsOf(addresses.join(' '))).toEqual(['aider-2026-11-20T09-00-00', 'aider-2026-11-20T09-00-00~2'])
  const idsIn = async (address = '') => (await messagesOf(await openTranscript(address))).map(({ id }) => id)
  const ids = await idsIn(addresses[1])
  const stamps = () => Promise.all(addresses.map(async (address) => (await stateOfSource(address)).stamp))
  const [first, second] = await stamps()

  await appendFile(path, reply('2.') + head('09:00:00') + prompt('three'))
  expect(await listImportable(path)).toEqual([...addresses, `${path}#aider-2026-11-20T09-00-00~3`])
  expect((await idsIn(addresses[1])).slice(0, ids.length)).toEqual(ids)
  const grown = await stamps()
  expect(grown[0]).toBe(first)
  expect(grown[1]).not.toBe(second)
})

it('yields a prefix after each thing that the host has written into a log', async () => {
  const words = fc.constantFrom('a', 'b c', '# d', '> e', '#### f', '```\n\n#### g\n```', '- h')
  const writes = fc.array(
    fc.oneof(
      words.map((text) => prompt(...text.split('\n'))),
      words.map((text) => `${reply(text)}> Tokens: 9 sent.  \n`),
      words.map((text) => `> ${text.replaceAll('\n', '  \n> ')}  \n`),
    ),
    { maxLength: 8 },
  )
  await fc.assert(
    fc.asyncProperty(writes, fc.nat(8), async (all, count) => {
      const [whole, cut] = await Promise.all(
        [all, all.slice(0, count)].map(async (part) => {
          const path = await temporaryFile(name, head('09:00:00') + banner + part.join(''))
          return messagesOf(await openTranscript(`${path}#aider-2026-11-20T09-00-00`))
        }),
      )
      expect(cut).toEqual(whole?.slice(0, cut?.length))
    }),
  )
})

it('says of a session that it changed when it began, and of the last one when the log did', async () => {
  const path = await temporaryFile(name, head('09:00:00') + prompt('one') + head('09:30:00'))
  const changes = await Promise.all((await listImportable(path)).map(async (each) => stateOfSource(each)))
  expect(changes.map(({ changedAt }) => changedAt)).toEqual([
    new Date('2026-11-20T09:00:00').getTime(),
    (await stat(path)).mtimeMs,
  ])
})

it('is found in a folder, and is all sessions of a log where one session is asked for', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, name), head('09:00:00') + head('10:00:00'))
  await writeFile(join(folder, 'notes.md'), `A log begins like this:${head('09:00:00')}`)
  const addresses = ['09', '10'].map((hour) => `${join(folder, name)}#aider-2026-11-20T${hour}-00-00`)
  expect(await listImportable(folder)).toEqual([...addresses, join(folder, 'notes.md')])
  expect(await listSessionTranscripts(join(folder, name))).toEqual(addresses)
  expect(await listSessionTranscripts(addresses[1] as string)).toEqual([addresses[1]])
})

it('says what is wrong where no session is named, where there is none of that name, and where there is no log', async () => {
  const path = await temporaryFile(name, log)
  const note = await temporaryFile('notes.md', '# Notes\n')
  const later = await temporaryFile('later.md', '# aider chat started at 2026-13-20 09:00:00\n')
  const message = `${path} is a log of 4 sessions: import them all, or name one, for example ${path}#aider-2026-11-20T09-00-00`
  await expect(openTranscript(path)).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT', message })
  await expect(openTranscript(`${path}#x`)).rejects.toMatchObject({ code: 'MEMORY_NOT_FOUND' })
  for (const other of [note, later])
    await expect(openTranscript(`${other}#x`)).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: `${other} is not a log of Aider`,
    })
})

it('passes over a line above the size limit, and counts it', async () => {
  const path = await temporaryFile(
    name,
    `${head('09:00:00')}${'x'.repeat(17 * 1024 * 1024)}\n${prompt('hello')}${head('10:00:00')}${prompt('again')}`,
  )
  const [first, second] = await Promise.all((await listImportable(path)).map((each) => openTranscript(each)))
  expect(outline(await messagesOf(first as never))).toEqual(['user: hello'])
  expect(first?.facts.skipped).toEqual({ 'line over the size limit': 1 })
  expect(outline(await messagesOf(second as never))).toEqual(['user: again'])
})

it('reads no session above 64 MB', async () => {
  const path = await temporaryFile(name, head('09:00:00') + `${'x'.repeat(1024 * 1024)}\n`.repeat(65))
  const [address] = await listImportable(path)
  await expect(messagesOf(await openTranscript(address as string))).rejects.toThrow('has more than 64 MB')
})
