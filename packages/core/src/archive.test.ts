import { expect, it } from 'vitest'
import { createMemoryManager } from './create-memory-manager.ts'
import { createInMemoryStore } from './in-memory-store.ts'

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
