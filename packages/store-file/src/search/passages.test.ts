import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager } from '@recall/core'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { openFileStore } from '../open-file-memory.ts'

/** A topic file of three sections too long for one unit each, every line with a word of its own. */
const topic = (word: string): string =>
  ['one', 'two', 'three']
    .map((part) => `## ${word} ${part}\n\n${lines(`${word}${part}`).join('\n')}\n`)
    .join('\n')
const lines = (word: string): string[] =>
  Array.from({ length: 90 }, (_, i) => `- ${word}x${i}: what was learned of ${word} on day ${i} of the work.`)

test('the neighbours of a passage are of its own document', async () => {
  const root = temporaryRoot()
  const folder = join(root, 'memory')
  mkdirSync(folder, { recursive: true })
  for (const word of ['alder', 'birch', 'cedar']) writeFileSync(join(folder, `${word}.md`), topic(word))
  const store = await openFileStore({ root })
  const now = Date.now()
  for (const word of ['alder', 'birch', 'cedar']) {
    for (const part of ['one', 'two', 'three']) {
      for (const i of [0, 45, 89]) {
        const text = `${word}${part}x${i}`
        const [hit] = store.locate({ text, namespace: 'default', limit: 3, minScore: 0, now }, ['long-term'])
        expect(hit?.text).toContain(text)
        for (const neighbour of hit?.neighbours ?? []) expect(neighbour).toContain(`${word}${part}`)
      }
    }
  }
  await store.close()
})

const ranked = { limit: 1, minScore: 0 }

/** The numbers of the lines that a text holds. */
const daysIn = (text = ''): number[] => [...text.matchAll(/on day (\d+)/g)].map(([, day]) => Number(day))

test('neighbours stand in their order, wherever the passage was cut from', async () => {
  const root = temporaryRoot()
  const store = await openFileStore({ root })
  const memory = createMemoryManager({ stores: store })
  onTestFinished(() => memory.close())
  mkdirSync(join(root, 'memory'), { recursive: true })
  writeFileSync(join(root, 'memory/alder.md'), topic('alder'))
  const text = 'aldertwox45'
  const [match] = await memory.search('long-term', { text })
  const [hit] = store.locate({ ...ranked, text, namespace: 'default', now: Date.now() }, ['long-term'])
  for (const place of [match?.passage, hit]) {
    const [before, after] = (place?.neighbours ?? []).map(daysIn)
    expect(daysIn(place?.text)).toContain(45)
    expect(Math.max(...(before ?? [Number.NaN]))).toBeLessThan(45)
    expect(Math.min(...(after ?? [Number.NaN]))).toBeGreaterThan(45)
  }
})

test('a passage of a value that is no text stands where the value begins', async () => {
  const store = await openFileStore({ root: temporaryRoot() })
  const memory = createMemoryManager({ stores: store })
  onTestFinished(() => memory.close())
  await memory.write('long-term', 'plan', { steps: lines('alder') })
  const placesOf = async (text: string) => {
    const [match] = await memory.search('long-term', { text })
    const [hit] = store.locate({ ...ranked, text, namespace: 'default', now: Date.now() }, ['long-term'])
    expect(hit?.text).toContain(text)
    expect(match?.passage).toMatchObject({ text: hit?.text, line: hit?.line })
    return hit?.line
  }
  expect(await placesOf('alderx89')).toBe(await placesOf('alderx0'))
})
