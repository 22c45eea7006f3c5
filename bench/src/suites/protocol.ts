import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInMemoryStore, createMemoryManager, type Entry, type MemoryStore } from '@recall/core'
import { createMemoryCache } from '@recall/core/protocol'
import { openFileStore } from '@recall/store-file'
import { createPostgresStore } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { LRUCache } from 'lru-cache'
import { openRawPostgres, openRawSqlite, type RawStore } from '../raw-stores.ts'
import type { Row } from '../report.ts'
import { median } from '../statistics.ts'

export interface ProtocolOptions {
  rounds: number
  /** A server to measure the Postgres store on; left out without one. */
  postgres?: string
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

/** The cost of one call through the front, straight at the store, and at the barest thing that does the same. */
export async function measureProtocol({ rounds, postgres, say }: ProtocolOptions): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'recall-bench-'))
  try {
    say('in memory')
    const rows = await measureStore(
      'in memory',
      createInMemoryStore(),
      openRawSqlite(':memory:', false),
      rounds,
    )
    say('in files')
    const files = await openFileStore({ root: folder })
    rows.push(...(await measureStore('in files', files, openRawSqlite(join(folder, 'raw.db'), true), rounds)))
    if (postgres) {
      say('in Postgres')
      const { database, close } = await openPostgres({ url: postgres })
      const store = createPostgresStore(database)
      rows.push(...(await measureStore('in Postgres', store, await openRawPostgres(postgres), rounds)))
      await close()
    } else say('Postgres was left out: name a server with --postgres')
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureStore(
  where: string,
  store: MemoryStore,
  raw: RawStore,
  rounds: number,
): Promise<Row[]> {
  const isDurable = store.capabilities.durable
  const namespace = `bench ${process.pid}`
  const memory = createMemoryManager({ stores: store, namespace })
  const cached = createMemoryManager({ stores: store, namespace, cache: createMemoryCache() })
  const map = new Map<string, string>()
  const lru = new LRUCache<string, string>({ max: 10_000 })
  const batch = Array.from({ length: batchSize }, (_, i) => ({ key: keyOf(i), value }))
  const keys = batch.map(({ key }) => key)
  await memory.batchWrite('long-term', batch)
  for (const { key } of batch) {
    await cached.read('long-term', key)
    map.set(key, JSON.stringify(value))
    lru.set(key, JSON.stringify(value))
    await raw.write(key, JSON.stringify(value))
  }
  let i = 0
  const next = (): string => keyOf(i++)
  const place = { namespace, scope: 'long-term' } as const
  const query = { text: 'connection pool leak', limit: 10, offset: 0 }
  const order = { sortBy: 'relevance', sortOrder: 'desc', minScore: 0 } as const
  const times = await interleave(rounds, [
    { name: 'read', run: () => memory.read('long-term', next()) },
    // The last round's writes are read once before the cache can answer for them.
    { run: () => cached.read('long-term', next()), calls: entries },
    { name: 'cached read', run: () => cached.read('long-term', next()) },
    { name: 'store get + touch', run: () => getAndTouch(store, { ...place, key: next() }) },
    { name: 'Map get', run: () => JSON.parse(map.get(next()) ?? 'null') },
    { name: 'lru-cache get', run: () => JSON.parse(lru.get(next()) ?? 'null') },
    { name: 'raw get', run: () => raw.read(next()) },
    { name: 'write', run: () => memory.write('long-term', next(), value) },
    {
      name: 'store put',
      run: () => store.put(entryOf(namespace, next()), { overwrite: true, now: Date.now() }),
    },
    { name: 'Map set', run: () => map.set(next(), JSON.stringify(value)) },
    { name: 'lru-cache set', run: () => lru.set(next(), JSON.stringify(value)) },
    { name: 'raw put', run: () => raw.write(next(), JSON.stringify(value)) },
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
    { name: 'raw full text', run: () => raw.find(['connection', 'pool', 'leaks']), calls: 10 },
    { name: 'batchWrite of 1,000', run: () => memory.batchWrite('long-term', batch), calls: 1 },
    { name: 'raw put of 1,000', run: () => raw.writeAll(keys, JSON.stringify(value)), calls: 1 },
    { name: 'batchRead of 1,000', run: () => memory.batchRead('long-term', keys), calls: 1 },
    {
      name: 'raw get of 1,000',
      run: () => Promise.all(keys.map((key) => raw.read(key))),
      calls: 1,
    },
  ])
  await memory.clear('long-term')
  await raw.close()
  await memory.close()
  return compare(where, raw.name, isDurable, (name) => times.get(name) ?? [])
}

function compare(where: string, rawName: string, isDurable: boolean, of: (name: string) => number[]): Row[] {
  const pairs: [string, string][] = [
    ['read', 'Map get'],
    ['read', 'raw get'],
    ['cached read', 'Map get'],
    ['cached read', 'lru-cache get'],
    ['cached read', 'read'],
    ['write', 'Map set'],
    ['write', 'lru-cache set'],
    ['write', 'raw put'],
    ['search', 'store find'],
    ['search', 'raw full text'],
    ['batchWrite of 1,000', 'raw put of 1,000'],
    ['batchRead of 1,000', 'raw get of 1,000'],
  ]
  const row = (ours: string, peer: string): Row => {
    const [a, b] = [median(of(ours)), median(of(peer))]
    return {
      what: `${where}: ${ours}, µs`,
      size: entries,
      ours: a,
      peer: peer.replace('raw', rawName),
      peers: b,
      ratio: a / b,
    }
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

function entryOf(namespace: string, key: string): Entry {
  const now = Date.now()
  return {
    namespace,
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
