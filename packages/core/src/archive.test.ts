import { describe, expect, it } from 'vitest'
import { createMemoryManager } from './create-memory-manager.ts'
import { createInMemoryStore } from './in-memory-store.ts'
import type { MemoryStore } from './memory-store.ts'

it.each(['delete', 'clear'] as const)(
  '%s leaves nothing that a clean-up archives meanwhile',
  async (call) => {
    const cold = createInMemoryStore({ cold: null })
    const stores = createInMemoryStore({ cold })
    const memory = createMemoryManager({ stores })
    const other = createMemoryManager({ stores })
    await memory.write('episodic', 'key', 'old')
    const { remove, removeAll } = cold
    let cleanUps = 0
    /** The entry is still there when its copy has just been looked for. */
    const thenCleanUp = async <T>(removed: T): Promise<T> => {
      if (cleanUps++ === 0) await other.cleanup({ archiveBefore: Number.MAX_SAFE_INTEGER })
      return removed
    }
    cold.remove = async (address) => thenCleanUp(await remove(address))
    cold.removeAll = async (selection) => thenCleanUp(await removeAll(selection))
    await (call === 'delete' ? memory.delete('episodic', 'key') : memory.clear('episodic'))
    expect(await memory.exists('episodic', 'key')).toBe(false)
    expect(await memory.restore('episodic', 'key')).toBe(false)
  },
)

it('archives nothing that was deleted while others were archived', async () => {
  const cold = createInMemoryStore({ cold: null })
  const memory = createMemoryManager({ stores: createInMemoryStore({ cold }) })
  for (const key of ['first', 'second']) await memory.write('episodic', key, key)
  const { put } = cold
  cold.put = async (entry, options) => {
    await put(entry, options)
    if (entry.key === 'first') await memory.delete('episodic', 'second')
  }
  const cleaned = await memory.cleanup({ scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER })
  expect(cleaned).toMatchObject({ archived: 1, errors: [] })
  expect(await memory.restore('episodic', 'second')).toBe(false)
})

it('keeps the only copy of an entry that another run is moving', async () => {
  const cold = createInMemoryStore({ cold: null })
  const stores = createInMemoryStore({ cold })
  const [memory, other] = [createMemoryManager({ stores }), createMemoryManager({ stores })]
  await memory.write('episodic', 'key', 'value')
  const old = { scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER } as const
  const { put } = cold
  const archived: number[] = []
  // The other run moves the entry when this one has copied it.
  cold.put = async (entry, options) => {
    await put(entry, options)
    cold.put = put
    archived.push((await other.cleanup(old)).archived)
  }
  archived.push((await memory.cleanup(old)).archived)
  expect(archived).toEqual([1, 0])
  expect(await memory.restore('episodic', 'key')).toBe(true)
  expect(await memory.read('episodic', 'key')).toBe('value')
})

describe('what is written and archived in one moment', () => {
  const old = { scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER } as const

  async function open() {
    const cold = createInMemoryStore({ cold: null })
    const stores = createInMemoryStore({ cold })
    const [memory, other] = [createMemoryManager({ stores }), createMemoryManager({ stores })]
    await memory.write('episodic', 'key', 'first')
    return {
      ...{ cold, stores, memory },
      async rewriteAndArchive(): Promise<void> {
        await other.write('episodic', 'key', 'second')
        expect(await other.cleanup(old)).toMatchObject({ archived: 1, errors: [] })
      },
      everything: async () =>
        (await memory.search('episodic', {}, { includeArchived: true })).map(({ value }) => value),
    }
  }

  it('is not replaced by an earlier version that a clean-up has read', async () => {
    const { cold, memory, rewriteAndArchive, everything } = await open()
    const { put } = cold
    cold.put = async (entry, options) => {
      cold.put = put
      await rewriteAndArchive()
      await put(entry, options)
    }
    expect((await memory.cleanup(old)).archived).toBe(0)
    expect(await everything()).toEqual(['second'])
  })

  it('is not removed with the outdated copy of a clean-up', async () => {
    const { cold, stores, memory, rewriteAndArchive, everything } = await open()
    const { get } = stores
    const { put } = cold
    cold.put = async (entry, options) => {
      await put(entry, options)
      cold.put = put
      await memory.write('episodic', 'key', 'meanwhile')
      stores.get = async (address, now) => {
        const entry = await get(address, now)
        stores.get = get
        await rewriteAndArchive()
        return entry
      }
    }
    expect((await memory.cleanup(old)).archived).toBe(0)
    expect(await everything()).toEqual(['second'])
  })

  it('is not removed with the copy that was restored', async () => {
    const { stores, memory, rewriteAndArchive, everything } = await open()
    await memory.cleanup(old)
    const { put } = stores
    stores.put = async (entry, options) => {
      await put(entry, options)
      stores.put = put
      await rewriteAndArchive()
    }
    expect(await memory.restore('episodic', 'key')).toBe(true)
    expect(await everything()).toEqual(['second'])
  })
})

it('reads every old entry once, a few at a time, however many of them stay', async () => {
  const sound = createInMemoryStore({
    cold: { ...createInMemoryStore(), accepts: ({ key }) => !/^stays/.test(key) },
  })
  const lengths: number[] = []
  const stores: MemoryStore = {
    ...sound,
    async find(query) {
      const found = await sound.find(query)
      lengths.push(found.length)
      return found
    },
  }
  const memory = createMemoryManager({ stores })
  for (let i = 0; i < 1000; i++) await memory.write('episodic', i % 5 === 0 ? `goes ${i}` : `stays ${i}`, i)
  const old = { scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER } as const
  for (const dryRun of [true, false]) {
    lengths.length = 0
    expect((await memory.cleanup({ ...old, dryRun })).archived).toBe(200)
    expect(Math.max(...lengths)).toBe(100)
    expect(lengths.reduce((sum, length) => sum + length)).toBe(1000)
  }
})

it('finds an entry once that is archived during the search', async () => {
  const stores = createInMemoryStore()
  const memory = createMemoryManager({ stores })
  await memory.write('episodic', 'key', 'value')
  const { find } = stores
  stores.find = async (query) => {
    const found = await find(query)
    stores.find = find
    await memory.cleanup({ scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER })
    return found
  }
  const found = await memory.search('episodic', {}, { includeArchived: true })
  expect(found.map(({ key }) => key)).toEqual(['key'])
})
