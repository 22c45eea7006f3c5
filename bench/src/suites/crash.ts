import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runKillStorm } from '../../../packages/store-file/test/kill-storm.ts'
import type { Row } from '../report.ts'

const killsPerRoot = 200

/** Kills writers at random moments and looks for every write that was acknowledged; no loss is allowed. */
export async function measureCrashes(
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
    const storm = await runKillStorm({ root, kills: Math.min(killsPerRoot, kills - done), seed: seed + done })
    acknowledged += storm.acknowledged
    violations.push(...storm.violations.map((violation) => `seed ${seed + done}: ${violation}`))
    rmSync(folder, { recursive: true, force: true })
    say(`${done + storm.kills} kills, ${acknowledged} acknowledged writes, ${violations.length} violations`)
  }
  const row = { size: kills, peer: 'acknowledged writes', peers: acknowledged }
  const ratio = violations.length
  return { rows: [{ ...row, what: 'violations after SIGKILL', ours: ratio, ratio, bound: 0 }], violations }
}
