import { describe, expect, it, vi } from 'vitest'
import { createConceptEmbedder } from '../conformance/concept-embedder.ts'
import { MemoryErrorCode } from '../errors.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createMemoryManager } from './create-memory-manager.ts'

describe('the vectors of a memory', () => {
  it('keeps a vector of each unit, and their normalised sum for the whole', async () => {
    const stores = createInMemoryStore()
    const vectors = [Float32Array.of(1, 0), Float32Array.of(0, 1)]
    const embedder = { model: 'm', dimensions: 2, embed: async () => vectors }
    const memory = createMemoryManager({ stores, embedder })
    const vectorAfter = async (): Promise<unknown> => {
      await memory.write('long-term', 'key', 'word '.repeat(400))
      const address = { namespace: 'default', scope: 'long-term', key: 'key' } as const
      return (await stores.get(address, 0))?.embedding
    }
    const half = expect.closeTo(Math.SQRT1_2, 6)
    const kept = { model: 'm', vector: [half, half], units: [[1, 0], [0, 1]] } // biome-ignore format: vectors
    expect(await vectorAfter()).toEqual(kept)
    vectors[1] = Float32Array.of(-1, 0)
    expect(await vectorAfter()).toMatchObject({ vector: [0, 0] })
  })

  it('gives a failure of the embedder a code', async () => {
    const cause = new TypeError('fetch failed')
    const embedder = { model: 'm', dimensions: 1, embed: () => Promise.reject(cause) }
    const memory = createMemoryManager({ stores: createInMemoryStore(), embedder })
    const failed = { code: MemoryErrorCode.WRITE_FAILED, scope: 'long-term', cause }
    await expect(memory.write('long-term', 'key', 'text')).rejects.toMatchObject(failed)
    const writes = [{ key: 'key', value: 'text' }]
    await expect(memory.batchWrite('long-term', writes)).rejects.toMatchObject(failed)
  })

  it('embeds what is stored after redaction and once for each write and search', async () => {
    const embedder = createConceptEmbedder()
    const embed = vi.spyOn(embedder, 'embed')
    const memory = createMemoryManager({ stores: createInMemoryStore(), embedder })
    await memory.write('long-term', 'car', 'the car of ada, password=hunter22')
    await memory.write('long-term', 'quiet', 'not indexed', { index: false })
    await memory.write('long-term', 'wordless', { count: 42 })
    await memory.search('long-term', { text: 'vehicle' })
    await memory.search('long-term', { tags: ['none'] })
    expect(embed.mock.calls).toEqual([
      [['the car of ada, password=[redacted:password]'], 'document'],
      [['vehicle'], 'query'],
    ])
  })

  it('embeds the texts of a batch together, as many at once as the embedder handles well', async () => {
    const embedder = { ...createConceptEmbedder(), maxBatch: 2 }
    const embed = vi.spyOn(embedder, 'embed')
    const memory = createMemoryManager({ stores: createInMemoryStore(), embedder })
    const found = async (text: string) => (await memory.search('long-term', { text }))[0]?.value
    await memory.batchWrite('long-term', [
      { key: 'car', value: 'a car' },
      { key: 'own', value: 'an owl', options: { embedding: [0, 0, 0, 1, 0] } },
      { key: 'quiet', value: 'not indexed', options: { index: false } },
      { key: 'dog', value: 'a dog' },
      { key: 'doctor', value: 'a doctor' },
    ])
    expect(embed.mock.calls.map(([texts]) => texts)).toEqual([['a car', 'a dog'], ['a doctor']])
    expect([await found('puppy'), await found('clinic'), await found('storm')]).toEqual([
      'a dog',
      'a doctor',
      'an owl',
    ])
    embed.mockClear()
    await memory.atomicUpdate('long-term', [
      { operation: 'set', key: 'car', value: 'the hound' },
      { operation: 'delete', key: 'dog' },
      { operation: 'set', key: 'doctor', value: 'an engine' },
    ])
    expect(embed.mock.calls.map(([texts]) => texts)).toEqual([['the hound', 'an engine']])
    expect([await found('puppy'), await found('vehicle')]).toEqual(['the hound', 'an engine'])
  })

  it('takes a vector as models give it, in a write, a batch and a search', async () => {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    const embedding = new Float32Array([1, 0])
    const options = { embedding }
    await memory.write('long-term', 'east', 1, options)
    await memory.batchWrite('long-term', [{ key: 'south', value: 1, options: { embedding: [0, -1] } }])
    await memory.atomicUpdate('long-term', [{ operation: 'set', key: 'also', value: 1, options }])
    const found = await memory.search('long-term', { embedding }, { minScore: 0.9 })
    expect(found.map(({ key }) => key).sort()).toEqual(['also', 'east'])
    for (const wrong of [new Float32Array(), new Float32Array([Number.NaN]), new BigInt64Array(2)])
      await expect(memory.search('long-term', { embedding: wrong as Float32Array })).rejects.toMatchObject({
        code: MemoryErrorCode.INVALID_INPUT,
        message: expect.stringContaining('query.embedding'),
      })
  })

  it('refuses a vector of its own that has another length than those of its embedder', async () => {
    const memory = createMemoryManager({ stores: createInMemoryStore(), embedder: createConceptEmbedder() })
    const write = memory.write('long-term', 'car', 'a car', { embedding: [1, 0, 0] })
    await expect(write).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
    expect(await memory.search('long-term', { text: 'vehicle' })).toEqual([])
  })

  it('finds by no vector what is not indexed', async () => {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    await memory.write('long-term', 'hidden', 1, { embedding: [1, 0], index: false })
    expect(await memory.search('long-term', { embedding: [1, 0] })).toEqual([])
  })

  it('refuses to compare vectors of two models', async () => {
    const stores = createInMemoryStore()
    const first = createMemoryManager({ stores, embedder: createConceptEmbedder() })
    await first.write('long-term', 'car', 'a car')
    const second = createMemoryManager({
      stores,
      embedder: { ...createConceptEmbedder(), model: 'concepts-v2' },
    })
    await expect(second.search('long-term', { text: 'car' })).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
    })
  })

  it.each([
    ['model', ''],
    ['dimensions', 0],
    ['dimensions', Number.NaN],
    ['dimensions', 16_001],
    ['maxTokens', 0.5],
    ['maxBatch', 0],
    ['maxBatch', Number.NaN],
  ])('refuses an embedder with a wrong %s: %s', (member, value) => {
    const embedder = { ...createConceptEmbedder(), [member]: value }
    const open = (): unknown => createMemoryManager({ stores: createInMemoryStore(), embedder })
    expect(open).toThrow(expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }))
    expect(open).toThrow(new RegExp(`^options.embedder.${member}: `))
  })

  it('takes an embedder whose members are those of its class', () => {
    class Concepts {
      embed = createConceptEmbedder().embed
      get model() {
        return 'm'
      }
      get dimensions() {
        return 16_000
      }
    }
    const embedder = new Concepts()
    expect(() => createMemoryManager({ stores: createInMemoryStore(), embedder })).not.toThrow()
  })
})
