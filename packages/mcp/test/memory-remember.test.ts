import { createInMemoryStore, createMemoryManager, MemoryError, MemoryErrorCode } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { createMcpFetch } from '../src/index.ts'
import { modern, sampleOptions } from './support.ts'

it('says of a key that is taken only what the tool can do about it', async () => {
  const server = createMcpFetch({ optionsFor: sampleOptions })
  const args = { text: 'other', key: 'fact:pool' }
  const request = modern('tools/call', { name: 'memory_remember', arguments: args }, 'memory_remember')
  expect(await (await server.fetch(request)).json()).toMatchObject({
    result: {
      isError: true,
      content: [
        {
          text: "'fact:pool' already exists: choose another key, or set replace to true to overwrite it. Change the arguments and call the tool again.",
        },
      ],
    },
  })
})

it('takes the same call again for done, and writes nothing, where the text and its tags are kept', async () => {
  const options = await sampleOptions()
  const server = createMcpFetch({ optionsFor: () => options })
  const remember = async (args: Record<string, unknown>) => {
    const given = {
      key: 'git',
      text: `Ana renewed ghp_${'a1B2'.repeat(9)}.`,
      tags: ['people', 'git'],
      ...args,
    }
    const request = modern('tools/call', { name: 'memory_remember', arguments: given }, 'memory_remember')
    return ((await (await server.fetch(request)).json()) as { result: Record<string, unknown> }).result
  }
  const kept = async () => {
    const record = await options.memory.read('long-term', 'git', { includeMetadata: true })
    return [record?.value, record?.metadata.tags, record?.metadata.updatedAt]
  }
  const warnings = ['a secret was replaced before anything was stored: github']
  const done = { structuredContent: { key: 'git', scope: 'long-term', remembered: true, warnings } }
  expect(await remember({})).toMatchObject(done)
  const before = await kept()
  for (const again of [{}, { tags: ['git'] }]) expect(await remember(again)).toMatchObject(done)
  for (const other of [{ text: 'Ana left.' }, { tags: ['work'] }])
    expect(await remember(other)).toMatchObject({ isError: true })
  expect(await kept()).toEqual(before)
})

it.each([
  ['WRITE_FAILED', { replace: false }],
  ['CONFLICT', { replace: true }],
] as const)('says why a memory could not be kept under its key: %s', async (code, { replace }) => {
  const { memory } = await sampleOptions()
  const write = async () => {
    throw new MemoryError('the disk says no', MemoryErrorCode[code])
  }
  const server = createMcpFetch({ optionsFor: () => ({ memory: { ...memory, write } }) })
  const args = { text: 'other', key: 'fact:pool', replace }
  const request = modern('tools/call', { name: 'memory_remember', arguments: args }, 'memory_remember')
  const text = await (await server.fetch(request)).text()
  expect(text).toContain('the disk says no')
  expect(text).not.toContain('choose another key')
})

describe('memory_remember without a key', () => {
  async function open() {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    const server = createMcpFetch({ optionsFor: () => ({ memory }) })
    const remember = async (args: Record<string, unknown>) => {
      const request = modern('tools/call', { name: 'memory_remember', arguments: args }, 'memory_remember')
      const { result } = (await (await server.fetch(request)).json()) as {
        result: { structuredContent: { key: string }; isError?: boolean; content: { text: string }[] }
      }
      return result
    }
    const keyOf = async (args: Record<string, unknown>) => (await remember(args)).structuredContent.key
    const kept = (key: string) => memory.read('long-term', key, { includeMetadata: true })
    return { memory, remember, keyOf, kept }
  }

  it('remembers nothing in another way than was asked for', async () => {
    const { remember, kept } = await open()
    const asked = await remember({ text: 'Ana is on holiday.', key: 'holiday', scope: 'short-term' })
    expect(asked).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('scope') }] })
    expect(await kept('holiday')).toBeNull()
  })

  it('remembers the same words again with the tags of both', async () => {
    const { keyOf, kept } = await open()
    const key = await keyOf({ text: 'Ana prefers tabs.', tags: ['people'] })
    expect(await keyOf({ text: ' Ana prefers tabs.\n', tags: ['editor'] })).toBe(key)
    expect((await kept(key))?.metadata.tags).toEqual(['people', 'editor'])
  })

  it('keeps the tags that another process gives the words at the same moment', async () => {
    const { memory, keyOf, kept } = await open()
    const text = 'Ana prefers tabs.'
    const key = await keyOf({ text })
    const { read } = memory
    let other: Promise<void> | undefined
    memory.read = async (...given: Parameters<typeof read>) => {
      const record = await read(...given)
      other ??= memory.write('long-term', key, text, { tags: ['editor'] })
      await other
      return record as never
    }
    await keyOf({ text, tags: ['people'] })
    expect((await kept(key))?.metadata.tags).toEqual(['editor', 'people'])
  })

  it('remembers again what held a secret', async () => {
    const { keyOf, kept } = await open()
    const text = `Ana renewed ghp_${'a1B2'.repeat(9)}.`
    const key = await keyOf({ text })
    expect(await keyOf({ text, tags: ['git'] })).toBe(key)
    expect(await kept(key)).toMatchObject({
      value: 'Ana renewed [redacted:github].',
      metadata: { tags: ['git'] },
    })
  })

  it('names what it remembers by nothing that depends on a secret in it', async () => {
    const { keyOf } = await open()
    const key = await keyOf({ text: 'The old router: password: hunter2correct' })
    expect(await keyOf({ text: 'The old router: password: other3horse' })).toBe(key)
  })

  it('overwrites what somebody made of the words since only where it is told to', async () => {
    const { memory, remember, keyOf, kept } = await open()
    const args = { text: 'Ana prefers tabs.' }
    const key = await keyOf(args)
    await memory.write('long-term', key, 'Ana prefers spaces.')
    const refused = await remember(args)
    expect(refused.isError).toBe(true)
    expect(refused.content[0]?.text).toContain(`'${key}' was changed since it was remembered: read it`)
    expect((await kept(key))?.value).toBe('Ana prefers spaces.')
    await remember({ ...args, replace: true })
    expect((await kept(key))?.value).toBe(args.text)
  })
})

it('replaces what is kept under a key, with its tags, where it is told to', async () => {
  const options = await sampleOptions()
  const server = createMcpFetch({ optionsFor: () => options })
  const args = { key: 'fact:pool', text: 'The orders pool has twenty.', tags: ['orders'], replace: true }
  const request = modern('tools/call', { name: 'memory_remember', arguments: args }, 'memory_remember')
  expect(await (await server.fetch(request)).json()).toMatchObject({ result: { structuredContent: {} } })
  const record = await options.memory.read('long-term', 'fact:pool', { includeMetadata: true })
  expect(record).toMatchObject({ value: args.text, metadata: { tags: ['orders'] } })
})

it('says nothing of secrets that a memory keeps, or where there are none', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore(), redact: 'allow' })
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  for (const text of [`Ana renewed ghp_${'a1B2'.repeat(9)}.`, 'Ana prefers tabs.']) {
    const request = modern('tools/call', { name: 'memory_remember', arguments: { text } }, 'memory_remember')
    const { result } = (await (await server.fetch(request)).json()) as { result: Record<string, unknown> }
    expect(result.structuredContent).toEqual({
      key: expect.stringMatching(/^note:/),
      scope: 'long-term',
      remembered: true,
    })
  }
})
