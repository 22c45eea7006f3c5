import { expect, it, vi } from 'vitest'
import { temporaryRoot } from '../test/support/temporary-root.ts'
import { openFileMemory } from './open-file-memory.ts'

const stores = vi.hoisted(() => ({ opened: 0, closed: 0 }))

vi.mock('./file-store.ts', async (original) => {
  const real = await original<typeof import('./file-store.ts')>()
  const createFileStore: typeof real.createFileStore = (options) => {
    const store = real.createFileStore(options)
    stores.opened++
    return {
      ...store,
      async close() {
        stores.closed++
        await store.close()
      },
    }
  }
  return { ...real, createFileStore }
})

it('closes the store when no memory can be made of it', async () => {
  const embedder = {
    model: 'forgetful',
    get dimensions(): number {
      return stores.opened > 0 ? Number.NaN : 4
    },
    embed: async () => [],
  }
  await expect(openFileMemory({ root: temporaryRoot(), embedder })).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
  })
  expect(stores).toEqual({ opened: 1, closed: 1 })
})
