import { type Reflection, runLoop } from '@recall/core/protocol'
import { expect, it } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { temporaryRoot } from './temporary-root.ts'

it('records the outcome of a loop that followed a section which a person wrote', async () => {
  const memory = await openFileMemory({ root: temporaryRoot() })
  await memory.write('long-term', 'MEMORY.md#deploy', 'Run the migrations first.')
  const reflection: Reflection = { outcome: 'success', lessons: [], patternsUsed: ['MEMORY.md#deploy'] }
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
  expect(await memory.read('long-term', 'statistic:MEMORY.md:deploy')).toMatchObject({ uses: 1 })
  await memory.close()
})
