import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  conversationKey,
  conversationType,
  createMemoryManager,
  sessionSummaryKey,
  sessionSummaryType,
} from '@recall/core'
import { openFileStore } from '../src/open-file-memory.ts'

/**
 * Writes window, archives, settings, queued writes and cold entries as far as a version has them: run it in a checkout
 * of that version, as `make-fixture.ts`.
 */
const target = process.argv[2] as string

const sessionOf = (n: number) => ({
  sessionId: `s${n}`,
  date: `2026-01-0${n}T00:00:00.000Z`,
  duration: '1m',
  messageCount: 2,
})

for (const layout of ['entity', 'user'] as const) {
  const root = join(target, layout)
  mkdirSync(root, { recursive: true })
  const stores = await openFileStore({ root, layout })
  const memory = createMemoryManager({ stores, clock: () => Date.UTC(2026, 0, 10) })
  for (const n of [1, 2]) {
    const body = `## Summary\n\nThe ferry number${n} was late.\n\n### User\n\nWhere is it?\n\n### Assistant\n\nAt the harbour.\n`
    const archive = { ...sessionOf(n), source: 'session', topics: ['ferry'], body }
    await memory.write('episodic', conversationKey(`s${n}`), archive, { type: conversationType })
    const summary = {
      ...sessionOf(n),
      summary: `The ferry number${n} was late.`,
      archive: conversationKey(`s${n}`),
    }
    await memory.write('short-term', sessionSummaryKey(`s${n}`), summary, {
      type: sessionSummaryType,
      ttl: Number.POSITIVE_INFINITY,
    })
  }
  await memory.write(
    'short-term',
    'lasts',
    { until: 'tomorrow' },
    { ttl: Number.POSITIVE_INFINITY, tags: ['a', 'b'] },
  )
  await memory.write('long-term', 'MEMORY.md#tides', 'The tide turns at noon.')
  await memory.write('episodic', 'storm', 'A storm came in spring.')
  // Later versions put what is old into a compressed file.
  await memory.cleanup({ scope: 'episodic', archiveBefore: Date.UTC(2026, 0, 11) }).catch(() => {})
  writeFileSync(join(root, stores.layout.config), '# mine\n[ephemeral]\nmax_entries = 7 # a week\n')
  await memory.close()
}

// The first version had none.
const queueModule = await import('../src/write-queue.ts').catch(() => null)
if (queueModule) {
  const opened = await queueModule.openWriteQueue({ folder: join(target, 'queue') })
  for (const n of [1, 2])
    await opened.append({
      namespace: 'default',
      scope: 'long-term',
      key: 'queued',
      value: `write ${n}`,
      options: { tags: ['late'] },
      queuedAt: Date.UTC(2026, 0, n),
    })
  await opened.close()
}
