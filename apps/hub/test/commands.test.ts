import { type StdioOptions, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { connectHub, registerAgent } from '@recall/client'
import { rowsOf } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  createServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import { beginRegistration } from './support/half-sent.ts'
import { fromSources, pipeHub, runHub, startHub } from './support/processes.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const folder = temporaryFolder()
const fake = { DATA: join(folder, 'data'), EMBEDDING_PROVIDER: 'fake' }
const content =
  'The nightly export fails when two runs overlap: take the lock before the folder is listed, not after it.'
const tags = ['export', 'locks']

/** Gives a vector that knows the letters of a text: enough to find the same text again. */
const lettersOf = (text: string): number[] =>
  Array.from(
    { length: 26 },
    (_, i) => [...text.toLowerCase()].filter((c) => c.charCodeAt(0) === 97 + i).length + 0.1,
  )

let provider: Server
let letters: Record<string, string>
beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const { input } = (await json(request)) as { input: string[] }
    const data = input.map((text, index) => ({ index, embedding: lettersOf(text) }))
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ data }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  letters = {
    DATA: fake.DATA,
    EMBEDDING_PROVIDER: 'http',
    EMBEDDING_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`,
    EMBEDDING_MODEL: 'letters',
    EMBEDDING_DIMENSIONS: '26',
  }
})
afterAll(() => provider.close())

it('is set up, kept up and moved to another model by its commands', async () => {
  const made = await runHub(fake, 'admin', 'create', 'root')
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^recall_\S+\n$/), stderr: '' })
  const adminKey = made.stdout.trim()

  const hub = await startHub(fake)
  const { apiKey, id } = await registerAgent({ url: hub.url }, 'ada')
  const raised = await fetch(`${hub.url}/api/v1/admin/agents/${id}/trust`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' },
    body: '{"trust_level": 1}',
  })
  expect(raised.status).toBe(200)
  const ada = connectHub({ url: hub.url, apiKey })
  const saved = await ada.save({ content, tags })
  const embedding = [1, 0]
  // Its vector is of a model that only the agent has; of the other one there is no text to make a vector of.
  await ada.memory.write('long-term', 'note', 'the pool of the service leaks', { embedding })
  await ada.memory.write('long-term', 'number', 7, { embedding })
  expect(await hub.stop('SIGTERM')).toBe(0)

  const maintained = await runHub(fake, 'maintenance')
  expect(maintained.code).toBe(0)
  expect(JSON.parse(maintained.stdout)).toMatchObject({ writable: true, embedded: 0 })
  const examined = await runHub(fake, 'doctor')
  expect({ ...examined, fails: /FAIL/.test(examined.stdout) }).toMatchObject({ code: 0, fails: false })

  const refused = await runHub(letters)
  expect(refused).toMatchObject({ code: 3, stdout: '' })
  expect(refused.stderr).toContain('re-embed them first')
  const moved = await runHub(letters, 'reembed')
  expect(moved).toMatchObject({
    code: 0,
    stdout: 'memories: 1 of 1, 100 %\nmemories: 1 embedded again with letters\n',
  })
  const again = await startHub(letters)
  const found = await connectHub({ url: again.url, apiKey }).search(content)
  expect(found.map((memory) => memory.id)).toEqual([saved.id])
  const own = await connectHub({ url: again.url, apiKey }).memory.search('long-term', { embedding })
  expect(own.map(({ key }) => key).sort()).toEqual(['note', 'number'])
  expect(await again.stop('SIGTERM')).toBe(0)
})

// server-database.ts says when there is no server.
it.skipIf(!serverUrl)('looks at a database that it has not made, and changes nothing there', async () => {
  const { url, drop } = await createServerDatabase()
  const { database, close } = await openPostgres({ url, migrations: false })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  const examined = await runHub({ POSTGRES_URL: url, EMBEDDING_PROVIDER: 'fake' }, 'doctor')
  expect(examined).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^FAIL tables: \d+ migrations are pending/m),
  })
  expect(examined.stdout).toMatch(
    /^FAIL database: .*, pgvector not made yet: a hub makes it when it starts$/m,
  )
  const tables = sql`select from information_schema.tables where table_schema in ('public', 'drizzle')`
  expect(await rowsOf(database, tables)).toEqual([])
})

it('does nothing when there are words that a command does not take', async () => {
  const wrong = [['serve', '--port', '9000'], ['admin', 'create', 'two', 'names'], ['backup', ''], ['backup']]
  const ended = await Promise.all(wrong.map((words) => runHub(fake, ...words)))
  expect(ended.map(({ code }) => code)).toEqual([2, 2, 2, 2])
  expect(ended[0]?.stderr).toContain("'serve --port 9000' is not a command; settings are variables")
  expect(ended[3]?.stderr).toContain("'backup' needs a file")
  const asked = await runHub(fake, 'admin', 'create', '--help')
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^recall-hub /) })
})

it('ends when another program has its port, also with vectors to make', async () => {
  const { port } = provider.address() as AddressInfo
  const data = join(folder, 'elsewhere')
  const ended = await runHub({ ...fake, DATA: data, PORT: String(port), EMBED_ASYNC: 'true' })
  expect(ended).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('EADDRINUSE') })
  expect(ended.stderr).toContain('RECALL_HUB_PORT say where the hub listens')
})

it('answers what is under way when it is told twice to end, as npm does', async () => {
  const hub = await startHub(letters)
  const { finish } = await beginRegistration(hub.url)
  process.kill(hub.pid, 'SIGINT')
  const isOpen = (): Promise<boolean> =>
    fetch(`${hub.url}/livez`).then(
      () => true,
      () => false,
    )
  while (await isOpen());
  const ended = hub.stop('SIGINT')
  expect(await finish()).toMatch(/^HTTP\/1.1 201 /)
  expect(await ended).toBe(0)
})

it('copies a hub through the standard streams', async () => {
  const from = { ...fake, DATA: join(folder, 'from') }
  const to = { ...fake, DATA: join(folder, 'to') }
  await runHub(from, 'admin', 'create', 'root')
  const saved = await pipeHub(from, ['backup', '-'])
  expect(saved).toMatchObject({ code: 0, stderr: expect.stringContaining('"agents":1') })
  const cut = await pipeHub(to, ['restore', '-'], saved.stdout.subarray(0, saved.stdout.length - 20))
  expect(cut).toMatchObject({ code: 3, stderr: expect.stringContaining('the standard input is damaged') })
  const restored = await pipeHub(to, ['restore', '-'], saved.stdout)
  expect(restored).toMatchObject({ code: 0 })
  expect(String(restored.stdout)).toBe(saved.stderr)
})

it.each([
  [['backup', '-'], 'elsewhere'],
  [['maintenance'], 'of-others'],
  [['reembed'], '.'],
  [['doctor'], 'elsewhere'],
])('makes no database for %j in "%s", which would take it for an empty hub', async (words, path) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'of-others'), '')
  const DATA = join(folder, path)
  expect(await runHub({ ...fake, DATA }, ...words)).toMatchObject({
    code: 3,
    stdout: '',
    stderr: `recall-hub: there is no database in ${DATA}: set RECALL_HUB_DATA or RECALL_HUB_POSTGRES_URL to its place\n`,
  })
  expect(readdirSync(folder)).toEqual(['of-others'])
})

it('names no administrator what no agent may be called', async () => {
  expect(await runHub(fake, 'admin', 'create', 'ana\nand a line of her own')).toEqual({
    code: 3,
    stdout: '',
    stderr: 'recall-hub: name: must not hold control characters\n',
  })
})

it('says that there is an administrator of the same name', async () => {
  const settings = { ...fake, DATA: join(folder, 'namesakes') }
  const made = { code: 0, stdout: expect.stringMatching(/^recall_\S+\n$/) }
  expect(await runHub(settings, 'admin', 'create', 'ana')).toEqual({ ...made, stderr: '' })
  const again = await runHub(settings, 'admin', 'create', 'ana')
  expect(again).toEqual({ ...made, stderr: expect.stringMatching(/^recall-hub: 'ana' is now .* 2 admin/) })
})

it.runIf(process.platform === 'linux')('says that it was heard by nobody, and does not crash', () => {
  const full = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(full))
  const stdio: StdioOptions = ['ignore', full, 'pipe']
  const { status, stderr } = spawnSync(process.execPath, [...fromSources, '--help'], {
    stdio,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({
    status: 3,
    stderr: expect.stringMatching(/^recall-hub: the standard output cannot be written \(ENOSPC\).*\n$/),
  })
})

it('says its version, and what the words of an administrator are', async () => {
  expect(await runHub(fake, '--version')).toEqual({ code: 0, stdout: 'development\n', stderr: '' })
  const half = await runHub(fake, 'admin')
  expect(half).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^recall-hub: 'admin' needs 'create'/),
  })
})

it('says what is wrong with its words and settings, and what to do', async () => {
  expect(await runHub(fake, 'serf')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('recall-hub doctor'),
  })
  expect(await runHub(fake, '--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('recall-hub doctor'),
    stderr: '',
  })
  const alone = await runHub({ ...fake, REDIS_URL: 'redis://127.0.0.1:9' }, 'doctor')
  // On a busy machine a process may hear of the refusal only when its second is over.
  expect(alone.stdout).toMatch(/^FAIL redis: does not answer \(connect (?:ECONNREFUSED|ETIMEDOUT)/m)
  const nowhere = 'postgres://nobody@127.0.0.1:9/none'
  const lost = await runHub({ POSTGRES_URL: nowhere, EMBEDDING_PROVIDER: 'fake' }, 'doctor')
  expect(lost).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('FAIL database: Postgres cannot be reached'),
  })
  const unwritable = await runHub(fake, 'backup', '/no/such/folder/hub.backup')
  expect(unwritable).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^recall-hub: no backup can be written into .*folder \(ENOENT\)/),
  })
  const wrong = await runHub({ ...fake, PORT: 'many', CONNECTIONS: '0', COLOUR: 'red' }, 'doctor')
  expect(wrong.code).toBe(3)
  for (const name of ['port', 'connections', 'RECALL_HUB_COLOUR']) expect(wrong.stderr).toContain(name)
  const file = join(folder, 'hub.json')
  writeFileSync(file, '{"port": ')
  const broken = await runHub({ ...fake, CONFIG: file }, 'doctor')
  expect(broken).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`RECALL_HUB_CONFIG names ${file}`),
  })
  expect(broken.stderr.split('\n')).toHaveLength(2)
})
