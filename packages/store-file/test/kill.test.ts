import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runKillStorm } from './support/kill-storm.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const kills = Number(process.env.RECALL_TEST_KILLS ?? 100)

it(`keeps every acknowledged write whole over ${kills} kills at random moments`, async () => {
  const root = join(temporaryRoot(), 'entity')
  mkdirSync(root)
  const { acknowledged, violations } = await runKillStorm({ root, kills, seed: 7 })
  expect(violations).toEqual([])
  expect(acknowledged).toBeGreaterThan(2 * kills)
}, 600_000)
