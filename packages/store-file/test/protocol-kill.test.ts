import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runProtocolStorm } from './support/protocol-storm.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const kills = 8

it('archive, eviction, queue and key rotation survive SIGKILL at any moment: nothing lost, nothing doubled', async () => {
  const root = join(temporaryRoot(), 'root')
  mkdirSync(root)
  const { violations, acknowledged } = await runProtocolStorm({ root, kills, seed: 1 })
  expect(violations).toEqual([])
  expect(acknowledged).toBeGreaterThan(kills)
})
