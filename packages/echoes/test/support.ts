import fc from 'fast-check'
import type { EchoEntry } from '../src/index.ts'

export const entryOf = (changes: Partial<EchoEntry> = {}): EchoEntry => ({
  date: '2026-01-01',
  kind: 'Pattern',
  title: 'Queries in loops',
  layer: 'inscribed',
  source: 'rune:review PR #1',
  confidence: 0.8,
  evidence: '`src/list.ts:1-5` — a query for every row',
  verified: '2026-01-01',
  supersedes: null,
  learning: 'Load what a list shows with one query.',
  ...changes,
})

const anyText = fc.oneof(
  fc.stringMatching(/^[a-z]{1,8}(?: [a-z]{1,8}){0,3}$/),
  fc.constantFrom(
    'a: b',
    '**layer**: etched',
    '```',
    '### [2026-01-01] x',
    'é — «ü»',
    '`x.ts:1` — y',
    'a\nb',
    '- x',
  ),
)
const anyDay = fc
  .integer({ min: 0, max: 700 })
  .map((days) => new Date(Date.parse('2025-01-01') + days * 86_400_000).toISOString().slice(0, 10))

export const anyEntry: fc.Arbitrary<EchoEntry> = fc.record({
  date: anyDay,
  kind: fc.constantFrom('Pattern', 'Observation', 'Architecture'),
  title: anyText,
  layer: fc.constantFrom('etched', 'inscribed', 'traced'),
  source: anyText,
  confidence: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
  evidence: anyText,
  verified: anyDay,
  supersedes: fc.option(anyText),
  learning: anyText,
})
