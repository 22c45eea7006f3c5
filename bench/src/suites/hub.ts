import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { OpenDatabase } from '@recall/store-postgres/postgres'
import postgres, { type Sql } from 'postgres'
import { nearestInMemories } from '../../../apps/hub/test/nearest-of-agent.ts'
import { clusteredEmbedder, clusteredVector, dimensions } from '../clustered-vectors.ts'
import { type Burst, burst, createCaller, type Served, serveInChild } from '../load.ts'
import { withDatabase } from '../postgres-database.ts'
import type { Row } from '../report.ts'
import { median } from '../statistics.ts'

export interface HubSettings {
  postgres: string
  size: number
  rounds: number
  say: (text: string) => void
}

const key = 'recall_load'
const connections = 10
const clientCounts = [1, 8, 32, 64]
/** Agents by the share of all memories that they own: the filters of the measurement. */
const shares = { sixteenth: 1 / 16, thousandth: 1 / 1000 }
const agentIds = ['reader', 'sixteenth', 'thousandth', 'others'].map(
  (_, i) => `00000000-0000-4000-8000-00000000000${i}`,
)
const [readerId, sixteenthId, thousandthId, othersId] = agentIds as [string, string, string, string]

const literalOf = (name: string): string => JSON.stringify([...clusteredVector(name)])
const queryName = (i: number): string => `query ${i}`

/** One hub, then two, on a real server; beside them what is done without a hub, in turn. */
export const measureHub = (settings: HubSettings): Promise<Row[]> =>
  withDatabase(settings.postgres, async ({ database, url }) => {
    const { size, say } = settings
    const sql = postgres(url, { max: connections, onnotice: () => {} })
    const served: Served[] = []
    try {
      say(`writing ${size} memories`)
      await fill(sql, size)
      say('building the index')
      await buildIndex(sql)
      const hub = await serveInChild('serve-hub', '--postgres', url)
      served.push(hub)
      const raw = await serveInChild('serve-nothing')
      served.push(raw)
      const context = { ...settings, sql, url, hub, raw }
      return [
        ...(await measureRecall(context, database)),
        ...(await measureSearch(context)),
        ...(await measureTwoHubs(context, served)),
        ...(await measureWrites(context)),
        ...(await measureChain(context)),
        ...(await measureMemory(context)),
      ]
    } finally {
      for (const each of served) each.stop()
      await sql.end()
    }
  })

interface Context extends HubSettings {
  sql: Sql
  url: string
  hub: Served
  raw: Served
}

/** All memories in one stream; an agent that reads them, and three that wrote them. */
async function fill(sql: Sql, size: number): Promise<void> {
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
  for (const [i, id] of agentIds.entries()) {
    await sql`insert into agents (id, name, api_key_hash, trust_level)
      values (${id}, 'load', ${hashOf(i === 0 ? key : `no key ${i}`)}, 1)`
  }
  const ownerOf = (i: number): string =>
    i % (1 / shares.thousandth) === 1
      ? thousandthId
      : i % (1 / shares.sixteenth) === 0
        ? sixteenthId
        : othersId
  function* rows() {
    for (let i = 0; i < size; i++) {
      const content = `Memory ${i}. ${'What failed, why, and what helped. '.repeat(28)}`
      const id = `RCL-${i.toString(36).toUpperCase().padStart(8, '0')}`
      yield `${id}\t${ownerOf(i)}\t${content}\t{load,bench}\t${literalOf(`memory ${i}`)}\t${clusteredEmbedder.model}\n`
    }
  }
  const columns = 'short_id, agent_id, content, tags, embedding, embedding_model'
  const into = await sql.unsafe(`copy memories (${columns}) from stdin`).writable()
  await pipeline(Readable.from(rows()), into)
}

/** The index that the hub makes, by a connection that may take its time. */
async function buildIndex(sql: Sql): Promise<void> {
  const connection = await sql.reserve()
  await connection`set maintenance_work_mem = '1GB'`
  await connection.unsafe(
    `create index memories_embedding_${dimensions} on memories
     using hnsw ((embedding::halfvec(${dimensions})) halfvec_cosine_ops) where vector_dims(embedding) = ${dimensions}`,
  )
  await connection`vacuum analyze memories`
  connection.release()
}

const searchPath = (i: number): string =>
  `/api/v1/memory/search?limit=10&q=${encodeURIComponent(queryName(i))}`

/** What a program without a hub would send: one statement, by the same index and with the same effort. */
const bareSearch = (sql: Sql, i: number): Promise<{ id: string }[]> =>
  sql.unsafe(
    `select id, short_id, content, tags, created_at, 1 - (embedding <=> $1::text::vector) as similarity from memories
     where vector_dims(embedding) = ${dimensions} and quality > -2
     order by embedding::halfvec(${dimensions}) <=> $1::text::vector::halfvec(${dimensions}) limit 10`,
    [literalOf(queryName(i))],
    { prepare: true },
  )

/** A pool as it comes, with the effort of the hub's searches. */
const barePool = (url: string): Sql =>
  postgres(url, { max: connections, onnotice: () => {}, connection: { 'hnsw.ef_search': '100' } as object })

async function exactIds(sql: Sql, i: number, owner?: string): Promise<string[]> {
  return sql.begin(async (transaction) => {
    await transaction`set local enable_indexscan = off`
    const rows = await transaction.unsafe<{ id: string }[]>(
      `select id from memories where $2::uuid is null or agent_id = $2::uuid
       order by embedding <=> $1::text::vector limit 10`,
      [literalOf(queryName(i)), owner ?? null],
    )
    return rows.map(({ id }) => id)
  })
}

async function measureRecall(
  { sql, hub, size, say }: Context,
  database: OpenDatabase['database'],
): Promise<Row[]> {
  const queries = 100
  // What a newcomer is given does not count for a memory, so that no query changes the order of the next.
  const newcomer = await createCaller(hub.port).call<{ api_key: string }>('POST', '/api/v1/agents/register', {
    name: 'newcomer',
  })
  const { call, close } = createCaller(hub.port, newcomer.api_key)
  const searches: [
    what: string,
    bound: number,
    owner: string | undefined,
    find: (i: number) => Promise<string[]>,
  ][] = [
    [
      'recall@10 through the API',
      0.98,
      undefined,
      async (i) =>
        (await call<{ results: { id: string }[] }>('GET', searchPath(i))).results.map(({ id }) => id),
    ],
    ...(
      [
        ['1/16', sixteenthId],
        ['1/1000', thousandthId],
      ] as const
    ).map(([share, owner]): (typeof searches)[number] => [
      `recall@10 among the memories of an agent that owns ${share}`,
      0.95,
      owner,
      (i) => nearestInMemories(database, [...clusteredVector(queryName(i))], owner, 10),
    ]),
  ]
  const rows: Row[] = []
  for (const [what, bound, owner, find] of searches) {
    let right = 0
    let returned = 0
    let visible = 0
    for (let i = 0; i < queries; i++) {
      const exact = await exactIds(sql, i, owner)
      const found = await find(i)
      right += found.filter((id) => exact.includes(id)).length
      returned += found.length
      visible += exact.length
    }
    say(`${what}: ${(right / visible).toFixed(3)}, ${returned} of ${visible} rows`)
    const facts = { size, peers: visible, peer: 'exact scan', atLeast: true }
    rows.push({ what, ...facts, ours: right, ratio: right / visible, bound })
    rows.push({ what: `rows, ${what}`, ...facts, ours: returned, ratio: returned / visible, bound: 1 })
  }
  close()
  return rows
}

/** Rounds of two things in turn, so that both meet the same machine. */
async function inTurn(rounds: number, ours: () => Promise<Burst>, peers: () => Promise<Burst>) {
  const pairs: [Burst, Burst][] = []
  for (let round = 0; round < rounds; round++) pairs.push([await ours(), await peers()])
  const of = (which: 0 | 1, figure: keyof Burst): number => median(pairs.map((pair) => pair[which][figure]))
  return {
    of,
    errors: pairs.reduce((sum, [a, b]) => sum + a.errors + b.errors, 0),
    ratio: (figure: keyof Burst): number => median(pairs.map(([a, b]) => a[figure] / b[figure])),
  }
}

async function measureSearch({ url, hub, size, rounds, say }: Context): Promise<Row[]> {
  const pool = barePool(url)
  const { call, close } = createCaller(hub.port, key)
  const rows: Row[] = []
  for (const clients of clientCounts) {
    const count = Math.max(100, clients * 12)
    const measured = await inTurn(
      rounds,
      () => burst(count, clients, (i) => call('GET', searchPath(i))),
      () => burst(count, clients, (i) => bareSearch(pool, i)),
    )
    const row = (what: string, figure: keyof Burst, rest: Partial<Row>): Row => ({
      what: `search, ${clients} clients: ${what}`,
      size,
      ours: measured.of(0, figure),
      peer: 'bare pool',
      peers: measured.of(1, figure),
      ratio: measured.ratio(figure),
      ...rest,
    })
    rows.push(
      row('a second', 'perSecond', { bound: 0.7, atLeast: true }),
      row('p50, ms', 'p50', {}),
      row('p95, ms', 'p95', clients === 32 ? { bound: 1.3 } : {}),
      row('p99, ms', 'p99', {}),
      {
        what: `search, ${clients} clients: errors`,
        size,
        ours: measured.errors,
        peer: 'none',
        peers: 0,
        ratio: measured.errors,
        bound: 0,
      },
    )
    say(
      `search, ${clients} clients: ${measured.of(0, 'perSecond').toFixed(0)}/s, pool ${measured.of(1, 'perSecond').toFixed(0)}/s, errors ${measured.errors}`,
    )
  }
  close()
  await pool.end()
  return rows
}

async function measureTwoHubs({ url, hub, size, rounds, say }: Context, served: Served[]): Promise<Row[]> {
  const second = await serveInChild('serve-hub', '--postgres', url)
  served.push(second)
  const callers = [hub, second].map(({ port }) => createCaller(port, key))
  const search = (i: number, hubs: number) =>
    callers[i % hubs]?.call('GET', searchPath(i)) ?? Promise.reject()
  const measured = await inTurn(
    rounds,
    () => burst(384, 32, (i) => search(i, 2)),
    () => burst(384, 32, (i) => search(i, 1)),
  )
  for (const { close } of callers) close()
  second.stop()
  say(`two hubs: ${measured.ratio('perSecond').toFixed(2)} of one`)
  return [
    {
      what: 'search by two hubs, 32 clients: a second',
      size,
      ours: measured.of(0, 'perSecond'),
      peer: 'one hub',
      peers: measured.of(1, 'perSecond'),
      ratio: measured.ratio('perSecond'),
    },
  ]
}

async function measureWrites({ sql, hub, size, rounds, say }: Context): Promise<Row[]> {
  const { call, close } = createCaller(hub.port, key)
  let written = 0
  const content = (): string =>
    `new memory ${written++} ${'that says what failed and what helped '.repeat(8)}`
  const insert = (): Promise<unknown> => {
    const text = content()
    const id = `RCL-W${written.toString(36).toUpperCase().padStart(7, '0')}`
    return sql.unsafe(
      `insert into memories (short_id, agent_id, content, tags, embedding, embedding_model)
       values ($1, $2, $3, '{load,bench}', $4::text::vector, $5) returning id`,
      [id, readerId, text, literalOf(text), clusteredEmbedder.model],
      { prepare: true },
    )
  }
  const measured = await inTurn(
    rounds,
    () =>
      burst(120, 8, () => call('POST', '/api/v1/memory', { content: content(), tags: ['load', 'bench'] })),
    () => burst(120, 8, insert),
  )
  close()
  say(`writes: ${measured.of(0, 'perSecond').toFixed(0)}/s, bare ${measured.of(1, 'perSecond').toFixed(0)}/s`)
  const common = { size, peer: 'bare insert into the same table' }
  return [
    {
      what: 'writes, 8 clients: a second',
      ...common,
      ours: measured.of(0, 'perSecond'),
      peers: measured.of(1, 'perSecond'),
      ratio: measured.ratio('perSecond'),
      bound: 0.6,
      atLeast: true,
    },
    { what: 'writes: errors', ...common, ours: measured.errors, peers: 0, ratio: measured.errors, bound: 0 },
  ]
}

async function measureChain({ hub, raw, size, rounds, say }: Context): Promise<Row[]> {
  const [ours, peers] = [createCaller(hub.port, key), createCaller(raw.port)]
  const me = (caller: typeof ours) => () => burst(4000, 32, () => caller.call('GET', '/api/v1/agents/me'))
  await me(ours)()
  const measured = await inTurn(rounds, me(ours), me(peers))
  ours.close()
  peers.close()
  say(`GET: ${measured.ratio('perSecond').toFixed(2)} of raw node:http`)
  return [
    {
      what: 'GET through all middleware, 32 clients: a second',
      size,
      ours: measured.of(0, 'perSecond'),
      peer: 'raw node:http',
      peers: measured.of(1, 'perSecond'),
      ratio: measured.ratio('perSecond'),
      bound: 0.5,
      atLeast: true,
    },
  ]
}

async function measureMemory({ hub, size, say }: Context): Promise<Row[]> {
  const { call, close } = createCaller(hub.port, key)
  const mixed = (i: number): Promise<unknown> =>
    call('GET', i % 10 === 0 ? searchPath(i) : '/api/v1/agents/me')
  await burst(2000, 8, mixed)
  const before = hub.rss()
  await burst(10_000, 8, mixed)
  const after = hub.rss()
  close()
  say(`memory: ${(before / 1e6).toFixed(0)} MB, then ${(after / 1e6).toFixed(0)} MB`)
  return [
    {
      what: 'resident memory after 10,000 requests, MB',
      size,
      ours: after / 1e6,
      peer: 'after warm-up',
      peers: before / 1e6,
      ratio: after / before,
      bound: 1.3,
    },
  ]
}
