import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  runKillStorm,
  type StormOptions,
  type StormResult,
} from '../../../packages/store-file/test/support/kill-storm.ts'
import { runProtocolStorm } from '../../../packages/store-file/test/support/protocol-storm.ts'
import type { Row } from '../report.ts'

const killsPerRoot = 200

/** What the writers do when they are killed. */
export const storms = {
  crash: { run: runKillStorm, killsPerRoot, what: 'violations after SIGKILL' },
  'crash-protocol': {
    run: runProtocolStorm,
    killsPerRoot: 50,
    what: 'violations after SIGKILL in archive, eviction, queue drain and key rotation',
  },
} satisfies Record<string, Storm>

export interface Storm {
  run(options: StormOptions): Promise<StormResult>
  killsPerRoot: number
  what: string
}

/** Kills writers at random moments and looks for every write that was acknowledged; no loss is allowed. */
export async function measureCrashes(
  { run, killsPerRoot, what }: Storm,
  kills: number,
  seed: number,
  say: (text: string) => void,
): Promise<{ rows: Row[]; violations: string[] }> {
  const violations: string[] = []
  let acknowledged = 0
  for (let done = 0; done < kills; done += killsPerRoot) {
    const folder = mkdtempSync(join(tmpdir(), 'recall-crash-'))
    const root = join(folder, 'root')
    mkdirSync(root)
    const storm = await run({ root, kills: Math.min(killsPerRoot, kills - done), seed: seed + done })
    acknowledged += storm.acknowledged
    violations.push(...storm.violations.map((violation) => `seed ${seed + done}: ${violation}`))
    rmSync(folder, { recursive: true, force: true })
    say(`${done + storm.kills} kills, ${acknowledged} acknowledged writes, ${violations.length} violations`)
  }
  const row = { size: kills, peer: 'acknowledged writes', peers: acknowledged }
  const ratio = violations.length
  return { rows: [{ ...row, what, ours: ratio, ratio, bound: 0 }], violations }
}
