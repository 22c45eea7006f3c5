import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openEchoes } from '../src/index.ts'

// Made by `make-fixture.ts` in a checkout of the first version; it died in the middle of a consolidation.
const fixture = fileURLToPath(new URL('fixtures/schema-1', import.meta.url))

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-echoes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const kept = [
  'caches are coherent',
  'clocks are injected',
  'files are synced',
  'locks name their holder',
  'logs hold no keys',
  'ports are named',
  'queues are bounded',
  'retries need jitter',
]

it('finishes what the first version had begun, and keeps all that it wrote', async () => {
  const root = temporaryFolder()
  cpSync(fixture, root, { recursive: true })
  expect(readdirSync(root)).toContain('.journal.json')
  const echoes = openEchoes({ root, clock: () => Date.UTC(2026, 0, 10) })
  await echoes.consolidate('reviewer')
  const memory = await echoes.read('reviewer')
  expect(memory.echoes.map(({ entry }) => entry.title).sort()).toEqual(kept)
  expect(memory.echoes.find(({ entry }) => entry.title === 'ports are named')?.entry).toMatchObject({
    layer: 'etched',
    verified: '2026-01-05',
    confidence: 0.9,
  })
  expect(readdirSync(root)).not.toContain('.journal.json')
  expect(readdirSync(join(root, 'reviewer')).filter((name) => name.endsWith('-findings.md'))).toEqual([])
  const findings = await echoes.examine({ fix: true })
  expect(findings.filter(({ ok, fixed }) => !ok && !fixed)).toEqual([])
})

it('keeps a memory without a schema as it is until it is written, and then adds the header alone', async () => {
  const root = temporaryFolder()
  mkdirSync(join(root, 'reviewer'))
  const path = join(root, 'reviewer/MEMORY.md')
  const current = readFileSync(join(fixture, 'reviewer/MEMORY.md'), 'utf8')
  const text = current.replace(/^<!-- echo-schema.*\n/, '')
  expect(text).not.toBe(current)
  writeFileSync(path, text)
  const echoes = openEchoes({ root, clock: () => Date.UTC(2026, 0, 10) })
  const { echoes: before } = await echoes.read('reviewer')
  expect(readFileSync(path, 'utf8')).toBe(text)
  const [first] = before
  await echoes.add('reviewer', {
    ...(first?.entry as NonNullable<typeof first>['entry']),
    layer: 'traced',
    title: 'new',
  })
  const written = readFileSync(path, 'utf8')
  expect(written.startsWith(`<!-- echo-schema: v1 -->\n${text.trimEnd()}`)).toBe(true)
  expect((await echoes.read('reviewer')).echoes).toHaveLength(before.length + 1)
})
