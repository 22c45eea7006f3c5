import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, type MemoryManager } from '@recall/core'
import { describe, expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { internal, words } from './support/index-answers.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

it('scores what was written over many times nearly as what was written once', async () => {
  const root = temporaryRoot()
  const memory = await openFileMemory({ root, redact: 'allow' })
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 30; i++) {
      await memory.write('long-term', `note ${i}`, `${words[i % 8]} ${words[(i + round) % 5]} number${i}`)
      await memory.write('short-term', `other ${round} ${i}`, 'harbour')
    }
    await memory.search('long-term', { text: 'harbour' })
  }
  const scores = async (from: MemoryManager): Promise<Map<string, number>> => {
    const found = new Map<string, number>()
    for (const text of [...words, 'rope mast number7', 'cable tide']) {
      for (const { key, score } of await from.search('long-term', { text }, { limit: 100 }))
        found.set(`${text}: ${key}`, score)
    }
    return found
  }
  const lived = await scores(memory)
  await memory.close()
  rmSync(internal(root), { recursive: true })
  const fresh = await openFileMemory({ root, redact: 'allow' })
  const anew = await scores(fresh)
  expect([...lived.keys()].sort()).toEqual([...anew.keys()].sort())
  for (const [match, score] of lived) expect(Math.abs(score - (anew.get(match) ?? -1))).toBeLessThan(0.02)
  await fresh.close()
})

it('is no surer of an entry that holds some of the words than of one before it that holds them all', async () => {
  const memory = await openFileMemory({ root: temporaryRoot() })
  const others = Array.from({ length: 20 }, (_, i) => `word${i}`).join(' ')
  await memory.write('long-term', 'both', `harbour cable ${others}`)
  for (let i = 0; i < 12; i++) {
    await memory.write('long-term', `cable ${i}`, 'cable '.repeat(6))
    await memory.write('long-term', `harbour ${i}`, `harbour ${others}`)
  }
  for (let i = 0; i < 30; i++) await memory.write('long-term', `neither ${i}`, 'lighthouse')
  const found = await memory.search('long-term', { text: 'harbour cable' }, { limit: 30 })
  const told = found.map(({ confidence }) => confidence ?? -1)
  expect(found[0]?.key).toBe('both')
  expect(told).toEqual(told.toSorted((a, b) => b - a))
  await memory.close()
})

/** A curated memory whose sections hold some of the words. */
const sections = (count: number, last: string): string =>
  Array.from(
    { length: count },
    (_, i) => `## Part ${i}\n\n${words[i % 8]} ${words[(i * 3) % 5]} ${last}\n\n`,
  ).join('')

it('scores what a person edits all day as what was written once', async () => {
  const root = temporaryRoot()
  const store = await openFileStore({ root, create: true })
  const memory = createMemoryManager({ stores: store })
  mkdirSync(join(root, 'memory'))
  const edited = (draft: string, all: string): string =>
    `${sections(60, all)}## Today\n\n${'harbour cable '.repeat(200)}${draft}\n\n## Last\n\n${'tide rope '.repeat(200)}end\n`
  const save = (text: string): void => writeFileSync(join(root, 'memory/MEMORY.md'), text)
  const told = async (from: MemoryManager) => {
    const found = await Promise.all(
      words.map((text) => from.search('long-term', { text: `${text} part 7 end` }, { limit: 20 })),
    )
    return found.flat().map(({ key, score, confidence = 0, passage }) => ({
      ...{ key, score: score.toFixed(6), confidence: confidence.toFixed(6) },
      ...{ line: passage?.line, text: passage?.text },
    }))
  }
  for (let edit = 0; edit < 100; edit++) {
    save(edited(`draft${edit}`, 'all'))
    expect(await memory.search('long-term', { text: `draft${edit}` })).toMatchObject([
      { key: 'MEMORY.md#today' },
    ])
    // What stays in the file keeps its words: a section of two units was removed at most six times over.
    expect(store.index.fresh().countRemovedUnits('long-term')).toBeLessThanOrEqual(6)
  }
  for (let edit = 0; edit < 10; edit++) {
    save(edited('last', `all${edit}`))
    expect(await memory.search('long-term', { text: `all${edit}` }, { limit: 100 })).toHaveLength(60)
  }
  expect(store.index.fresh().countRemovedUnits('long-term')).toBe(0)
  const lived = await told(memory)
  expect(lived).toContainEqual(
    expect.objectContaining({ key: 'MEMORY.md#last', text: expect.stringContaining('rope end') }),
  )
  await memory.close()
  rmSync(internal(root), { recursive: true })
  const fresh = await openFileMemory({ root })
  expect(lived).toEqual(await told(fresh))
  await fresh.close()
})

describe('an index that counts too many removed units', () => {
  it('is mended at leisure where that takes long, and the doctor names it until then', async () => {
    const root = temporaryRoot()
    const store = await openFileStore({ root, create: true })
    const memory = createMemoryManager({ stores: store })
    mkdirSync(join(root, 'memory'))
    const curated = join(root, 'memory/MEMORY.md')
    for (const draft of ['first', 'second']) {
      writeFileSync(curated, sections(5001, draft))
      expect(await memory.search('long-term', { text: draft }, { limit: 1 })).toHaveLength(1)
    }
    const problems = () =>
      checkUp(defaultFileSystem, store, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(problems()).toMatchObject([{ check: 'words' }])
    await memory.search('long-term', { text: 'harbour' }, { limit: 1 })
    expect(store.index.fresh().countRemovedUnits('long-term')).toBe(5001)
    store.reindex({ full: false })
    expect(store.index.fresh().countRemovedUnits('long-term')).toBe(0)
    expect(await memory.search('long-term', { text: 'second part 5000' }, { limit: 1 })).toMatchObject([
      { key: 'MEMORY.md#part-5000' },
    ])
    expect(problems()).toEqual([])
    await memory.close()
  })

  it('finds everything again when mending it was broken off', async () => {
    const root = temporaryRoot()
    const store = await openFileStore({ root, create: true })
    const memory = createMemoryManager({ stores: store })
    for (let i = 0; i < 60; i++) await memory.write('long-term', `note ${i}`, `harbour number${i}`)
    const index = store.index.fresh()
    index.transaction(() => index.dropWords('long-term'))
    await memory.close()
    const next = await openFileMemory({ root })
    expect(await next.search('long-term', { text: 'harbour' }, { limit: 100 })).toHaveLength(60)
    await next.close()
  })
})
