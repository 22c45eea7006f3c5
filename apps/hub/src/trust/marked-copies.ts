import type { Database } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { callReferring, changeMemories } from './change-memories.ts'
import { freeCopies } from './freed-copies.ts'
import { mayBeOriginal } from './originals.ts'
import { qualities } from './quality.ts'

/** Longer than from one maintenance to the next. */
const recentMs = 2 * 24 * 60 * 60 * 1000

/**
 * SQL for the memory that counts as the original of a row of `memories`, if there is one: an earlier one, or a good one
 * that was freed when that row was withdrawn.
 *
 * @param among condition on `other`
 */
export const standingFor = ({ config }: Pick<Hub, 'config'>, among: SQL): SQL => sql`(
  select other.id from memory_links l
    join memories other on other.id in (l.memory_id, l.related_id) and other.id <> memories.id
  where memories.id in (l.memory_id, l.related_id) and l.similarity >= ${config.thresholds.autoDuplicate}::real
    and other.deleted_at is null and other.quality > ${qualities.quarantined} and other.duplicate_of is null and ${among}
    and (other.quality = ${qualities.good} or (other.created_at, other.id) < (memories.created_at, memories.id))
    and ${mayBeOriginal('other', 'memories')}
  order by other.created_at, other.id limit 1
)`

/** A condition on one of two linked memories: the later one `m` or the earlier one `o`. */
interface Side {
  on: 'm' | 'o'
  condition: SQL
}

/**
 * SQL for the links `l` with both their memories, starting from the side that is known: the planner, which cannot know
 * how many there are, would pair every memory with every other.
 */
const linkedFrom = ({ on }: Side): SQL =>
  on === 'm'
    ? sql`memories m join memory_links l on l.memory_id = m.id
      cross join lateral (select * from memories where id = l.related_id offset 0) as o`
    : sql`memories o join memory_links l on l.related_id = o.id
      cross join lateral (select * from memories where id = l.memory_id offset 0) as m`

/**
 * Marks memories that count by themselves next to an earlier one that says the same: as its copy they were freed while
 * it was withdrawn, or both were written at the same moment.
 *
 * @param among which memories to look at
 */
export async function markCopies(hub: Hub, among: Side): Promise<void> {
  const isCopy = sql`l.similarity >= ${hub.config.thresholds.autoDuplicate}::real`
  const original = sql`
    select o.id from memory_links l join memories o on o.id = l.related_id
    where l.memory_id = memories.id and ${isCopy} and ${stands('o')} and ${mayBeOriginal('o', 'memories')}
      and (o.created_at, o.id) < (memories.created_at, memories.id)
    order by o.created_at, o.id limit 1`
  // All in one join: otherwise the planner would search for the original of every memory.
  const copies = sql`
    select m.id from ${linkedFrom(among)}
    where ${isCopy} and ${stands('m')} and ${stands('o')} and ${mayBeOriginal('o', 'm')}
      and (o.created_at, o.id) < (m.created_at, m.id) and ${among.condition}`
  await changeMemories(
    hub,
    sql`duplicate_of = (${original}), quality = ${qualities.lowSignal}`,
    // Selected once, not for each memory: the planner cannot know how many there are.
    sql`${stands('memories')} and id = any(array(${copies}))`,
  )
  await freeCopiesOfCopies(hub, among)
}

/**
 * Lets memories count for what they say that only repeat new copies: they may be unlike the originals of these.
 *
 * @param among as for `markCopies`
 */
export async function freeCopiesOfCopies(hub: Hub, among: Side): Promise<void> {
  await freeCopies(
    hub,
    sql`
      select m.id from ${linkedFrom(among)}
      where m.duplicate_of is not null and ${among.condition}
        and exists (select from memories copy where copy.duplicate_of = m.id)`,
  )
}

/**
 * Marks all but the first of recent memories with the same text: hubs that wrote them at the same moment did not see
 * the copy.
 */
export async function markTwins(hub: Hub): Promise<void> {
  const since = new Date(hub.clock() - recentMs).toISOString()
  const isRecent = (memory: string): SQL => sql`${sql.raw(memory)}.created_at > ${since}::timestamptz`
  // Grouped, not self-joined: before the table is analysed, the planner would compare every row with every other.
  await callReferring(hub, () =>
    hub.database.execute(sql`
      with twins as materialized (
        select array_agg(id order by created_at, id) as ids from memories
        where ${isRecent('memories')} and ${stands('memories')} and embedding is not null
        group by content having count(*) > 1
      )
      insert into memory_links (memory_id, related_id, relation, similarity)
      select later.id, earlier.id, 'duplicate_candidate', 1
      from twins, unnest(ids) with ordinality as later (id, place)
        join unnest(ids) with ordinality as earlier (id, place) on earlier.place < later.place
      on conflict do nothing`),
  )
  await markCopies(hub, { on: 'm', condition: isRecent('m') })
}

/** Whether a memory is neither a copy, nor deleted, nor in quarantine. */
export const stands = (memory: string): SQL =>
  sql`${sql.raw(memory)}.duplicate_of is null and ${sql.raw(memory)}.quality > ${qualities.quarantined} and ${sql.raw(memory)}.deleted_at is null`

/** Links copies to their originals; the links free them when the original is withdrawn. */
export const linkCopies = (database: Database, copies: SQL): Promise<unknown> =>
  database.execute(sql`
    insert into memory_links (memory_id, related_id, relation, similarity)
    select copy.id, copy.duplicate_of, 'duplicate_candidate', l.similarity
    from (select id, duplicate_of from memories where ${copies}) as copy
      join memory_links l on l.memory_id = copy.duplicate_of and l.related_id = copy.id
    on conflict do nothing`)
