import { messageOf } from '../errors.ts'
import type { CleanupOptions, CleanupResult } from '../memory-manager.ts'
import type { MemoryStore, Place } from '../memory-store.ts'
import type { MemoryScope } from '../scope.ts'
import { evictLeastRecent } from './eviction.ts'
import { evictedScope } from './quotas.ts'
import { archiveAfter, archivedScope } from './with-archive.ts'

export interface CleanupRun extends Required<Pick<CleanupOptions, 'dryRun' | 'threshold'>> {
  scopes: readonly MemoryScope[]
  stores: Readonly<Record<MemoryScope, MemoryStore>>
  namespace: string
  quotas: Readonly<Record<MemoryScope, number>>
  archiveBefore?: number | undefined
  now: number
}

/** One clean-up. A step that fails is listed and the next one goes on. */
export async function cleanUp(run: CleanupRun): Promise<Omit<CleanupResult, 'duration'>> {
  const { stores, namespace, now, dryRun } = run
  const result: Omit<CleanupResult, 'duration'> = { deleted: 0, archived: 0, errors: [] }
  const step = async (scope: MemoryScope, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      result.errors.push({ scope, message: messageOf(error) })
    }
  }
  for (const scope of run.scopes) {
    const store = stores[scope]
    const place: Place = { namespace, scope }
    await step(scope, async () => {
      result.deleted += await store.sweep({ ...place, now, dryRun })
    })
    const cold = store.cold
    if (cold) {
      await step(scope, async () => {
        result.deleted += await cold.sweep({ ...place, now, dryRun })
      })
    }
    if (run.threshold > 0 && scope === evictedScope && Number.isFinite(run.quotas[scope])) {
      await step(scope, async () => {
        const target = run.threshold * run.quotas[scope]
        result.deleted += await evictLeastRecent(store, place, target, { now, dryRun })
      })
    }
    if (cold && scope === archivedScope) {
      await step(scope, async () => {
        const before = run.archiveBefore ?? now - archiveAfter
        const { archived, errors } = await cold.archive({ ...place, before, now, dryRun })
        result.archived += archived
        result.errors.push(...errors.map((each) => ({ scope, ...each })))
      })
    }
  }
  return result
}
