import type { Clock } from '../clock.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { AtomicUpdate, BatchWrite, WriteOptions } from '../memory-manager.ts'
import type { Address, Change, Entry, MemoryStore, Place } from '../memory-store.ts'
import { parseInput } from '../parse-input.ts'
import { withoutKnownSecrets } from '../redaction/redact.ts'
import type { MemoryScope } from '../scope.ts'
import type { Draft, EntryFactory } from './entry-factory.ts'
import { batchSchema, updatesSchema } from './inputs.ts'
import type { WithinQuota } from './quotas.ts'
import { commitWithArchived } from './with-archive.ts'

/** The writes of a memory, each within the quota of its scope. */
export interface Writing {
  write(store: MemoryStore, address: Address, value: unknown, options?: WriteOptions): Promise<void>
  /** All of them or none. */
  writeAll(store: MemoryStore, place: Place, writes: readonly BatchWrite[]): Promise<void>
  /** All of them or none. */
  update(store: MemoryStore, place: Place, updates: readonly AtomicUpdate[]): Promise<void>
  /** Takes an entry back from the store's archive. False when it is not there. */
  restore(store: MemoryStore, address: Address): Promise<boolean>
}

type SetUpdate = Extract<AtomicUpdate, { operation: 'set' }>

export interface WritingOptions {
  entries: EntryFactory
  withinQuota: Record<MemoryScope, WithinQuota>
  clock: Clock
}

export function createWriting({ entries, withinQuota, clock }: WritingOptions): Writing {
  const draft = (
    store: MemoryStore,
    place: Place,
    { key, value, options, ifUpdatedAt: seen, keepOptions }: SetUpdate,
    now: number,
  ): Promise<Draft> => {
    const address = { ...place, key }
    // Options of any version but `seen` do not matter: the store refuses such an update.
    const earlier = async (): Promise<Entry | null> => {
      const present = await store.get(address, now)
      return present?.updatedAt === seen ? present : null
    }
    // Always later than the version it replaces: of two such updates in one millisecond, the second is refused.
    const at = seen === undefined ? now : Math.max(now, seen + 1)
    return entries.draft(store, address, value, options, { now: at, ...(keepOptions ? { earlier } : {}) })
  }

  /** One change for each update, in their order. */
  const toChanges = async (
    store: MemoryStore,
    place: Place,
    updates: readonly AtomicUpdate[],
    now: number,
  ): Promise<Change[]> => {
    // All values are copied before the first wait, because the caller may change them afterwards.
    const drafts = await Promise.all(
      updates.flatMap((update) => (update.operation === 'set' ? draft(store, place, update, now) : [])),
    )
    const made = (await entries.embed(drafts)).values()
    return updates.map((update): Change => {
      const seen = update.ifUpdatedAt
      const expected = seen === undefined ? {} : { expected: { updatedAt: seen } }
      if (update.operation === 'delete') return { remove: { ...place, key: update.key }, ...expected }
      const put = made.next().value as Entry
      return { put, options: { overwrite: update.options?.overwrite ?? true, now }, ...expected }
    })
  }

  const commit = async (
    store: MemoryStore,
    place: Place,
    updates: readonly AtomicUpdate[],
  ): Promise<void> => {
    const { scope } = place
    const now = clock()
    refuseRepeated(updates, scope)
    const changes = await toChanges(store, place, updates, now)
    const puts = changes.flatMap((change) => ('put' in change ? change.put : []))
    const removed = changes.flatMap((change) => ('put' in change ? [] : change.remove))
    await withinQuota[scope](puts, removed, () => commitWithArchived(store, place, changes, now))
  }

  return {
    async write(store, address, value, given) {
      const now = clock()
      // Before the first wait, because the caller may change the options afterwards.
      const putOptions = { overwrite: given?.overwrite ?? true, now }
      const draft = await entries.draft(store, address, value, given, { now })
      const [entry] = (await entries.embed([draft])) as [Entry]
      await withinQuota[address.scope]([entry], [], () => store.put(entry, putOptions))
    },

    async writeAll(store, place, writes) {
      const given = parseInput(batchSchema, writes, 'writes') as BatchWrite[]
      const updates = given.map((write) => ({ ...write, operation: 'set' as const }))
      await commit(store, place, updates)
    },

    async update(store, place, updates) {
      await commit(store, place, parseInput(updatesSchema, updates, 'updates') as AtomicUpdate[])
    },

    async restore({ cold }, address) {
      const entry = await cold?.get(address, clock())
      if (!cold || !entry) return false
      return withinQuota[address.scope]([entry], [], () => cold.restore(address, clock()))
    },
  }
}

function refuseRepeated(updates: readonly AtomicUpdate[], scope: MemoryScope): void {
  const seen = new Set<string>()
  for (const { key } of updates) {
    if (seen.has(key)) throw repeated(key, scope)
    seen.add(key)
  }
}

function repeated(key: string, scope: MemoryScope): MemoryError {
  // The key has not been checked for secrets yet.
  const told = withoutKnownSecrets(key)
  return new MemoryError(
    `'${told}' is in the batch more than once: give only its last value`,
    MemoryErrorCode.INVALID_INPUT,
    { scope, ...(told === key ? { key } : {}) },
  )
}
