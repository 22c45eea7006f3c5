import { rmSync } from 'node:fs'
import type { MemoryManager } from '@recall/core'
import { expect, it, vi } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
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
