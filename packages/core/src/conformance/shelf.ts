import type { MemoryManager, SearchOptions } from '../memory-manager.ts'
import type { Fixture } from './harness.ts'

/** Twelve entries of different relevance, age and use; some tie. */
export async function fillShelf({ memory, time }: Fixture): Promise<void> {
  for (let i = 0; i < 12; i++) {
    await memory.write(
      'long-term',
      `book ${i}`,
      `${'harbour '.repeat(1 + (i % 4))} ${'other words '.repeat(i % 3)}`,
    )
    if (i % 2 === 0) time.advance(60_000)
  }
  for (let i = 0; i < 5; i++) await memory.batchRead('long-term', [`book ${i}`, `book ${i * 2}`])
}

/** The scores of all entries that hold the word, in the requested order. */
export const scoresOf = async (memory: MemoryManager, options: SearchOptions): Promise<number[]> =>
  (await memory.search('long-term', { text: 'harbour' }, { limit: 100, touch: false, ...options })).map(
    ({ score }) => score,
  )
