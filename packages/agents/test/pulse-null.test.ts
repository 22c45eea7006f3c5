import type { Conversation } from '@recall/core'
import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { expect, it } from 'vitest'
import { type HostMessage, type InspectedMemory, memoryPlugin } from '../src/index.ts'
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
