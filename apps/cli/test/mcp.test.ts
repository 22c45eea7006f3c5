import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  createShell,
  expiredIn,
  filesBelow,
  poolSession,
  serveTinyModel,
  temporaryFolder,
  writeExpired,
  writeSession,
} from './support.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** A client of `recall mcp`, as a host starts it. */
async function connect(root: string, env: Record<string, string> = {}) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  onTestFinished(() => client.close())
  const args = ['--import', 'tsx', '-C', '@recall/source', main, 'mcp', '--root', root]
  const environment = { ...getDefaultEnvironment(), ...env }
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: environment, stderr: 'inherit' }),
  )
  return async (name: string, input: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: input })).structuredContent
}

it('serves the memory of files: what was archived is found, what is remembered is in the files', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
  const call = await connect(shell.root)

  expect(await call('session_context', {})).toMatchObject({ sessions: [{ sessionId: 's1' }] })
  const { results } = (await call('memory_search', { query: 'releases the client' })) as {
    results: { key: string }[]
  }
  expect(new Set(results.map(({ key }) => key))).toEqual(new Set(['conversation:s1']))
  await call('memory_remember', { text: 'The walrus is called Otto.', key: 'walrus' })
  expect((await shell.run('search', 'walrus')).out).toContain('Otto')
  await call('memory_forget', { key: 'conversation:s1', scope: 'episodic' })
  expect((await shell.run('search', 'releases the client')).code).toBe(1)
  expect((await shell.run('consume')).out).toBe('The window is empty.\n')
})

it('removes what has expired once it has answered', async () => {
  const shell = createShell()
  await shell.run('init')
  await writeExpired(shell.root, Date.now() - 3600_000)
  expect(expiredIn(shell.root)).toHaveLength(3)
  const call = await connect(shell.root)
  expect(await call('memory_search', { query: 'walrus' })).toEqual({ results: [] })
  await vi.waitFor(() => expect(expiredIn(shell.root)).toEqual([]), 10_000)
})

it('tells an agent each time which files a search could not read', async () => {
  const shell = createShell()
  await shell.run('init')
  writeFileSync(join(shell.root, 'memory/MEMORY.md'), Buffer.from([0x74, 0xe9, 0x74]))
  const call = await connect(shell.root)
  for (const query of ['text', 'text'])
    expect(await call('memory_search', { query })).toEqual({
      results: [],
      notSearched: [expect.stringContaining('MEMORY.md is not UTF-8 text')],
    })
  expect(await call('memory_search', { query: 'text', scope: 'episodic' })).toEqual({ results: [] })
})

it('finds by meaning where the memory has vectors, and by words while the model is away', async () => {
  const model = await serveTinyModel()
  const root = temporaryFolder()
  const shell = createShell(root, null, { RECALL_ROOT: root, ...model })
  await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
  await shell.run('reindex', '--model')
  const modeWith = async (env: Record<string, string>) => {
    const call = await connect(root, { ...model, ...env })
    const found = (await call('memory_search', { query: 'releases the client' })) as { mode: string }
    return found.mode
  }
  expect(await modeWith({})).toBe('hybrid')
  expect(await modeWith({ RECALL_EMBEDDING_URL: 'http://127.0.0.1:9/v1' })).toBe('lexical')
  expect(await modeWith({ RECALL_EMBEDDING_MODEL: 'other' })).toBe('lexical')
})

it('forgets a session only with its archive, not with a fact or for one that has its key', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
  const call = await connect(shell.root)
  const key = 'conversation:s1'
  const kept = async () => {
    const { out } = await shell.run('export')
    const entries = out.split('\n').filter(Boolean)
    return entries.map((line) => JSON.parse(line) as { scope: string; key: string }).map(({ scope }) => scope)
  }
  await call('memory_remember', { text: 'Session s1 was about pools.', key })
  await call('memory_forget', { key, scope: 'long-term' })
  expect(await kept()).toEqual(['short-term', 'episodic'])
  await call('memory_remember', { text: 'Session s1 was about walruses.', key, replace: true })
  await call('memory_forget', { key, scope: 'episodic' })
  expect(await kept()).toEqual(['long-term'])
})

it('forgets with a session the summary that waits to be stored', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
  const event = { session_id: 's1', transcript_path: '/s1.jsonl', hook_event_name: 'PostCompact' }
  const compacted = shell.withInput(JSON.stringify({ ...event, compact_summary: 'The walnut plan.' }))
  await compacted.run('hook', 'post-compact')
  const call = await connect(shell.root)
  await call('memory_forget', { key: 'conversation:s1', scope: 'episodic' })
  for (const file of filesBelow(join(shell.root, 'memory')))
    expect(readFileSync(file, 'utf8')).not.toContain('walnut')
})

it('makes no memory in place of one that is away', async () => {
  const shell = createShell()
  const away = join(shell.root, 'disk/memory')
  expect(await shell.run('mcp', '--root', away)).toMatchObject({
    code: 3,
    err: expect.stringContaining('check that its disk is mounted'),
  })
  expect(existsSync(join(shell.root, 'disk'))).toBe(false)
  // What a disk that is not mounted leaves behind.
  expect(await shell.run('mcp', '--root', shell.root)).toMatchObject({
    code: 3,
    err: expect.stringContaining('there is no memory in'),
  })
  expect(existsSync(join(shell.root, 'memory'))).toBe(false)
})

it('serves what agents share when the environment names a hub', async () => {
  const asked: string[] = []
  const known = { short_id: 'RCL-8F3K2A9Q', content: 'Pools leak.', author: { name: 'ada' }, similarity: 0.9 }
  const hub = createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers.authorization}`)
    const saved = { ...known, status: 'saved', similar: [] }
    const answer =
      method === 'GET'
        ? { results: [known] }
        : url?.endsWith('cite')
          ? { citation: 'Recall #RCL-8F3K2A9Q', citations: 1 }
          : saved
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void hub.close())
  const { port } = hub.address() as AddressInfo
  const shell = createShell()
  await shell.run('init')
  const call = await connect(shell.root, {
    RECALL_API_URL: `http://127.0.0.1:${port}`,
    RECALL_API_KEY: 'recall_key',
  })
  expect(await call('hub_search', { query: 'pools', limit: 3 })).toMatchObject({
    results: [
      {
        id: 'RCL-8F3K2A9Q',
        author: expect.stringContaining('\nada\n'),
        score: 0.9,
        text: expect.stringContaining('Pools leak.'),
      },
    ],
  })
  expect(await call('hub_save', { content: 'Pools leak.', tags: ['pool', 'leak'] })).toMatchObject({
    id: 'RCL-8F3K2A9Q',
    status: 'saved',
  })
  expect(await call('hub_cite', { id: 'RCL-8F3K2A9Q' })).toEqual({ id: 'RCL-8F3K2A9Q', cited: true })
  expect(asked).toEqual([
    'GET /api/v1/memory/search?q=pools&limit=3 Bearer recall_key',
    'POST /api/v1/memory Bearer recall_key',
    'POST /api/v1/memory/RCL-8F3K2A9Q/cite Bearer recall_key',
  ])
})

it.each([
  ['no address', { RECALL_API_KEY: 'recall_0123456789' }, 'set RECALL_API_URL as well as RECALL_API_KEY'],
  ['no key', { RECALL_API_URL: 'http://127.0.0.1:9' }, 'set RECALL_API_URL and RECALL_API_KEY'],
  [
    'an address that is none',
    { RECALL_API_URL: 'nowhere', RECALL_API_KEY: 'recall_0123456789' },
    'is not an address',
  ],
])('says why there are no tools of the hub when it has %s, and serves the memory', async (_, env, why) => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  onTestFinished(() => client.close())
  const args = ['--import', 'tsx', '-C', '@recall/source', main, 'mcp']
  const environment = { ...getDefaultEnvironment(), HOME: temporaryFolder(), ...env }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env: environment,
    stderr: 'pipe',
  })
  let told = ''
  transport.stderr?.on('data', (data) => {
    told += String(data)
  })
  await client.connect(transport)
  expect((await client.listTools()).tools).toHaveLength(5)
  expect(told).toContain('the tools of the hub are left out')
  expect(told).toContain(why)
  expect(told).not.toContain('recall_0123456789')
})
