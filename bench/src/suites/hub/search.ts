import type { OpenDatabase } from '@recall/store-postgres/postgres'
import postgres, { type Sql } from 'postgres'
import { nearestInMemories } from '../../../../apps/hub/test/support/nearest-of-agent.ts'
import { clusteredVector, dimensions } from '../../clustered-vectors.ts'
import { type Burst, burst, createCaller, type Served, serveInChild } from '../../load.ts'
import type { Row } from '../../report.ts'
import {
  type Context,
  connections,
  inTurn,
  key,
  literalOf,
  queryName,
  searchPath,
  sixteenthId,
  thousandthId,
  warmUps,
} from './setting.ts'

const clientCounts = [1, 8, 32, 64]

/** What a program without a hub would send: one statement, by the same index and with the same effort. */
const bareSearch = (sql: Sql, i: number): Promise<{ id: string }[]> =>
  sql.unsafe(
    `select id, short_id, content, tags, created_at, 1 - (embedding <=> $1::text::vector) as similarity from memories
     where vector_dims(embedding) = ${dimensions} and quality = 0
     order by embedding::halfvec(${dimensions}) <=> $1::text::vector::halfvec(${dimensions}) limit 10`,
    [literalOf(queryName(i))],
    { prepare: true },
  )

/** A pool with its defaults, and the effort of the hub's searches. */
const barePool = (url: string, size: number): Sql => {
  const effort = Math.min(1000, Math.round(100 * Math.max(1, size / 100_000) ** 0.65))
  const connection = { 'hnsw.ef_search': String(effort) } as object
  return postgres(url, { max: connections, onnotice: () => {}, connection })
}

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

export async function measureRecall(
  { sql, hub, size, say }: Context,
  database: OpenDatabase['database'],
): Promise<Row[]> {
  const queries = 100
  // Results given to a newcomer do not count for a memory, so no query changes the order of the next.
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

export async function measureSearch({ url, hub, size, rounds, say }: Context): Promise<Row[]> {
  const pool = barePool(url, size)
  const { call, close } = createCaller(hub.port, key)
  const rows: Row[] = []
  await burst(warmUps, 8, (i) => call('GET', searchPath(i)))
  await burst(warmUps, 8, (i) => bareSearch(pool, i))
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

export async function measureTwoHubs(
  { url, hub, size, rounds, say }: Context,
  served: Served[],
): Promise<Row[]> {
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
