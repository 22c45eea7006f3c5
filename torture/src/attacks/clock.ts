import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, conversationType, createInMemoryStore, createMemoryManager } from '@recall/core'
import { openFileStore } from '@recall/store-file'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import { archiveOf } from '../../../packages/store-file/test/support/storm-values.ts'
import type { Attack } from '../attack.ts'

const yearMs = 365 * 24 * 60 * 60 * 1000

/** A clock that is set back, leaps ahead or stands still between two calls. */
export const clock: Attack = {
  what: 'the clock leaps by up to ten years: nothing that does not expire is lost, in files as in memory',
  size: 300,
  async round({ seed, size, folder }) {
    const random = seededRandom(seed)
    const root = join(folder, 'root')
    mkdirSync(root)
    let now = Date.UTC(2026, 0, 1)
    const leap = (): void => {
      const kind = random()
      if (kind < 0.4) now += Math.floor(random() * 1000)
      else if (kind < 0.7) now += Math.floor((random() - 0.5) * 20 * yearMs)
      now = Math.max(0, now)
    }
    const file = createMemoryManager({
      stores: await openFileStore({ root }),
      clock: () => now,
    })
    const reference = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })
    const violations: string[] = []
    const lasting = new Map<string, string>()
    for (let i = 0; i < size; i++) {
      leap()
      const key = `key-${Math.floor(random() * 40)}`
      const expires = random() < 0.3
      const value = `value ${i}`
      for (const memory of [file, reference]) {
        await memory.write(
          'long-term',
          key,
          value,
          expires ? { ttl: 1000 * (1 + Math.floor(random() * 5)) } : {},
        )
        if (i % 25 === 0)
          await memory.write('episodic', conversationKey(`s${i}`), archiveOf(`s${i}`, i), {
            type: conversationType,
          })
      }
      if (expires) lasting.delete(key)
      else lasting.set(key, value)
      if (i % 20 > 0) continue
      leap()
      for (const memory of [file, reference]) {
        const name = memory === file ? 'files' : 'memory'
        if (random() < 0.5) await memory.cleanup()
        for (const [lasts, text] of lasting) {
          const read = await memory.read('long-term', lasts)
          if (read !== text) violations.push(`${name}, step ${i}: ${lasts} reads ${JSON.stringify(read)}`)
        }
        const scores = await memory.search('long-term', { text: 'value' }, { touch: false })
        if (scores.some(({ score }) => !(score >= 0 && score <= 1)))
          violations.push(`${name}, step ${i}: a score is not within 0..1`)
      }
    }
    await Promise.all([file.close(), reference.close()])
    return { counts: { steps: size }, violations }
  },
}
