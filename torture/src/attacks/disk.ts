import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bundleScript } from '../../../packages/store-file/test/support/child-process.ts'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import type { Attack } from '../attack.ts'

/** A separate disk that fills up, or is mounted read-only, if the system lets one be mounted. */
export const disk: Attack = {
  what: 'the disk is full or read-only: old memories are whole and found, writes say why they fail and go on when there is room',
  size: 6,
  closed() {
    const { status, stderr } = spawnSync('unshare', ['-rm', 'true'], { encoding: 'utf8' })
    return status === 0 ? null : `no disk can be mounted here: ${stderr || 'there is no unshare'}`
  },
  async round({ seed, size, folder }) {
    const random = seededRandom(seed)
    const [full, readOnly] = await Promise.all([
      bundleScript('full-disk-child.ts'),
      bundleScript('read-only-child.ts'),
    ])
    const counts: Record<string, number> = {}
    const violations: string[] = []
    for (let i = 0; i < size; i++) {
      const at = join(folder, `disk-${i}`)
      mkdirSync(at)
      const isFull = i % 2 === 0
      const kilobytes = 600 + Math.floor(random() * 3000)
      const what = isFull ? 'full disks' : 'read-only disks'
      const steps = isFull
        ? [`mount -t tmpfs -o size=${kilobytes}k t "$AT"`, '"$NODE" "$SCRIPT" "$AT"']
        : [
            'mount -t tmpfs -o size=8m t "$AT"',
            '"$NODE" "$SCRIPT" "$AT" fill',
            'mount -o remount,bind,ro "$AT"',
            '"$NODE" "$SCRIPT" "$AT" check',
          ]
      const { status, stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', steps.join(' && ')], {
        encoding: 'utf8',
        env: { ...process.env, NODE: process.execPath, SCRIPT: isFull ? full : readOnly, AT: at },
      })
      counts[what] = (counts[what] ?? 0) + 1
      if (status !== 0 || !stdout.includes('ok')) {
        violations.push(`${what} of ${kilobytes} KB: ${stderr.slice(-600)}`)
      }
    }
    return { counts, violations }
  },
}
