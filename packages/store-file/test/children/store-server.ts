import { type ColdStore, isMemoryError, type MemoryStore } from '@recall/core'
import { openFileStore } from '../../src/open-file-memory.ts'

/**
 * Serves a store over IPC: `{ id, name, given }` is answered with `{ id, value }` or `{ id, error }`. The call
 * `open` comes first; after `close` another root may be opened.
 */
let store: MemoryStore | undefined

async function open(root: string): Promise<MemoryStore['capabilities']> {
  store = await openFileStore({ root })
  return store.capabilities
}

type Method = (...args: unknown[]) => Promise<unknown>

interface Call {
  id: number
  /** `cold.find` is a call of the cold store. */
  name: string
  given: unknown[]
}

process.on('message', async ({ id, name, given }: Call) => {
  try {
    const [first, second] = name.split('.') as [keyof MemoryStore | 'open', (keyof ColdStore)?]
    const call = (first === 'open' ? open : second ? store?.cold?.[second] : store?.[first]) as Method
    process.send?.({ id, value: await call(...given) })
  } catch (error) {
    if (!isMemoryError(error)) throw error
    const { message, code, scope, key, details } = error
    process.send?.({ id, error: { message, code, scope, key, details } })
  }
})
