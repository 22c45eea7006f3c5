import { createMemoryManager, type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { openFileStore } from '../src/index.ts'
import { readOnlyFileSystem } from './support/faulty-file-system.ts'
import { closeAfterwards, conceptEmbedder, keys, memoryAt } from './support/memory-with-vectors.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('vectors of files', () => {
  it('find what shares the meaning and none of the words, and say so', async () => {
    const { memory } = await memoryAt(temporaryRoot())
    await memory.write('long-term', 'a', 'The automobile would not start')
    await memory.write('long-term', 'b', 'Bread rises overnight')
    const [match] = await memory.search('long-term', { text: 'car' }, { explain: true })
    expect(match).toMatchObject({ key: 'a', mode: 'hybrid' })
    expect(match?.signals?.meaning).toBeGreaterThan(0)
  })

  it('take nothing from what the words say', async () => {
    const { memory } = await memoryAt(temporaryRoot())
    await memory.write('long-term', 'a', 'The car would not start')
    await memory.write('long-term', 'b', 'The automobile would not start')
    const found = await memory.search('long-term', { text: 'car' }, { explain: true })
    expect(found.map(({ key }) => key)).toEqual(['a', 'b'])
    expect(found[0]?.signals?.meaning).toBeGreaterThan(0)
    expect(found[0]?.signals?.words).toBeGreaterThan(0)
  })

  it.each(['EROFS', 'EACCES', 'ENOSPC'])(
    'that cannot be kept (%s) leave the search by words, and it says so',
    async (code) => {
      const root = temporaryRoot()
      const writer = await openFileStore({ root, create: true })
      const filled = createMemoryManager({ stores: writer })
      await filled.write('long-term', 'a', 'The automobile would not start')
      await filled.search('long-term', { text: 'automobile' })
      await filled.close()
      const notices: string[] = []
      const { memory, embedder } = await memoryAt(root, conceptEmbedder(), {
        fileSystem: readOnlyFileSystem(code).fileSystem,
        onNotice: (text) => notices.push(text),
      })
      for (let i = 0; i < 2; i++) {
        const found = await memory.search('long-term', { text: 'automobile' })
        expect(found.map(({ key, mode }) => [key, mode])).toEqual([['a', 'lexical']])
      }
      expect(notices.filter((text) => text.includes('by words, not by meaning'))).toHaveLength(1)
      expect(embedder.asked.length).toBeLessThan(2)
      const { fileSystem } = readOnlyFileSystem(code)
      const store = await openFileStore({ root, embedder: conceptEmbedder(), fileSystem })
      await expect(store.embedRecent(Date.now())).resolves.toBe(0)
      await store.close()
    },
  )

  it('that the model does not make for one text leave the search by words and by the others, and it says so', async () => {
    const notices: string[] = []
    const model = conceptEmbedder()
    let refused = 0
    const embedder: Embedder & { asked: string[] } = {
      ...model,
      async embed(texts, mode) {
        const isRefused = mode === 'document' && texts.some((text) => text.includes('unspeakable'))
        if (!isRefused) return model.embed(texts, mode)
        refused++
        throw new MemoryError('the embedding server answered 400', MemoryErrorCode.UNAVAILABLE)
      },
    }
    const store = await openFileStore({
      root: temporaryRoot(),
      embedder,
      onNotice: (text) => notices.push(text),
    })
    let now = Date.now()
    const memory = createMemoryManager({ stores: store, embedder, clock: () => now })
    closeAfterwards(memory)
    await memory.write('long-term', 'a', 'The automobile would not start')
    expect(await keys(memory, 'car')).toEqual(['a'])
    await memory.write('short-term', 'b', 'something unspeakable')
    await memory.write('long-term', 'c', 'a puppy of the harbour')
    expect(await keys(memory, 'car')).toEqual(['a'])
    expect(await keys(memory, 'harbour')).toEqual(['c'])
    expect(notices).toEqual([
      expect.stringContaining('answered 400: passages without a vector are found by words'),
    ])
    expect(refused).toBe(1)
    await memory.delete('short-term', 'b')
    now += 60_000
    expect(await keys(memory, 'hound')).toEqual(['c'])
    await expect(store.vectors?.catchUp()).resolves.toMatchObject({ done: 0 })
  })
})
