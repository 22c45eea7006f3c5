import { createMemoryManager, type Embedder, type MemoryManager } from '@recall/core'
import { wordsOf } from '@recall/core/ranking'
import { afterEach } from 'vitest'
import { type FileStore, type FileStoreSettings, openFileStore } from '../../src/index.ts'
// Its hook comes before the one below, so that a memory is closed before its folder is removed.
import './temporary-root.ts'

const concepts = [
  ['car', 'automobile', 'vehicle'],
  ['dog', 'puppy', 'hound'],
  ['rain', 'storm', 'weather'],
].map((words) => new Set(words))

/** Knows three concepts, and counts what it was asked. */
export function conceptEmbedder(model = 'concepts'): Embedder & { asked: string[] } {
  const asked: string[] = []
  return {
    model,
    dimensions: 4,
    asked,
    async embed(texts, mode) {
      if (mode === 'document') asked.push(...texts)
      return texts.map((text) => {
        const words = wordsOf(text).map(({ start, end }) => text.slice(start, end).toLowerCase())
        const vector = concepts.map((concept) => words.filter((word) => concept.has(word)).length)
        vector.push(vector.some((count) => count > 0) ? 0 : 1)
        const length = Math.hypot(...vector)
        return Float32Array.from(vector, (count) => count / length)
      })
    },
  }
}

const open: MemoryManager[] = []

export async function memoryAt(
  root: string,
  embedder = conceptEmbedder(),
  settings: Partial<FileStoreSettings> = {},
): Promise<{ memory: MemoryManager; store: FileStore; embedder: ReturnType<typeof conceptEmbedder> }> {
  const store = await openFileStore({ root, create: true, embedder, ...settings })
  const memory = createMemoryManager({ stores: store, embedder })
  open.push(memory)
  return { memory, store, embedder }
}

/** Closes a memory that a test has opened by itself. */
export const closeAfterwards = (memory: MemoryManager): void => {
  open.push(memory)
}

afterEach(async () => {
  for (const memory of open.splice(0)) await memory.close()
})

export const keys = async (memory: MemoryManager, text: string): Promise<string[]> =>
  (await memory.search('long-term', { text })).map(({ key }) => key)
