import { isMemoryError, type MemoryScope, memoryScopes } from '@recall/core'
import type { FileStore } from '@recall/store-file'
import { everyNamespace } from './every-entry.ts'

/**
 * Removes what has expired, which no call finds any more, from every namespace and scope, archived entries included.
 * Episodes are not archived by age: that needs a request.
 *
 * @returns how many entries were removed, and why others could not be
 */
export async function removeExpired(
  store: FileStore,
  now: number,
): Promise<{ removed: number; problems: string[] }> {
  const problems = new Set<string>()
  let removed = 0
  const unlessRefused = async <T>(call: () => T | Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await call()
    } catch (error) {
      if (!isMemoryError(error)) throw error
      problems.add(error.message)
      return otherwise
    }
  }
  const sweep = async (namespace: string, scope: MemoryScope): Promise<void> => {
    const selection = { namespace, scope, now, dryRun: false }
    removed += await unlessRefused(() => store.sweep(selection), 0)
    removed += await unlessRefused(() => store.cold?.sweep(selection) ?? 0, 0)
  }
  const indexed = new Set(['default', ...store.index.query((current) => current.namespaces())])
  // An archived entry that cannot be read hides the name of its namespace.
  for (const namespace of await unlessRefused(() => everyNamespace(store), [...indexed]))
    for (const scope of memoryScopes) await sweep(namespace, scope)
  return { removed, problems: [...problems] }
}
