import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openEchoes } from '../src/index.ts'
import { entryOf } from './support.ts'

it('renames in metadata only, keeps a copy and the ids, and reports', async () => {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const echoes = openEchoes({ root, lead: true, clock: () => Date.parse('2026-06-30') })
  await echoes.add('reviewer', entryOf({ title: 'First' }))
  await echoes.add(
    'reviewer',
    entryOf({ source: 'rune:review elder', evidence: 'elder and elders', learning: 'Ask the elder.' }),
  )
  const file = (name: string) => readFile(join(root, 'reviewer', name), 'utf8')
  const before = await file('MEMORY.md')
  const report = [
    {
      role: 'reviewer',
      renamed: [
        { line: 13, field: 'source', from: 'elder', to: 'lead' },
        { line: 13, field: 'evidence', from: 'elder', to: 'lead' },
      ],
    },
  ]
  expect(await echoes.migrate({ elder: 'lead' }, { dryRun: true })).toEqual(report)
  expect(await file('MEMORY.md')).toBe(before)
  expect(await echoes.migrate({ elder: 'lead' })).toEqual(report)
  expect(await file('archive/MEMORY-2026-06-30.md')).toBe(before)
  expect(await file('MEMORY.md')).toBe(
    before.replace('review elder', 'review lead').replace('elder and', 'lead and'),
  )
  expect((await echoes.read('reviewer')).echoes.map(({ id }) => id)).toEqual([
    'inscribed-001',
    'inscribed-002',
  ])
  expect(await echoes.migrate({ elder: 'lead' })).toEqual([])
})
