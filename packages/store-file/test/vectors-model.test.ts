import { MemoryErrorCode } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { conceptEmbedder, keys, memoryAt } from './support/memory-with-vectors.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('vectors of files', () => {
  it('of a model with an endless name are refused, not made anew for ever', async () => {
    const { memory } = await memoryAt(temporaryRoot(), conceptEmbedder('m'.repeat(300)))
    await memory.write('long-term', 'a', 'The automobile would not start')
    await expect(keys(memory, 'car')).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
  })

  it('of another model are refused until they are made anew', async () => {
    const root = temporaryRoot()
    const first = await memoryAt(root)
    await first.memory.write('long-term', 'a', 'A storm')
    await keys(first.memory, 'rain')
    await first.memory.close()
    const second = await memoryAt(root, conceptEmbedder('others'))
    await expect(keys(second.memory, 'rain')).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
      message: expect.stringMatching(/'recall reindex --model' .*, in a program 'store.vectors.reset\(\)'/),
    })
    second.store.vectors?.reset()
    expect(await keys(second.memory, 'rain')).toEqual(['a'])
    expect(second.store.vectors?.coverage()).toEqual({ model: 'others', embedded: 1, total: 1 })
  })

  it('made anew by another handle, with another model, are not mixed with those of before', async () => {
    const root = temporaryRoot()
    const one = await memoryAt(root)
    await one.memory.write('long-term', 'a', 'A storm')
    expect(await keys(one.memory, 'rain')).toEqual(['a'])
    const other = await memoryAt(root, conceptEmbedder('others'))
    other.store.vectors?.reset()
    expect(await keys(other.memory, 'rain')).toEqual(['a'])
    await one.memory.write('long-term', 'b', 'A puppy')
    await expect(keys(one.memory, 'rain')).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
    expect(await keys(other.memory, 'hound')).toEqual(['b'])
    expect(other.store.vectors?.coverage()).toEqual({ model: 'others', embedded: 2, total: 2 })
  })
})
