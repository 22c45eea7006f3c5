import fc from 'fast-check'
import type {
  CleanupOptions,
  ClearFilter,
  MemoryManager,
  SearchOptions,
  SearchQuery,
  WriteOptions,
} from '../memory-manager.ts'
import { type MemoryScope, memoryScopes } from '../scope.ts'
import { document, filterOn } from './filter-arbitraries.ts'

/** One call, to be made on any memory. */
export interface Call {
  /** Milliseconds that pass before it. */
  wait: number
  make(memory: MemoryManager, now: number): Promise<unknown>
  [fc.toStringMethod](): string
}

type Arbitraries<T> = { [Name in keyof T]: fc.Arbitrary<T[Name]> }

const anyOf = <T>(members: Arbitraries<T>): fc.Arbitrary<Partial<T>> =>
  fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>

const day = 24 * 60 * 60 * 1000

// Few values of everything, so that calls often meet what earlier calls left.
const scope = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<MemoryScope>('short-term', 'episodic') },
  { weight: 1, arbitrary: fc.constantFrom(...memoryScopes) },
)
const key = fc.constantFrom('a', 'of two words')
const word = fc.constantFrom('harbour', 'lighthouse', 'cable', 'anchor')
const sentence = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
const tags = fc.subarray(['red', 'Red', 'green'])
const type = fc.constantFrom('note', 'playbook')
/** How many milliseconds ago a time was. */
const age = fc.constantFrom(0, 1, 2, 1000, day)

const found = { tags, type, ttl: fc.constantFrom(day, 200 * day, Number.POSITIVE_INFINITY) }
const writeOptions = fc.oneof(
  {
    weight: 6,
    arbitrary: anyOf<WriteOptions>({
      ...found,
      text: sentence,
      index: fc.boolean(),
      overwrite: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: anyOf<WriteOptions>({ ...found, encrypt: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.constantFrom<WriteOptions>({ ttl: -1 }, { encrypt: true, text: 'harbour' }) },
)
const write = fc.record({ key, value: fc.oneof(sentence, document), options: writeOptions })
const update = fc.oneof(
  write.map((given) => ({ operation: 'set' as const, ...given })),
  fc.record({ operation: fc.constant('delete'), key }),
)
const listQuery: fc.Arbitrary<SearchQuery> = fc.oneof(
  anyOf<SearchQuery>({ tags: fc.subarray(['red', 'green'], { maxLength: 1 }) }),
  anyOf<SearchQuery>({ filters: filterOn }),
)
const query = fc.oneof(
  { weight: 2, arbitrary: listQuery },
  { weight: 1, arbitrary: fc.record({ text: sentence }) },
)
// Not by relevance: two stores may weigh a word a little differently.
const sortBy = fc.constantFrom<SearchOptions['sortBy'] & string>('recency', 'accessCount')
const includeArchived = fc.constantFrom(true, true, false)
const readOptions = fc.record({ includeMetadata: fc.boolean(), includeArchived })
const searchOptions = anyOf<SearchOptions>({
  limit: fc.constantFrom(1, 2, 1000),
  offset: fc.nat(2),
  sortOrder: fc.constantFrom('asc', 'desc'),
  touch: fc.boolean(),
  includeArchived,
})
const clearFilter = anyOf<ClearFilter>({ tags, type })
const cleanupOptions = anyOf<CleanupOptions>({
  scope,
  dryRun: fc.boolean(),
  threshold: fc.constantFrom(0, 0.3, 1),
})

function call<T>(
  weight: number,
  name: keyof MemoryManager,
  given: Arbitraries<T>,
  make: (memory: MemoryManager, given: T, now: number) => Promise<unknown>,
): fc.WeightedArbitrary<Call> {
  const wait = fc.oneof({ weight: 12, arbitrary: fc.constant(1) }, fc.constantFrom(1000, day, 91 * day))
  const arbitrary = fc.tuple(wait, fc.record(given) as fc.Arbitrary<T>).map(
    ([wait, each]): Call => ({
      wait,
      make: (memory, now) => make(memory, each, now),
      [fc.toStringMethod]: () => `${String(name)} ${fc.stringify(each)} after ${wait} ms`,
    }),
  )
  return { weight, arbitrary }
}

const few = { maxLength: 3 }

/** A query by text; `rest`, used without the text, lists every entry that the query may find. */
export const anyTextQuery = fc.record({ scope, text: sentence, rest: listQuery })

/** Any call with any arguments that mean the same to every store, and some that are refused. */
export const anyCall: fc.Arbitrary<Call> = fc.oneof(
  call(10, 'write', { scope, write }, (memory, { scope, write: { key, value, options } }) =>
    memory.write(scope, key, value, options),
  ),
  call(5, 'read', { scope, key, options: readOptions }, (memory, { scope, key, options }) =>
    memory.read(scope, key, options),
  ),
  call(4, 'search', { scope, query, sortBy, searchOptions }, async (memory, given) => {
    const options = { ...given.searchOptions, sortBy: given.sortBy }
    const matches = await memory.search(given.scope, given.query, options)
    return matches.map(({ key, value, metadata, archived }) => ({ key, value, metadata, archived }))
  }),
  call(1, 'delete', { scope, key }, (memory, { scope, key }) => memory.delete(scope, key)),
  call(1, 'exists', { scope, key }, (memory, { scope, key }) => memory.exists(scope, key)),
  call(3, 'restore', { scope, key }, (memory, { scope, key }) => memory.restore(scope, key)),
  call(1, 'clear', { scope, clearFilter, age: fc.option(age) }, (memory, { scope, clearFilter, age }, now) =>
    memory.clear(scope, age === null ? clearFilter : { ...clearFilter, olderThan: now - age }),
  ),
  call(3, 'cleanup', { cleanupOptions, age: fc.option(age) }, async (memory, given, now) => {
    const before = given.age === null ? {} : { archiveBefore: now - given.age }
    const { deleted, archived, errors } = await memory.cleanup({ ...given.cleanupOptions, ...before })
    return { deleted, archived, errors }
  }),
  call(1, 'batchRead', { scope, keys: fc.array(key, few) }, async (memory, { scope, keys }) => {
    const found = await memory.batchRead(scope, keys)
    return keys.map((key) => found.get(key))
  }),
  call(2, 'batchWrite', { scope, writes: fc.array(write, few) }, (memory, { scope, writes }) =>
    memory.batchWrite(scope, writes),
  ),
  call(2, 'atomicUpdate', { scope, updates: fc.array(update, few) }, (memory, { scope, updates }) =>
    memory.atomicUpdate(scope, updates),
  ),
  call(1, 'atomicUpdate', { scope, update, age }, (memory, { scope, update, age }, now) =>
    memory.atomicUpdate(scope, [{ ...update, ifUpdatedAt: now - age }]),
  ),
)
