import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { expect, it } from 'vitest'
import { createMcpFetch } from '../src/index.ts'
import { modern, sampleOptions, sharedMemory, writeSession } from './support.ts'

it('no secret travels to a hub, wherever it stands', async () => {
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const options = await sampleOptions()
  const asked: string[] = []
  const hub = {
    ...options.hub,
    async search(question: string) {
      asked.push(question)
      return []
    },
  }
  const server = createMcpFetch({ optionsFor: () => ({ ...options, hub }) })
  const send = async (name: string, args: Record<string, unknown>) =>
    (await server.fetch(modern('tools/call', { name, arguments: args }, name))).text()
  await send('hub_search', { query: `why does ${secret} not work` })
  const saved = await send('hub_save', {
    content: 'The pool leaked until the retry released it.',
    tags: ['pool', secret],
    source_url: `https://example.com/run?log=${secret}`,
  })
  expect(saved).toContain('a secret was replaced before anything was sent: github')
  expect(options.hub.saved).toHaveLength(1)
  expect(asked).toHaveLength(1)
  expect(JSON.stringify([asked, options.hub.saved])).not.toContain(secret)
})

it('tells an agent no secret that somebody typed into a file, also where a text is cut', async () => {
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const memory = createMemoryManager({ stores: createInMemoryStore(), redact: 'allow' })
  for (const length of [10, 670, 690]) {
    const text = `The orders pool ${'waits '.repeat(200)}`.slice(0, length)
    await memory.write('long-term', `pool:${length}`, `${text} ${secret} is its token.`)
  }
  const turns = [`The token is ${secret}.`, 'Why does the heron wait?', 'Later.']
  const body = turns.map((turn) => `### User\n\n${turn}`).join('\n\n')
  await memory.write('episodic', 'conversation:1', { body }, { type: 'conversation' })
  await writeSession(memory, `Used ${secret}.`)
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const send = async (name: string, args: Record<string, unknown>) =>
    (await server.fetch(modern('tools/call', { name, arguments: args }, name))).text()
  const told = [
    await send('memory_search', { query: 'orders pool' }),
    // It stands beside what was found.
    await send('memory_search', { query: 'heron' }),
    await send('memory_read', { key: 'pool:10', scope: 'long-term' }),
    await send('session_context', {}),
  ]
  for (const each of told) expect(each).toContain('[redacted:github]')
  expect(told.join()).not.toContain(secret.slice(0, 10))
})

it('tells an agent no secret that only the rest of a memory shows to be one', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore(), redact: 'allow' })
  await memory.write('long-term', 'accounts', { password: ['hunter2hunter2'], note: 'apple pie' })
  const rows = Array.from({ length: 60 }, (_, i) => `| app${i} | zed | Wint3rgarten${i}9 |`)
  const table = [
    '| service | owner | password |',
    '|---|---|---|',
    ...rows,
    '| walrusapp | zed | Wint3rgarten99 |',
  ]
  await memory.write('long-term', 'table', table.join('\n'))
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const send = async (name: string, args: Record<string, unknown>) =>
    (await server.fetch(modern('tools/call', { name, arguments: args }, name))).text()
  const told = [
    await send('memory_search', { query: 'apple pie' }),
    await send('memory_search', { query: 'walrusapp' }),
    await send('memory_read', { key: 'accounts', scope: 'long-term' }),
  ]
  for (const each of told) expect(each).toContain('[redacted:password]')
  expect(told.join()).not.toMatch(/hunter2|Wint3r/)
})

it('tells an agent no secret that a hub took for none, also where a text is cut', async () => {
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const content = `${'The pool waits. '.repeat(61)}${secret} is its token.`
  const options = await sampleOptions()
  const hub = {
    ...options.hub,
    search: async () => [{ ...sharedMemory, content, similarity: 0.9 }],
    get: async () => ({ ...sharedMemory, content }),
  }
  const server = createMcpFetch({ optionsFor: () => ({ ...options, hub }) })
  const calls = { hub_search: { query: 'pool' }, hub_read: { id: 'RCL-1' } }
  for (const [name, given] of Object.entries(calls)) {
    const request = modern('tools/call', { name, arguments: given }, name)
    const told = await (await server.fetch(request)).text()
    expect(told).toContain('[redacted:github]')
    expect(told).not.toContain(secret.slice(0, 10))
  }
})

it('shares no secret with a hub, and says that there was one', async () => {
  const options = await sampleOptions()
  const server = createMcpFetch({ optionsFor: () => options })
  const token = `ghp_${'a1B2'.repeat(9)}`
  const lesson = {
    content: `The push failed until the token ${token} was renewed.`,
    tags: ['git', 'token'],
    source_url: 'https://example.com/42',
  }
  const answer = await server.fetch(modern('tools/call', { name: 'hub_save', arguments: lesson }, 'hub_save'))
  const text = await answer.text()
  expect(text).toContain('a secret was replaced before anything was sent')
  expect(options.hub.saved).toMatchObject([{ tags: lesson.tags, source_url: lesson.source_url }])
  expect(JSON.stringify(options.hub.saved) + text).not.toContain(token)
})
