import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it, onTestFinished } from 'vitest'
import { createShell, poolSession, temporaryFolder, writeSession } from './support.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

it('serves the memory of files: what was archived is found, what is remembered is in the files', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  onTestFinished(() => client.close())
  const args = ['--import', 'tsx', '-C', '@recall/source', main, 'mcp', '--root', shell.root]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'inherit' }))
  const call = async (name: string, input: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: input })).structuredContent

  expect(await call('session_context', {})).toMatchObject({ sessions: [{ sessionId: 's1' }] })
  expect(await call('memory_search', { query: 'releases the client' })).toMatchObject({
    results: [{ key: 'conversation:s1' }],
  })
  await call('memory_remember', { text: 'The walrus is called Otto.', key: 'walrus' })
  expect((await shell.run('search', 'walrus')).out).toContain('Otto')
  await call('memory_forget', { key: 'conversation:s1', scope: 'episodic' })
  expect((await shell.run('search', 'releases the client')).code).toBe(1)
  expect((await shell.run('consume')).out).toBe('The window is empty.\n')
})
