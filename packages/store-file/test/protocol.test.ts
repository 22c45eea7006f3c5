import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionSummary } from '@recall/core'
import { type Reflection, runLoop, updateEntry } from '@recall/core/protocol'
import { expect, it } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { temporaryRoot } from './support/temporary-root.ts'

it('keeps what a loop learned whose names are those of sections', async () => {
  const memory = await openFileMemory({ root: temporaryRoot() })
  await memory.write('long-term', 'MEMORY.md#deploy', 'Run the migrations first.')
  const reflection: Reflection = {
    outcome: 'success',
    lessons: [{ id: 'runbook.md#deploy', category: 'deploy', text: 'Warm the cache.' }],
    patternsUsed: ['MEMORY.md#deploy'],
    toolsUsed: ['tools.md#kubectl'],
  }
  await runLoop(
    memory,
    { description: 'deploy' },
    {
      perceive: () => null,
      reason: () => null,
      act: () => null,
      observe: () => null,
      reflect: () => reflection,
    },
  )
  expect(await memory.read('long-term', 'MEMORY.md#deploy')).toBe('Run the migrations first.')
  for (const key of ['statistic:MEMORY.md:deploy', 'statistic:tool:tools.md:kubectl'])
    expect(await memory.read('long-term', key)).toMatchObject({ uses: 1 })
  expect(await memory.read('long-term', 'lesson:runbook.md:deploy')).toMatchObject({ count: 1 })
  await memory.close()
})

it('updates a section and a summary in the window, which are found by what stands there then', async () => {
  const root = temporaryRoot()
  const curated = join(root, 'memory/MEMORY.md')
  mkdirSync(join(root, 'memory'))
  writeFileSync(curated, '# Mine\n\n## Deploy\n\nRun the migrations.\n\n## Other\n\nText.\n')
  const memory = await openFileMemory({ root })
  await updateEntry<string>(memory, 'long-term', 'MEMORY.md#deploy', (known) => ({
    value: `${known} Twice.`,
  }))
  expect(readFileSync(curated, 'utf8')).toBe(
    '# Mine\n\n## Deploy\n\nRun the migrations. Twice.\n\n## Other\n\nText.\n',
  )
  const session = { sessionId: 's', date: '2026-11-18T10:00:05Z', duration: '3m', messageCount: 2 }
  const entry = { ...session, summary: 'The pool leaks.', archive: 'conversation:s' }
  await memory.write('short-term', 'session:s', entry, { type: 'session-summary' })
  await updateEntry<SessionSummary>(memory, 'short-term', 'session:s', (known) => ({
    value: { ...entry, ...known, summary: 'The cache leaks.' },
  }))
  for (const [scope, text, keys] of [
    ['long-term', 'twice', ['MEMORY.md#deploy']],
    ['short-term', 'cache', ['session:s']],
    ['short-term', 'pool', []],
  ] as const)
    expect((await memory.search(scope, { text })).map(({ key }) => key)).toEqual(keys)
  await memory.close()
})
