import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { openMemory } from '../../test/open-memory.ts'
import { MemoryErrorCode } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { recordOutcome } from './statistics.ts'

describe('recordOutcome', () => {
  it('keeps the mean of all outcomes where filters and metadata see it', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'p', { type: 'playbook', steps: ['a'] }, { tags: ['web'] })
    await recordOutcome(memory, 'p', 'success')
    await recordOutcome(memory, 'p', 'failure')
    expect(await recordOutcome(memory, 'p', 'partial')).toEqual({ successRate: 0.5, uses: 3 })
    const [match] = await memory.search('long-term', {
      tags: ['web'],
      filters: { successRate: { gte: 0.5 }, type: 'playbook' },
    })
    expect(match?.value).toEqual({ type: 'playbook', steps: ['a'], successRate: 0.5, uses: 3 })
    expect(match?.metadata.successRate).toBe(0.5)
  })

  it('counts a rate that came with the value as one outcome', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'p', { type: 'playbook', successRate: 0.9 })
    expect(await recordOutcome(memory, 'p', 'failure')).toEqual({ successRate: 0.45, uses: 2 })
  })

  it('leaves an entry to be found by its own text and vector', async () => {
    const { memory } = openMemory()
    const options = { text: 'crawl a site', embedding: [0.6, 0.8] }
    await memory.write('long-term', 'p', { type: 'pattern' }, options)
    await recordOutcome(memory, 'p', 'success')
    expect(await memory.search('long-term', { embedding: [0.6, 0.8] })).toMatchObject([{ key: 'p' }])
    expect(await memory.search('long-term', { text: 'crawl' })).toMatchObject([{ key: 'p' }])
  })

  it('counts the outcomes of several processes at once', async () => {
    const { memory, stores } = openMemory()
    const other = createMemoryManager({ stores })
    const outcomes = Array.from({ length: 16 }, (_, i) =>
      recordOutcome(i % 2 ? memory : other, 'tool', i % 4 ? 'success' : 'failure'),
    )
    await Promise.all(outcomes)
    expect(await memory.read('long-term', 'tool')).toEqual({ type: 'statistic', successRate: 0.75, uses: 16 })
  })

  it('counts all outcomes of one process at once, also after one that fails', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'text', 'just text')
    const refused = recordOutcome(memory, 'text', 'success')
    const outcomes = Array.from({ length: 200 }, () => recordOutcome(memory, 'tool', 'success'))
    await expect(refused).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    await memory.delete('long-term', 'text')
    await Promise.all([...outcomes, recordOutcome(memory, 'text', 'success')])
    expect(await memory.read('long-term', 'tool')).toMatchObject({ uses: 200 })
    expect(await memory.read('long-term', 'text')).toMatchObject({ uses: 1 })
  })

  it.each([z.object({ name: z.string() }), z.strictObject({ name: z.string() })])(
    'is refused where the schema of the value keeps no rate',
    async (schema) => {
      const memory = createMemoryManager({
        stores: createInMemoryStore(),
        schemas: { 'long-term': { profile: schema } },
      })
      await memory.write('long-term', 'profile', { name: 'Ada' })
      await expect(recordOutcome(memory, 'profile', 'success')).rejects.toMatchObject({
        code: MemoryErrorCode.INVALID_INPUT,
      })
      expect(await memory.read('long-term', 'profile')).toEqual({ name: 'Ada' })
    },
  )

  it('says which outcomes there are', async () => {
    const { memory } = openMemory()
    await expect(recordOutcome(memory, 'tool', 'succes' as never)).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringMatching(/^outcome: .*"success"\|"partial"\|"failure"/),
    })
    expect(await memory.exists('long-term', 'tool')).toBe(false)
  })

  it('refuses a value that cannot carry a rate', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'text', 'just text')
    await expect(recordOutcome(memory, 'text', 'success')).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
    })
    expect(await memory.read('long-term', 'text')).toBe('just text')
  })
})
