import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  runKillStorm,
  type StormOptions,
  type StormResult,
} from '../../../packages/store-file/test/support/kill-storm.ts'
import { runProtocolStorm } from '../../../packages/store-file/test/support/protocol-storm.ts'
import type { Attack } from '../attack.ts'

const storm = (what: string, size: number, run: (options: StormOptions) => Promise<StormResult>): Attack => ({
  what,
  size,
  async round({ seed, size, folder }) {
    const root = join(folder, 'root')
    mkdirSync(root)
    const { kills, acknowledged, violations } = await run({ root, kills: size, seed })
    return { counts: { kills, 'acknowledged writes': acknowledged }, violations }
  },
})

export const kills = storm(
  'writers of notes, sections and archives are killed: what was acknowledged is there, whole',
  40,
  runKillStorm,
)

export const protocolKills = storm(
  'the same while they archive, evict, drain a queue and rotate keys',
  10,
  runProtocolStorm,
)
