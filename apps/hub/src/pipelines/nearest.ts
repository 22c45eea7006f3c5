import {
  type Database,
  indexableDimensions,
  indexedType,
  indexedVector,
  prepared,
  type VectorIndex,
  walkingIndex,
} from '@recall/store-postgres'
import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { qualities } from '../trust/quality.ts'
import { currentModel, modelWasReplaced } from './current-model.ts'

/** A memory that a search may return, in the form of the database. */
export interface NearMemory {
  id: string
  shortId: string
  agentId: string
  author: string
  trustLevel: number
  content: string
  tags: string[]
  sourceUrl: string | null
  createdAt: string
  quality: number
  duplicateOf: string | null
  retrievalCount: number
  similarity: number
}

/**
 * Up to this many rows are compared one by one, which is exact, and faster than an index under a selective condition.
 */
const mostCompared = 5000

/**
 * The index is asked for at least this many candidates, however few are wanted: under a condition, its first few are
 * not always the nearest. More would not help, and each costs as much as ten steps through the index.
 */
const fewestCandidates = 40

/** Names a set of memories that a condition selects for every caller. */
export type Shelf = 'good' | 'low' | 'low or crowded'

/** Memories that a condition selects. */
export interface Among {
  where: SQL
  /** The index that holds them all. Default: none, because they are few. */
  index?: VectorIndex
}

/** One kind of memory to look for near a vector. Its SQL may hold placeholders, whose values each search supplies. */
export interface Wanted {
  /** Where to look; the sets do not overlap. */
  among: readonly Among[]
  /** How many of the most similar memories are considered. */
  candidates: number
  /** The least similarity. Default: any. */
  similarity?: SQL | Placeholder
  /** Order of the rows of `candidate`. Default: most similar first. */
  order?: SQL
  /** How many of the candidates are returned. Default: all. */
  limit?: number
  /** The shelf that the condition selects, if its size is much the same for every caller. */
  shelf?: Shelf
  /** Searches for this kind only when no memory of the previous kind is at least this similar. */
  unlessFound?: SQL | Placeholder
}

/**
 * Shelves known to be large. Counting a shelf costs as much as searching it, so the answer is cached for a minute;
 * using the index on a shelf that has shrunk since is still correct.
 */
const largeShelves = new WeakMap<Database, LRUCache<Shelf, true>>()

function largeShelvesOf(database: Database): LRUCache<Shelf, true> {
  const known = largeShelves.get(database) ?? new LRUCache({ max: 10, ttl: 60_000 })
  largeShelves.set(database, known)
  return known
}

/** The results for one kind: memories, best first, and the similarity of the nearest candidate, or -1. */
export interface Found {
  memories: NearMemory[]
  best: number
}

/** At least one row for each wanted kind; its `id` is null when nothing was found. */
type FoundRow = { model: string | null; wanted: number; seen: number; best: number } & (
  | NearMemory
  | { id: null }
)

/** Values of the placeholders, including the model of the query vector. */
type Values = { model: string } & Record<string, unknown>

/**
 * Makes a search for the memories nearest to a vector, of one or several kinds in one statement.
 *
 * @returns a function that resolves to what was found, in the order of `wanted`. It throws UNAVAILABLE when the
 * memories have vectors of another model than the query vector
 */
export function nearestMemories(
  ...wanted: Wanted[]
): (database: Database, vector: readonly number[], values: Values) => Promise<Found[]> {
  const statements = new Map<string, ReturnType<typeof prepared<FoundRow>>>()
  const statementFor = (space: Space, throughIndex: readonly boolean[]) => {
    const name = `${space.dimensions} ${space.type} ${throughIndex}`
    const known = statements.get(name) ?? prepared<FoundRow>(statementOf(wanted, space, throughIndex))
    statements.set(name, known)
    return known
  }
  return async (database, vector, values) => {
    const large = largeShelvesOf(database)
    const isIndexed = vector.length <= indexableDimensions
    const space = { dimensions: vector.length, type: indexedType(database, vector.length) }
    const isLarge = ({ shelf }: Wanted): boolean => shelf !== undefined && large.get(shelf) === true
    const throughIndex = wanted.map((each) => isIndexed && isLarge(each))
    for (;;) {
      const search = statementFor(space, throughIndex)
      const rows = await search(database, { ...values, vector: JSON.stringify(vector) })
      if (rows[0]?.model !== values.model) throw modelWasReplaced()
      const tooMany = rows.filter(
        ({ seen, wanted: i }) => isIndexed && !throughIndex[i] && seen > mostCompared,
      )
      if (tooMany.length === 0) return wanted.map((_, i) => foundIn(rows.filter((row) => row.wanted === i)))
      for (const { wanted: i } of tooMany) {
        throughIndex[i] = true
        const shelf = wanted[i]?.shelf
        if (shelf) large.set(shelf, true)
      }
    }
  }
}

/** The vectors of one length, and the type in which they are indexed. */
interface Space {
  dimensions: number
  type: ReturnType<typeof indexedType>
}

const indexed = (vector: SQL, { type, dimensions }: Space): SQL => indexedVector(vector, type, dimensions)

function statementOf(wanted: readonly Wanted[], space: Space, throughIndex: readonly boolean[]): SQL {
  const parts = wanted.map((each, i) => partFor(each, i, space, throughIndex[i] === true))
  const tables = parts.map(({ found }) => found)
  const answers = parts.map(({ rows }) => rows)
  return sql`
    with asked as materialized (
      select ${sql.placeholder('vector')}::text::vector as vector, ${currentModel} as model
    ),
    -- Converted once: that takes longer than to compare it with a row.
    sought as materialized (select ${indexed(sql`vector`, space)} as vector from asked),
      ${sql.join(tables, sql`, `)}
    ${sql.join(answers, sql` union all `)}`
}

const foundIn = (rows: readonly FoundRow[]): Found => ({
  memories: rows.filter((row): row is FoundRow & NearMemory => row.id !== null),
  best: rows[0]?.best ?? -1,
})

/** The SQL for one kind of memories: its common table expressions, and the rows it adds to the result. */
function partFor(wanted: Wanted, i: number, space: Space, throughIndex: boolean) {
  const { among, candidates, similarity = sql`-1`, order = sql`similarity desc`, limit = candidates } = wanted
  const [near, found] = [sql.raw(`near_${i}`), sql.raw(`found_${i}`)]
  const before = sql.raw(`found_${i - 1}`)
  const unlessFound =
    wanted.unlessFound === undefined
      ? sql``
      : sql`and (select coalesce(max(similarity), -1) from ${before}) < ${wanted.unlessFound}::float8`
  // Evaluated once, before any row is compared: vectors of another model may have another length.
  const comparable = sql`(select model from asked) = ${sql.placeholder('model')}`
  const allowed = ({ where }: Among): SQL =>
    sql`${comparable} and m.embedding is not null and m.deleted_at is null and ${where} ${unlessFound}`
  const distances = sql`select *, m.embedding <=> (select vector from asked) as distance from memories m`
  const anywhere = sql.join(
    among.map(({ where }) => where),
    sql` or `,
  )
  const nearest = throughIndex
    ? sql.join(
        among.map((each) =>
          each.index
            ? sql`(${walk(allowed(each), each.index, space, candidates)})`
            : sql`(${distances} where ${allowed(each)})`,
        ),
        sql` union all `,
      )
    : sql`${distances} where ${allowed({ where: sql`(${anywhere})` })}
        ${space.dimensions > indexableDimensions ? sql`` : sql`limit ${whole(mostCompared + 1)}`}`
  return {
    found: sql`
      ${near} as materialized (${nearest}),
      ${found} as materialized (
        select m.*, 1 - (m.embedding <=> (select vector from asked)) as similarity
        from (select * from ${near} order by distance, created_at desc, id limit ${whole(candidates)}) as m
      )`,
    rows: sql`
      select (select model from asked) as model, ${whole(i)} as wanted, counted.seen, answer.*
      from (select count(*)::integer as seen from ${near}) as counted left join (
        select max(similarity) over () as best, similarity, candidate.id, candidate.short_id as "shortId",
          candidate.agent_id as "agentId", a.name as author, a.trust_level as "trustLevel", candidate.content,
          candidate.tags, candidate.source_url as "sourceUrl", candidate.created_at::text as "createdAt",
          candidate.quality, candidate.duplicate_of as "duplicateOf", candidate.retrieval_count as "retrievalCount"
        from ${found} as candidate join agents a on a.id = candidate.agent_id
        where similarity >= ${similarity}::float8
        order by ${order}, candidate.created_at desc, candidate.id limit ${whole(limit)}
      ) as answer on true`,
  }
}

function walk(condition: SQL, index: VectorIndex, space: Space, candidates: number): SQL {
  const looked = Math.max(fewestCandidates, candidates)
  return sql`
    select *, ${indexed(sql`m.embedding`, space)} <=> (select vector from sought) as distance from memories m
    where ${condition} and vector_dims(m.embedding) = ${whole(space.dimensions)}
      and ${walkingIndex(index, space.dimensions, looked)}
    order by distance limit ${whole(looked)}`
}

/** A literal in the statement's text rather than a parameter, because the plan depends on it. */
const whole = (number: number): SQL => sql.raw(String(Math.trunc(number)))

/** Selects the agent's own memories. */
export const own: SQL = sql`m.agent_id = ${sql.placeholder('agent')}::uuid`

/** The good memories of all agents. */
export const goodOfAll: Among = { where: sql`m.quality = ${qualities.good}`, index: 'good_memories' }

/** An agent's own memories that others do not find among the good ones. */
export const ownLow: Among = { where: sql`m.quality < ${qualities.good} and ${own}` }

/** The memories that an agent finds as good: good ones, and all of its own. */
export const good: readonly Among[] = [goodOfAll, ownLow]

/** The low-signal memories of others that no crowd repeats. */
export const lowOfOthers: Among = {
  where: sql`m.quality = ${qualities.lowSignal} and not m.crowded and not ${own}`,
  index: 'low_memories',
}

/** All low-signal memories of others. */
export const allLowOfOthers: readonly Among[] = [
  lowOfOthers,
  { where: sql`m.quality = ${qualities.lowSignal} and m.crowded and not ${own}`, index: 'crowded_memories' },
]
