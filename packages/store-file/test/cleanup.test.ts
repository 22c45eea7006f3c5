import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createTicker } from '@recall/core/conformance'
import { expect, it } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { temporaryRoot } from './temporary-root.ts'

it('sweeps only what has expired by its file', async () => {
  const root = temporaryRoot()
  const { clock, advance } = createTicker()
  const memory = await openFileMemory({ root, clock })
  await memory.write('short-term', 'brief', 'x', { ttl: 1000 })
  await memory.write('short-term', 'longer', 'x', { ttl: 9000 })
  advance(2000)
  expect((await memory.cleanup({ dryRun: true })).deleted).toBe(1)
  expect((await memory.cleanup()).deleted).toBe(1)
  expect(readdirSync(join(root, 'memory/short-term'))).toEqual(['longer.md'])
  await memory.close()
})
