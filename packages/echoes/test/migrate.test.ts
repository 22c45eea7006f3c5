import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { parseEchoes } from '../src/documents/echo-document.ts'
import { openEchoes, printEntry } from '../src/index.ts'
import { entryOf } from './support.ts'

vi.mock('../src/documents/echo-document.ts', { spy: true })

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
      path: 'reviewer/MEMORY.md',
      backup: '.backups/migrate-2026-06-30/reviewer/MEMORY.md',
      renamed: [
        { line: 15, field: 'source', from: 'elder', to: 'lead' },
        { line: 17, field: 'evidence', from: 'elder', to: 'lead' },
      ],
    },
  ]
  expect(await echoes.migrate({ elder: 'lead' }, { dryRun: true })).toEqual(report)
  expect(await file('MEMORY.md')).toBe(before)
  expect(await echoes.migrate({ elder: 'lead' })).toEqual(report)
  expect(await file('../.backups/migrate-2026-06-30/reviewer/MEMORY.md')).toBe(before)
  expect(await file('MEMORY.md')).toBe(
    before.replace('review elder', 'review lead').replace('elder and', 'lead and'),
  )
  expect((await echoes.read('reviewer')).echoes.map(({ id }) => id)).toEqual([
    'inscribed-001',
    'inscribed-002',
  ])
  expect(await echoes.migrate({ elder: 'lead' })).toEqual([])
})

it('renames whole words only, in any script', async () => {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const echoes = openEchoes({ root, clock: () => Date.parse('2026-06-30') })
  await echoes.add('reviewer', entryOf({ evidence: 'समीक्षकों ने देखा, समीक्षक ने नहीं' }))
  await echoes.migrate({ समीक्षक: 'जाँच' })
  const [echo] = (await echoes.read('reviewer')).echoes
  expect(echo?.entry.evidence).toBe('समीक्षकों ने देखा, जाँच ने नहीं')
})

it('reads every markdown file of the folder, and what was archived keeps its id', async () => {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const echoes = openEchoes({ root, clock: () => Date.parse('2026-06-30') })
  const entry = entryOf({
    source: 'rune:review elder',
    evidence: 'said by elder',
    learning: 'Ask the elder.',
  })
  await echoes.add('reviewer', entry)
  await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-001']))
  await echoes.appendFinding('workers', 'ann', entry)
  await writeFile(join(root, 'reviewer/knowledge.md'), 'The elder knows.\n')
  await writeFile(join(root, 'NOTES.md'), 'About the elder.\n')
  await writeFile(join(root, 'reviewer/MEMORY.txt'), printEntry(entry))
  const paths = async () => (await echoes.migrate({ elder: 'lead' })).map(({ path }) => path)
  expect(await paths()).toEqual(['reviewer/archive/MEMORY-2026-06-30.md', 'workers/ann-findings.md'])
  expect(await paths()).toEqual([])
  expect(await echoes.restoreEntry('reviewer', 'inscribed-001')).toBe(true)
  const [restored] = (await echoes.read('reviewer')).echoes
  expect(restored?.id).toBe('inscribed-001')
  expect(restored?.entry).toEqual({ ...entry, source: 'rune:review lead', evidence: 'said by lead' })
})

it('renames all in one pass, the longer of two names first', async () => {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const echoes = openEchoes({ root })
  await echoes.add('reviewer', entryOf({ source: 'elder, scout, elder-scout', evidence: 'elder scout' }))
  await echoes.migrate({ elder: 'scout', scout: 'elder', 'elder scout': 'ranger', '': 'x' })
  const [echo] = (await echoes.read('reviewer')).echoes
  expect([echo?.entry.source, echo?.entry.evidence]).toEqual(['scout, elder, elder-scout', 'ranger'])
  expect(await echoes.migrate({ '': 'x' })).toEqual([])
  expect(await echoes.migrate({ elder: 'elder' })).toEqual([])
})

it('renames in the memory of the team for the lead only', async () => {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  await openEchoes({ root, lead: true }).add('team', entryOf({ source: 'elder' }))
  const others = openEchoes({ root })
  await expect(others.migrate({ elder: 'lead' })).rejects.toMatchObject({ code: 'MEMORY_FORBIDDEN' })
  expect(await others.migrate({ elder: 'lead' }, { dryRun: true })).toHaveLength(1)
})

it('reads a backup a few times, not for each entry that it keeps', async () => {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const echoes = openEchoes({ root, clock: () => Date.parse('2026-06-30') })
  for (let n = 0; n < 30; n++)
    await echoes.add('reviewer', entryOf({ title: `Title ${n}`, evidence: `said by elder ${n}` }))
  await echoes.applyEdit(await echoes.planRemoval('reviewer'))
  vi.mocked(parseEchoes).mockClear()
  expect(await echoes.migrate({ elder: 'lead' })).toHaveLength(1)
  expect(vi.mocked(parseEchoes).mock.calls.length).toBeLessThan(10)
  expect(await echoes.restoreEntry('reviewer', 'inscribed-030')).toBe(true)
  const again = await echoes.add('reviewer', entryOf({ title: 'Title 7', evidence: 'said by lead 7' }))
  expect(again.id).toBe('inscribed-031')
})
