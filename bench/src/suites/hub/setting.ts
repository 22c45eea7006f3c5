import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Sql } from 'postgres'
import { clusteredEmbedder, clusteredVector, dimensions } from '../../clustered-vectors.ts'
import type { Burst, Served } from '../../load.ts'
import { median } from '../../statistics.ts'

export interface HubSettings {
  postgres: string
  size: number
  rounds: number
  say: (text: string) => void
}

export interface Context extends HubSettings {
  sql: Sql
  url: string
  hub: Served
}

export const key = 'recall_load'
export const connections = 10
/**
 * Calls before counting: the engine compiles what runs often, and the first calls of a process take several times as
 * long.
 */
export const warmUps = 1000
/** Agents by the share of all memories that they own: the filters of the measurement. */
const shares = { sixteenth: 1 / 16, thousandth: 1 / 1000 }
/** The authors of all other memories: so many that the limit per author hardly ever applies. */
const otherAuthors = 1000
const agentIds = Array.from(
  { length: 3 + otherAuthors },
  (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
)
export const [readerId, sixteenthId, thousandthId] = agentIds as [string, string, string]

export const literalOf = (name: string): string => JSON.stringify([...clusteredVector(name)])
export const queryName = (i: number): string => `query ${i}`

export const searchPath = (i: number): string =>
  `/api/v1/memory/search?limit=10&q=${encodeURIComponent(queryName(i))}`

/** Writes all memories in one stream, with an agent that reads them and those that wrote them. */
export async function fill(sql: Sql, size: number): Promise<void> {
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
  const agents = agentIds.map((id, i) => ({
    id,
    name: 'load',
    api_key_hash: hashOf(i === 0 ? key : `no key ${i}`),
    trust_level: 1,
  }))
  await sql`insert into agents ${sql(agents)}`
  const ownerOf = (i: number): string | undefined => {
    if (i % (1 / shares.thousandth) === 1) return thousandthId
    if (i % (1 / shares.sixteenth) === 0) return sixteenthId
    return agentIds[3 + (i % otherAuthors)]
  }
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

/** Builds the index that the hub makes for good memories, which all are, over a reserved connection. */
export async function buildIndex(sql: Sql): Promise<void> {
  const connection = await sql.reserve()
  await connection`set maintenance_work_mem = '3GB'`
  await connection.unsafe(
    `create index good_memories_embedding_${dimensions} on memories
     using hnsw ((embedding::halfvec(${dimensions})) halfvec_cosine_ops)
     where vector_dims(embedding) = ${dimensions} and quality = 0`,
  )
  await connection`vacuum analyze memories`
  connection.release()
}

/** Measures two things in turn, round by round, so that both run under the same conditions. */
export async function inTurn(rounds: number, ours: () => Promise<Burst>, peers: () => Promise<Burst>) {
  const pairs: [Burst, Burst][] = []
  for (let round = 0; round < rounds; round++) pairs.push([await ours(), await peers()])
  const of = (which: 0 | 1, figure: keyof Burst): number => median(pairs.map((pair) => pair[which][figure]))
  return {
    of,
    errors: pairs.reduce((sum, [a, b]) => sum + a.errors + b.errors, 0),
    ratio: (figure: keyof Burst): number => median(pairs.map(([a, b]) => a[figure] / b[figure])),
  }
}
