import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openEchoes } from '../src/index.ts'
import { entryOf } from './support.ts'

it('keeps a memory without a schema as it is until it is written, and then adds the header alone', async () => {
  const root = mkdtempSync(join(tmpdir(), 'recall-echoes-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const echoes = openEchoes({ root, clock: () => Date.UTC(2026, 0, 10) })
  for (const title of ['First', 'Second']) await echoes.add('reviewer', entryOf({ title, layer: 'traced' }))
  const path = join(root, 'reviewer/MEMORY.md')
  const current = readFileSync(path, 'utf8')
  const text = current.replace(/^<!-- echo-schema.*\n/, '')
  expect(text).not.toBe(current)
  writeFileSync(path, text)
  const { echoes: before } = await echoes.read('reviewer')
  expect(before).toHaveLength(2)
  expect(readFileSync(path, 'utf8')).toBe(text)
  await echoes.add('reviewer', entryOf({ title: 'Third', layer: 'traced' }))
  const written = readFileSync(path, 'utf8')
  expect(written.startsWith(`<!-- echo-schema: v1 -->\n${text.trimEnd()}`)).toBe(true)
  expect((await echoes.read('reviewer')).echoes).toHaveLength(3)
})
