import { clusteredEmbedder } from '../../clustered-vectors.ts'
import { burst, createCaller } from '../../load.ts'
import type { Row } from '../../report.ts'
import { type Context, inTurn, key, literalOf, readerId, searchPath, warmUps } from './setting.ts'

export async function measureWrites({ sql, hub, size, rounds, say }: Context): Promise<Row[]> {
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
  const write = (): Promise<unknown> =>
    call('POST', '/api/v1/memory', { content: content(), tags: ['load', 'bench'] })
  await burst(warmUps, 8, write)
  await burst(warmUps, 8, insert)
  const measured = await inTurn(
    rounds,
    () => burst(120, 8, write),
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

export async function measureMemory({ hub, size, say }: Context): Promise<Row[]> {
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
