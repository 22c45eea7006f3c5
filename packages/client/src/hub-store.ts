import {
  type Address,
  type ArchiveRun,
  type ColdStore,
  type Entry,
  type Found,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryStore,
  type Place,
  type PutOptions,
  type StoreQuery,
} from '@recall/core'
import { searchableText } from '@recall/core/json'
import { readTogether } from '@recall/core/stores'
import type { Send, Shape } from './http.ts'

/** A `MemoryStore` over an agent's private memory on the hub. */
export function createHubStore(send: Send): MemoryStore {
  return {
    name: 'hub',
    capabilities: { durable: true, semantic: true, archive: true },
    ...createShelf(send, false),
    cold: createArchive(send),
    close: async () => {},
  }
}

const createArchive = (send: Send): ColdStore => ({
  name: 'hub archive',
  ...createShelf(send, true),

  async archive({ namespace, scope, ...selection }) {
    const total: ArchiveRun = { archived: 0, errors: [] }
    const limit = selection.dryRun ? undefined : mostArchived
    for (;;) {
      const body = { namespace, ...selection, ...(limit === undefined ? {} : { limit }) }
      const { archived, errors } = await send<ArchiveRun>('POST', `private/${scope}/archive`, archiveRun, {
        body,
        repeatable: true,
      })
      total.archived += archived
      total.errors.push(...errors)
      if (limit === undefined || archived < limit) return total
    }
  },

  async restore({ namespace, scope, key }, now) {
    const answer = await send<{ restored: boolean }>(
      'POST',
      `private/${scope}/restore`,
      { restored: 'boolean' },
      // Not repeatable: after a first try that succeeded, it would find nothing in the archive.
      { body: { namespace, key, now }, repeatable: false },
    )
    return answer.restored
  },

  close: async () => {},
})

/** Most entries that one call archives. */
const mostArchived = 1000

/** Most keys that the hub reads in one call. */
const mostRead = 100

/** Most accesses that one call records: the longest keys then fit into its body. */
const mostTouched = 5000

/** Most entries that the hub returns to one call. A page of entries and archive together may need more. */
const mostFound = 1000

const done: Shape = { success: 'boolean' }
const counted: Shape = { removed: 'number' }
const oneEntry: Shape = { entry: 'object or null' }
const archiveRun: Shape = { archived: 'number', errors: 'list' }
const severalEntries: Shape = { entries: 'list' }

type Shelf = Omit<MemoryStore, 'name' | 'capabilities' | 'close'>

function createShelf(send: Send, archived: boolean): Shelf {
  const call = <T>(
    operation: string,
    place: Place,
    body: object,
    shape: Shape,
    repeatable: boolean,
  ): Promise<T> =>
    send<T>('POST', `private/${place.scope}/${operation}`, shape, {
      body: { ...body, namespace: place.namespace, archived },
      repeatable,
    })

  const read = async (place: Place, keys: readonly string[], now: number): Promise<(Entry | null)[]> => {
    const [key, ...others] = keys
    if (others.length === 0)
      return [(await call<{ entry: Entry | null }>('get', place, { key, now }, oneEntry, true)).entry]
    const entries = await unlessTooLarge(keys.length, async () => {
      const body = { keys, now }
      return (await call<{ entries: (Entry | null)[] }>('get-many', place, body, severalEntries, true))
        .entries
    })
    if (entries !== tooLarge) return oneForEach(keys, entries)
    const half = Math.ceil(keys.length / 2)
    return [...(await read(place, keys.slice(0, half), now)), ...(await read(place, keys.slice(half), now))]
  }

  return {
    async put(entry: Entry, { overwrite, now }: PutOptions) {
      // Without overwriting, not repeatable: a retry would conflict with the entry of the first try.
      await call('put', entry, { entry: wireEntry(entry), overwrite, now }, done, overwrite)
    },

    get: readTogether(mostRead, read),

    async find({ namespace, scope, ...query }: StoreQuery) {
      const all: Found[] = []
      let most = mostFound
      for (;;) {
        const limit = Math.min(most, query.limit - all.length)
        const page = { ...query, limit, offset: query.offset + all.length }
        const found = await unlessTooLarge(limit, async () => {
          const answer = await call<{ found: Found[] }>(
            'find',
            { namespace, scope },
            page,
            { found: 'list' },
            true,
          )
          return answer.found
        })
        if (found === tooLarge) most = Math.ceil(limit / 2)
        else {
          all.push(...found)
          if (found.length < limit || all.length === query.limit) return all
        }
      }
    },

    async touch(addresses, now) {
      const keys = addresses.map(({ key }) => key)
      for (let i = 0; i < keys.length; i += mostTouched)
        await call(
          'touch',
          addresses[0] as Address,
          { keys: keys.slice(i, i + mostTouched), now },
          done,
          false,
        )
    },

    async remove(address) {
      const { removed } = await call<{ removed: boolean }>(
        'remove',
        address,
        { key: address.key },
        { removed: 'boolean' },
        true,
      )
      return removed
    },

    async removeAll({ namespace, scope, ...selection }) {
      const { removed } = await call<{ removed: number }>(
        'remove-all',
        { namespace, scope },
        selection,
        counted,
        true,
      )
      return removed
    },

    async commit(changes) {
      const [first] = changes
      if (!first) return
      const place = 'put' in first ? first.put : first.remove
      const now = changes.flatMap((change) => ('put' in change ? [change.options.now] : []))[0]
      const repeatable = changes.every(
        (change) => !change.expected && (!('put' in change) || change.options.overwrite),
      )
      const wire = changes.map((change) => ({
        ...('put' in change
          ? { put: wireEntry(change.put), overwrite: change.options.overwrite }
          : { remove: change.remove.key }),
        ...(change.expected ? { expected: change.expected } : {}),
      }))
      await call('commit', place, { changes: wire, ...(now === undefined ? {} : { now }) }, done, repeatable)
    },

    async sweep({ namespace, scope, now, dryRun }) {
      const { removed } = await call<{ removed: number }>(
        'sweep',
        { namespace, scope },
        { now, dryRun },
        counted,
        true,
      )
      return removed
    },

    stats: (place) => call('stats', place, {}, { entries: 'number', bytes: 'number' }, true),

    async stamp(address) {
      const { stamp } = await call<{ stamp: string | null }>(
        'stamp',
        address,
        { key: address.key },
        { stamp: 'string or null' },
        true,
      )
      return stamp
    },
  }
}

/** A shorter answer would make existing memories look absent. */
function oneForEach(keys: readonly string[], entries: (Entry | null)[]): (Entry | null)[] {
  if (entries.length === keys.length) return entries
  throw new MemoryError(
    `the hub gave ${entries.length} entries for ${keys.length} keys: is it a Recall hub?`,
    MemoryErrorCode.UNAVAILABLE,
  )
}

const tooLarge = Symbol('too large')

/** The result of a call for several entries, or `tooLarge` when they are more than the hub puts into one answer. */
async function unlessTooLarge<T>(entries: number, ask: () => Promise<T>): Promise<T | typeof tooLarge> {
  try {
    return await ask()
  } catch (error) {
    if (entries > 1 && isMemoryError(error, MemoryErrorCode.QUOTA_EXCEEDED)) return tooLarge
    throw error
  }
}

/**
 * An entry without scope and namespace, which are sent once for the whole call, and without its text if that follows
 * from the value: the hub derives the same one, and a large value would fill the body twice.
 */
const wireEntry = ({ scope: _, namespace: __, text, embedding, ...entry }: Entry) => ({
  ...entry,
  ...(text === searchableText(entry.value) ? {} : { text }),
  embedding: embedding && {
    model: embedding.model,
    vector: shortened(embedding.vector),
    ...(embedding.units ? { units: embedding.units.map(shortened) } : {}),
  },
})

/** The numbers of a vector with the eight digits that the hub keeps: half the length of the full numbers. */
const shortened = (vector: readonly number[]): number[] => vector.map((each) => Number(each.toPrecision(8)))
