import type { Conversation } from '@recall/core'
import { createInMemoryStore, createMemoryManager, MemoryError, MemoryErrorCode } from '@recall/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type HostMessage, type HostSession, type InspectedMemory, memoryPlugin } from '../src/index.ts'
import { messagesOf, outline, temporaryFile, temporaryFolder } from './support.ts'

const healthy: InspectedMemory = {
  health: 'healthy',
  reason: '',
  layout: { curated: 'memory/MEMORY.md', archives: 'memory/conversations' },
  maxEntries: 5,
}

/** What the plugin hands on to be archived, of a session with these messages. */
async function archivedOf(messages: readonly HostMessage[]) {
  const archived: Conversation[] = []
  const keep = async (_: unknown, conversation: Conversation) => {
    archived.push(conversation)
    return { status: 'archived', parts: [] } as const
  }
  const { create } = memoryPlugin({
    open: async () => createMemoryManager({ stores: createInMemoryStore() }),
    archiveSession: keep,
    createCheckpoint: keep,
    inspect: () => healthy,
  })
  await using plugin = await create({}, { entityRoot: await temporaryFolder(), entityName: 'ada' })
  await plugin.archiveSession({ sessionId: 's1', messages })
  const [conversation] = archived as [Conversation]
  return { conversation, messages: await messagesOf(conversation) }
}

it('keeps ids and times of the host, and tells results apart from what a person said', async () => {
  const { conversation, messages } = await archivedOf([
    { id: 'm1', role: 'user', content: 'look', timestamp: '2026-11-20T09:00:00Z' },
    { id: 'm2', role: 'assistant', content: [{ type: 'text', text: 'I look.' }, { type: 'hologram' }] },
    {
      id: 'm3',
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't', content: 'a.ts' },
        { type: 'text', text: 'and now?' },
      ],
    },
  ])
  expect(outline(messages)).toEqual([
    'user: look',
    'assistant: I look.',
    'assistant: (result) a.ts',
    'user: and now?',
  ])
  expect(messages.map(({ id, at }) => [id, at])).toEqual([
    ['m1', '2026-11-20T09:00:00.000Z'],
    ['m2', undefined],
    ['m3#results', undefined],
    ['m3', undefined],
  ])
  expect(conversation.facts.skipped).toEqual({ 'unrecognised content block': 1 })
})

it('names messages without an id by all that was said up to them, so that they are known again', async () => {
  const said: HostMessage[] = [
    { role: 'user', content: 'go on' },
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: 'go on' },
  ]
  const idsOf = async (messages: readonly HostMessage[]) =>
    (await archivedOf(messages)).messages.map(({ id }) => id)
  const ids = await idsOf(said)
  expect(new Set(ids).size).toBe(3)
  expect(await idsOf([...said, { role: 'assistant', content: 'Done again.' }])).toEqual([
    ...ids,
    expect.stringMatching(/^said-/),
  ])
})

it('leaves no memory open where what is missing of it cannot be created', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const none = async () => ({ status: 'empty', parts: [] }) as const
  const { create } = memoryPlugin({
    open: async () => memory,
    archiveSession: none,
    createCheckpoint: none,
    inspect: () => healthy,
  })
  const entityRoot = await temporaryFile('entity', 'a file, where its folder should be')
  await expect(create({}, { entityRoot, entityName: 'ada' })).rejects.toThrow()
  await expect(memory.read('long-term', 'k')).rejects.toMatchObject({ code: 'MEMORY_CLOSED' })
})

describe('what cannot be archived is refused by the promise', () => {
  async function pluginThat(inspect: () => InspectedMemory) {
    const none = async () => ({ status: 'empty', parts: [] }) as const
    const { create } = memoryPlugin({
      open: async () => createMemoryManager({ stores: createInMemoryStore() }),
      archiveSession: none,
      createCheckpoint: none,
      inspect,
    })
    const plugin = await create({}, { entityRoot: await temporaryFolder(), entityName: 'ada' })
    onTestFinished(() => plugin.close())
    return plugin
  }

  it.each<[unknown, string]>([
    [undefined, 'a session must be an object with its sessionId and its messages'],
    [{ sessionId: 's1' }, 'the messages of a session must be a list'],
    [{ sessionId: 's1', messages: 'hello' }, 'the messages of a session must be a list'],
    [
      { sessionId: 's1', messages: [{ role: 'user', content: 'hello' }, null] },
      'message 2 of the session must be an object with role and content',
    ],
  ])('for the session %j', async (session, message) => {
    const plugin = await pluginThat(() => healthy)
    const refused = { code: 'MEMORY_INVALID_INPUT', message }
    for (const archive of [plugin.archiveSession, plugin.createCheckpoint])
      await expect(archive(session as HostSession)).rejects.toMatchObject(refused)
  })

  it('where the settings of the memory cannot be read', async () => {
    let isDamaged = false
    const plugin = await pluginThat(() => {
      if (isDamaged) throw new MemoryError('the settings are damaged', MemoryErrorCode.CORRUPTION)
      return healthy
    })
    isDamaged = true
    for (const archive of [plugin.archiveSession, plugin.createCheckpoint])
      await expect(archive({ sessionId: 's1', messages: [] })).rejects.toThrow('the settings are damaged')
  })
})
