import { type InspectedMemory, memoryPlugin, type PluginContext } from '@recall/agents'
import type { LmProvider } from '@recall/core'
import { archiveSession, createCheckpoint, readWindow } from '@recall/sessions'
import { openFileMemory } from '@recall/store-file'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from './support.ts'

async function createPlugin(
  config: Parameters<ReturnType<typeof memoryPlugin>['create']>[0],
  context: Partial<PluginContext> = {},
  state: Pick<InspectedMemory, 'health' | 'reason'> = { health: 'healthy', reason: '' },
) {
  const entityRoot = temporaryFolder()
  const opened: string[] = []
  const { create } = memoryPlugin({
    archiveSession,
    createCheckpoint,
    open: (root) => {
      opened.push(root)
      return openFileMemory({ root, create: true })
    },
    inspect: () => ({
      ...state,
      layout: { curated: 'memory/MEMORY.md', archives: 'memory/conversations' },
      maxEntries: 5,
    }),
  })
  const plugin = await create(config, { entityRoot, entityName: 'ada', ...context })
  onTestFinished(() => plugin.close())
  return { plugin, entityRoot, opened }
}

const session = {
  sessionId: 's1',
  messages: [
    { role: 'user' as const, content: 'Fix the login of the walrus' },
    {
      role: 'assistant' as const,
      content: [
        { type: 'text', text: 'On it.' },
        { type: 'tool_use', id: 't', name: 'Read', input: { path: 'src/a.ts' } },
      ],
    },
    { role: 'user' as const, content: [{ type: 'tool_result', tool_use_id: 't', content: 'text' }] },
    { role: 'assistant' as const, content: 'Done.' },
  ],
}

it('is the memory of an entity, and says how it is doing', async () => {
  const { plugin, entityRoot } = await createPlugin({})
  expect(plugin.role).toBe('memory')
  expect(plugin.meta().name).toBe('recall-echo')
  expect(plugin.setupPrompts()).toMatchObject([{ key: 'entity_root', default: entityRoot }])
  expect(plugin.health()).toEqual({ status: 'healthy' })
  for (const health of ['degraded', 'down'] as const) {
    const state = { health, reason: 'the archive folder does not exist' }
    expect((await createPlugin({}, {}, state)).plugin.health()).toEqual({
      status: health,
      reason: state.reason,
    })
  }
})

it('archives a session once, and a checkpoint without the window, with the model of the context', async () => {
  const provider = {
    model: 'mini',
    complete: async () =>
      JSON.stringify({
        summary: 'The walrus can log in.',
        topics: ['walrus'],
        decisions: [],
        action_items: [],
      }),
  }
  const { plugin, entityRoot } = await createPlugin({}, { provider })
  expect(await plugin.createCheckpoint(session)).toMatchObject({ status: 'archived' })
  const memory = await openFileMemory({ root: entityRoot })
  onTestFinished(() => memory.close())
  expect(await readWindow(memory)).toEqual([])
  await plugin.archiveSession(session)
  expect(await plugin.archiveSession(session)).toMatchObject({ status: 'unchanged' })
  expect(await readWindow(memory)).toMatchObject([
    { sessionId: 's1', summary: expect.stringContaining('walrus can log in') },
  ])
})

it('archives with a provider of another shape, too', async () => {
  const { plugin } = await createPlugin({}, { provider: { invoke: async () => '' } as unknown as LmProvider })
  expect(await plugin.archiveSession(session)).toMatchObject({ status: 'archived' })
})

it('takes the root from the configuration first, and refuses one that is no path', async () => {
  const root = temporaryFolder()
  expect((await createPlugin({ entity_root: root })).opened).toEqual([root])
  const { opened, entityRoot } = await createPlugin(null)
  expect(opened).toEqual([entityRoot])
  await expect(createPlugin({ entity_root: 5 })).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
})

it('makes no memory in the current folder when no root is named, or one that only a shell can read', async () => {
  const refusal = (message: string) => ({
    code: 'MEMORY_INVALID_INPUT',
    message: expect.stringContaining(message),
  })
  for (const entityRoot of ['', undefined as unknown as string])
    await expect(createPlugin({}, { entityRoot })).rejects.toMatchObject(refusal('name one'))
  for (const entity_root of ['~', '~/echo', '~\\echo'])
    await expect(createPlugin({ entity_root })).rejects.toMatchObject(refusal('write the path in full'))
})
