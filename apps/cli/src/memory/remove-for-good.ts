import { type Address, type Clock, createMemoryManager, memoryScopes } from '@recall/core'
import { addTombstones, defaultFileSystem, type FileStore, liftTombstones } from '@recall/store-file'
import { distinctAddresses } from './find-addresses.ts'

const atOnce = 1000

/** Removes memories for good, and keeps imports from bringing them back. */
export async function removeForGood(
  store: FileStore,
  found: readonly Address[],
  clock: Clock,
): Promise<void> {
  const addresses = distinctAddresses(found)
  if (addresses.length === 0) {
    // An earlier call may have been interrupted when only the rebuild of the index was left.
    if (store.hasTraces()) store.reindex({ full: true })
    return
  }
  const finish = store.beginErasure()
  // Tombstones come first: after a crash in between, memories still exist, but once removed none comes back.
  await addTombstones(defaultFileSystem, store, addresses, clock())
  for (const namespace of new Set(addresses.map((each) => each.namespace))) {
    const memory = createMemoryManager({ stores: store, namespace, clock })
    for (const scope of memoryScopes) {
      const here = addresses.filter((each) => each.namespace === namespace && each.scope === scope)
      // Of sections with the same heading, remove later ones first: each removal renumbers those after it.
      const keys = here.map(({ key }) => key).sort((a, b) => b.length - a.length || (a < b ? 1 : -1))
      for (let from = 0; from < keys.length; from += atOnce) {
        const deletes = keys.slice(from, from + atOnce).map((key) => ({ operation: 'delete' as const, key }))
        await memory.atomicUpdate(scope, deletes)
      }
    }
  }
  await liftTombstones(defaultFileSystem, store, addresses, clock())
  finish()
}
