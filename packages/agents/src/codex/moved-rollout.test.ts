import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support.ts'
import { transcriptNow } from './moved-rollout.ts'

const rollout = 'sessions/2026/11/20/rollout-2026-11-20T09-00-00-c1.jsonl'
const archived = 'archived_sessions/rollout-2026-11-20T09-00-00-c1.jsonl'

it.each([
  ['stays where it is', rollout, [rollout, `${rollout}.zst`], rollout],
  ['is found compressed', rollout, [`${rollout}.zst`], `${rollout}.zst`],
  ['is found among the archived ones', rollout, [archived], archived],
  ['is found among the archived ones, compressed', rollout, [`${archived}.zst`], `${archived}.zst`],
  [
    'is found compressed in any folder',
    'elsewhere/rollout-1.jsonl',
    ['elsewhere/rollout-1.jsonl.zst'],
    'elsewhere/rollout-1.jsonl.zst',
  ],
  ['that is gone is named as before', rollout, [], rollout],
  ['of another host is not looked for', 'sessions/s.jsonl', ['sessions/s.jsonl.zst'], 'sessions/s.jsonl'],
])('a rollout %s', async (_, path, files, now) => {
  const folder = await temporaryFolder()
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  expect(transcriptNow(join(folder, path))).toBe(join(folder, now))
})
