import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { createInMemoryStore, createMemoryManager, type Entry, type MemoryStore } from '@recall/core'
import { createMemoryCache } from '@recall/core/protocol'
import { openFileStore } from '@recall/store-file'
import { LRUCache } from 'lru-cache'
import type { Row } from '../report.ts'
import { median } from '../statistics.ts'

export interface ProtocolOptions {
  rounds: number
  say: (text: string) => void
}

/** Calls whose times are summed up to one figure. */
const calls = 200
const batchSize = 1000
const entries = 1000

const value = {
  type: 'note',
  text: 'The connection pool leaks when a request is aborted while it waits.',
  n: 7,
}
const keyOf = (i: number): string => `key-${i % entries}`

/** A case without a name is not measured. */
type Case = { name?: string; run: () => Promise<unknown> | unknown; calls?: number }

/** What one call costs through the front, straight at the store, and at the barest thing that does the same. */
export async function measureProtocol({ rounds, say }: ProtocolOptions): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'recall-bench-'))
  try {
    say('in memory')
    const inMemory = await measureStore('in memory', createInMemoryStore(), { rounds, folder })
    say('in files')
    const files = await measureStore('in files', await openFileStore({ root: folder }), { rounds, folder })
    return [...inMemory, ...files]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureStore(
  where: string,
  store: MemoryStore,
  { rounds, folder }: { rounds: number; folder: string },
): Promise<Row[]> {
  const isDurable = store.capabilities.durable
  const memory = createMemoryManager({ stores: store })
  const cached = createMemoryManager({ stores: store, cache: createMemoryCache() })
  const map = new Map<string, string>()
  const lru = new LRUCache<string, string>({ max: 10_000 })
  const sqlite = openSqlite(join(folder, `raw-${isDurable}.db`), isDurable)
  const batch = Array.from({ length: batchSize }, (_, i) => ({ key: keyOf(i), value }))
  const keys = batch.map(({ key }) => key)
  await memory.batchWrite('long-term', batch)
  for (const { key } of batch) {
    await cached.read('long-term', key)
    map.set(key, JSON.stringify(value))
    lru.set(key, JSON.stringify(value))
    sqlite.write(key, JSON.stringify(value))
  }
  let i = 0
  const next = (): string => keyOf(i++)
  const place = { namespace: 'default', scope: 'long-term' } as const
  const query = { text: 'connection pool leak', limit: 10, offset: 0 }
  const order = { sortBy: 'relevance', sortOrder: 'desc', minScore: 0 } as const
  const times = await interleave(rounds, [
    { name: 'read', run: () => memory.read('long-term', next()) },
    // What the last round wrote is read once before the cache can answer it.
    { run: () => cached.read('long-term', next()), calls: entries },
    { name: 'cached read', run: () => cached.read('long-term', next()) },
    { name: 'store get + touch', run: () => getAndTouch(store, { ...place, key: next() }) },
    { name: 'Map get', run: () => JSON.parse(map.get(next()) ?? 'null') },
    { name: 'lru-cache get', run: () => JSON.parse(lru.get(next()) ?? 'null') },
    { name: 'SQLite get', run: () => JSON.parse(sqlite.read(next()) ?? 'null') },
    { name: 'write', run: () => memory.write('long-term', next(), value) },
    { name: 'store put', run: () => store.put(entryOf(next()), { overwrite: true, now: Date.now() }) },
    { name: 'Map set', run: () => map.set(next(), JSON.stringify(value)) },
    { name: 'lru-cache set', run: () => lru.set(next(), JSON.stringify(value)) },
    { name: 'SQLite put', run: () => sqlite.write(next(), JSON.stringify(value)) },
    // The first search after many writes brings the index up to date.
    { run: () => memory.search('long-term', { text: query.text }, { touch: false }), calls: 1 },
    {
      name: 'search',
      run: () => memory.search('long-term', { text: query.text }, { touch: false }),
      calls: 10,
    },
    {
      name: 'store find',
      run: () => store.find({ ...place, ...query, ...order, now: Date.now() }),
      calls: 10,
    },
    { name: 'SQLite FTS', run: () => sqlite.find('connection AND pool AND leaks'), calls: 10 },
    { name: 'batchWrite of 1,000', run: () => memory.batchWrite('long-term', batch), calls: 1 },
    { name: 'SQLite put of 1,000', run: () => sqlite.writeAll(keys, JSON.stringify(value)), calls: 1 },
    { name: 'batchRead of 1,000', run: () => memory.batchRead('long-term', keys), calls: 1 },
    {
      name: 'SQLite get of 1,000',
      run: () => keys.map((key) => JSON.parse(sqlite.read(key) ?? 'null')),
      calls: 1,
    },
  ])
  sqlite.close()
  await memory.close()
  return compare(where, isDurable, (name) => times.get(name) ?? [])
}

function compare(where: string, isDurable: boolean, of: (name: string) => number[]): Row[] {
  const pairs: [string, string][] = [
    ['read', 'Map get'],
    ['read', 'SQLite get'],
    ['cached read', 'Map get'],
    ['cached read', 'lru-cache get'],
    ['cached read', 'read'],
    ['write', 'Map set'],
    ['write', 'lru-cache set'],
    ['write', 'SQLite put'],
    ['search', 'store find'],
    ['search', 'SQLite FTS'],
    ['batchWrite of 1,000', 'SQLite put of 1,000'],
    ['batchRead of 1,000', 'SQLite get of 1,000'],
  ]
  const row = (ours: string, peer: string): Row => {
    const [a, b] = [median(of(ours)), median(of(peer))]
    return { what: `${where}: ${ours}, µs`, size: entries, ours: a, peer, peers: b, ratio: a / b }
  }
  const rows = pairs.map(([ours, peer]) => row(ours, peer))
  // What the front adds: in memory at most 30 µs a call, on a durable write at most a quarter.
  for (const [ours, peer] of [
    ['read', 'store get + touch'],
    ['write', 'store put'],
  ] as const) {
    const front = of(ours).map((time, at) => time - (of(peer)[at] as number))
    const added = median(front)
    const bare = { ...row(ours, peer), what: `${where}: the front of a ${ours} adds, µs`, ours: added }
    rows.push(
      isDurable
        ? { ...bare, ratio: (added + bare.peers) / bare.peers, ...(ours === 'write' ? { bound: 1.25 } : {}) }
        : { ...bare, peer: '30 µs', peers: 30, ratio: added / 30, bound: 1 },
    )
  }
  return rows
}

/** Runs the cases in turn, round after round; microseconds a call, by case. */
async function interleave(rounds: number, cases: readonly Case[]): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(cases.flatMap(({ name }) => (name ? [[name, []]] : [])))
  for (let round = -2; round < rounds; round++) {
    for (const { name, run, calls: count = calls } of cases) {
      const started = performance.now()
      for (let call = 0; call < count; call++) await run()
      // The first two rounds are for the compiler.
      if (round >= 0 && name) times.get(name)?.push(((performance.now() - started) * 1000) / count)
    }
  }
  return times
}

async function getAndTouch(
  store: MemoryStore,
  address: Pick<Entry, 'namespace' | 'scope' | 'key'>,
): Promise<unknown> {
  const now = Date.now()
  const entry = await store.get(address, now)
  await store.touch([address], now)
  return entry
}

function entryOf(key: string): Entry {
  const now = Date.now()
  return {
    namespace: 'default',
    scope: 'long-term',
    key,
    value,
    text: `${value.type}\n${value.text}`,
    type: 'note',
    tags: [],
    createdAt: now,
    updatedAt: now,
    accessedAt: now,
    accessCount: 0,
    ttl: null,
    expiresAt: null,
    encrypted: false,
    embedding: null,
  }
}

/** The barest thing that keeps the same: one table and a full-text index, synced at every write where it is durable. */
function openSqlite(path: string, isDurable: boolean) {
  const database = new DatabaseSync(isDurable ? path : ':memory:')
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5(value, content='entries', content_rowid='rowid');`)
  const put = database.prepare(
    'INSERT INTO entries (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  const get = database.prepare('SELECT value FROM entries WHERE key = ?')
  const find = database.prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10')
  let isIndexed = false
  return {
    write: (key: string, text: string): unknown => put.run(key, text),
    read: (key: string): string | undefined => (get.get(key) as { value: string } | undefined)?.value,
    writeAll(keys: readonly string[], text: string): void {
      database.exec('BEGIN')
      for (const key of keys) put.run(key, text)
      database.exec('COMMIT')
    },
    find(words: string): unknown[] {
      if (!isIndexed) database.exec("INSERT INTO words(words) VALUES ('rebuild')")
      isIndexed = true
      return find.all(words)
    },
    close: () => database.close(),
  }
}
