import { openEchoes, surface } from '@recall/echoes'

const echoes = openEchoes({ root: '.recall/echoes', clock: () => Date.parse('2026-02-11') })

// During its work an agent notes what it found; files of other agents are never touched.
await echoes.appendFinding('reviewer', 'ann', {
  date: '2026-02-11',
  kind: 'Pattern',
  title: 'Unused imports in new files',
  layer: 'inscribed',
  source: 'rune:review PR #42',
  confidence: 0.85,
  evidence: '`src/auth.ts:1-5` — 3 unused imports found',
  verified: '2026-02-11',
  supersedes: null,
  learning: 'Flag import hygiene in newly created files.',
})

// Once the work is done, findings enter the memory of the role.
await echoes.consolidate('reviewer')

// Before the next task:
const { echoes: known } = await surface(echoes, { task: 'create new files', roles: ['reviewer'] })
console.log(known[0]?.echo.entry.title)
