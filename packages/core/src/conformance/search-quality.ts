import { expect } from 'vitest'
import type { MemoryManager } from '../memory-manager.ts'
import { keysFound } from './expectations.ts'
import { law, type Theme } from './harness.ts'
import { notes, questions } from './quality-corpus.ts'

/** Recall at 5 and mean reciprocal rank over all questions. */
async function quality(memory: MemoryManager): Promise<{ recall: number; rank: number }> {
  await memory.batchWrite(
    'long-term',
    Object.entries(notes).map(([key, value]) => ({ key, value })),
  )
  let recall = 0
  let rank = 0
  for (const { text, answers } of questions) {
    const found = await keysFound(memory, 'long-term', { text }, { limit: 5 })
    recall += answers.filter((key) => found.includes(key)).length / answers.length
    const first = found.findIndex((key) => answers.includes(key))
    rank += first === -1 ? 0 : 1 / (first + 1)
  }
  return { recall: recall / questions.length, rank: rank / questions.length }
}

export const searchQuality: Theme = {
  title: 'Search quality',
  laws: [
    law(
      'Of 24 questions to 30 notes, words alone bring at least 90 percent of the answers among the first five.',
      async ({ memory }) => {
        expect((await quality(memory)).recall).toBeGreaterThanOrEqual(0.9)
      },
    ),

    law(
      'Over the same questions the mean reciprocal rank of the first answer is at least 0.85.',
      async ({ memory }) => {
        expect((await quality(memory)).rank).toBeGreaterThanOrEqual(0.85)
      },
    ),

    law(
      'Among 500 other notes the right one is still found first by the words that only it holds.',
      async ({ memory }) => {
        const others = Array.from({ length: 500 }, (_, i) => ({
          key: `note ${i}`,
          value: `Note ${i} about the release, the database, the tests and ticket ${i * 7}.`,
        }))
        await memory.batchWrite('long-term', [
          ...others,
          { key: 'needle', value: 'The release notes mention a zeppelin.' },
        ])
        for (const text of [
          'zeppelin',
          'the zeppelin in the release notes',
          'database tests release zeppelin',
        ]) {
          expect((await keysFound(memory, 'long-term', { text }, { limit: 5 }))[0]).toBe('needle')
        }
      },
    ),
  ],
}
