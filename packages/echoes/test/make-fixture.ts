import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { EchoEntry, EchoLayer } from '../src/index.ts'

/**
 * Writes what tests of later versions open: run it in a checkout of the version that shall have written it, with the
 * folder `fixtures/<name>` of this one for its argument. It ends in the middle of a consolidation, as a killed process.
 */
const root = process.argv[2] as string
const now = Date.UTC(2026, 0, 10)

const entryOf = (title: string, layer: EchoLayer, verified = '2026-01-05'): EchoEntry => ({
  date: '2026-01-01',
  kind: 'Pattern',
  title,
  layer,
  source: 'rune:review PR #1',
  confidence: 0.9,
  evidence: `\`src/${title.replaceAll(' ', '-')}.ts:1\``,
  verified,
  supersedes: null,
  learning: `What was learned of ${title}. It has a second sentence.`,
})

const { openEchoes } = await import('../src/index.ts')
const echoes = openEchoes({
  root,
  policy: { lineLimit: 60 },
  askHuman: async () => true,
  clock: () => now,
} as Parameters<typeof openEchoes>[0])
await echoes.add('reviewer', entryOf('ports are named', 'etched'))
for (const title of [
  'retries need jitter',
  'queues are bounded',
  'clocks are injected',
  'locks name their holder',
  'logs hold no keys',
])
  await echoes.add('reviewer', entryOf(title, 'traced', '2024-01-01'))
await echoes.applyPrune(await echoes.planPrune('reviewer'))
const [first] = (await echoes.read('reviewer')).echoes
await echoes.reference('reviewer', 'rune:review 1', [first?.id as string])
await echoes.appendFinding('reviewer', 'agent-1', entryOf('files are synced', 'inscribed'))
await echoes.appendFinding('reviewer', 'agent-2', entryOf('caches are coherent', 'traced'))

// The journal stands, and of what it says one file was written.
let left = 2
const { renameSync } = fs
fs.renameSync = (from, to) => {
  if (left-- === 0) process.exit(0)
  renameSync(from, to)
}
syncBuiltinESMExports()
await echoes.consolidate('reviewer')
