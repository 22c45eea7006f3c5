import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { changeMemories } from './change-memories.ts'
import { isHidden, mayBeOriginal, repeatsHidden } from './originals.ts'
import { qualities } from './quality.ts'

/** A memory counts as a template from this many near-duplicates by the same agent. */
export const templateCopies = 5

/**
 * Selects memories that only their authors are still shown: tombstones, memories in quarantine, and what their authors
 * repeat of those.
 */
export const withdrawn = sql`
  select id from memories where deleted_at is not null or quality <= ${qualities.quarantined} or ${repeatsHidden('memories')}`

/**
 * Condition on `other`: a hidden memory by the author of a row of `memories`. Saying it again must not evade the
 * quarantine, so it remains the original, even as a tombstone.
 */
const hiddenOfAuthor = sql`(${isHidden('other')} and other.agent_id = memories.agent_id)`

/**
 * Condition on `other`, which loses its original: something that its author said before is hidden. `other` becomes a
 * copy of that, and so cannot be the original of what others say.
 */
const becomesRepetition = ({ autoDuplicate }: Hub['config']['thresholds']): SQL => sql`(
  other.agent_id <> memories.agent_id and exists (
    select from memory_links own join memories hidden on hidden.id = own.related_id
    where own.memory_id = other.id and own.similarity >= ${autoDuplicate}::real
      and hidden.quality <= ${qualities.quarantined} and hidden.agent_id = other.agent_id
  )
)`

/**
 * Condition on `other`: a row of `memories` may be a copy of it when the withdrawn ones are ignored. It is not a copy
 * itself, or it loses its original as well and is older: so no two are copies of each other.
 */
const remains = ({ thresholds }: Hub['config'], gone: SQL): SQL => sql`(
  other.deleted_at is null and other.quality > ${qualities.quarantined} and other.id not in (${gone})
    and ${mayBeOriginal('other', 'memories')}
    and (
      other.duplicate_of is null
      or other.duplicate_of in (${gone}) and (other.created_at, other.id) < (memories.created_at, memories.id)
        and not ${becomesRepetition(thresholds)}
    )
  or ${hiddenOfAuthor}
)`

/**
 * Lets memories that repeat withdrawn ones count for what they say: they are no longer copies of these, but maybe of
 * others. Memories that repeat their author's own in quarantine stay copies of those.
 *
 * @param gone selects the ids of withdrawn memories
 * @returns how many are no longer of low signal
 */
export async function freeCopies(hub: Hub, gone: SQL): Promise<number> {
  // Looked up once, however many conditions use them.
  const given = sql`gone as materialized (${gone})`
  const named = sql`select id from gone`
  // First, and separately: they are few, which the planner cannot know. Rows that others change meanwhile are checked
  // again.
  const marked = sql`id = any(array(select id from memories where ${copiesOf(named)}))
    and (duplicate_of in (${named})) is true`
  const alone = sql`${marked} and ${repeatsOnly(hub, named)}`
  const freed = await changeMemories(hub, sql`quality = ${qualities.good}`, alone, given)
  await changeMemories(hub, sql`duplicate_of = ${otherOriginal(hub, named)}`, marked, given)
  await shortenRepetitions(hub)
  return freed
}

/**
 * Makes copies of what their author repeats of a memory in quarantine copies of that memory: only then are they hidden
 * as well. Such chains arise where several lose their original together.
 */
export async function shortenRepetitions(hub: Hub): Promise<void> {
  const original = sql`select again.duplicate_of from memories again where again.id = memories.duplicate_of`
  const copies = sql`
    select copy.id from memories hidden
      join memories again on again.duplicate_of = hidden.id and again.agent_id = hidden.agent_id
      join memories copy on copy.duplicate_of = again.id and copy.agent_id = hidden.agent_id
    where hidden.quality <= ${qualities.quarantined} and again.quality > ${qualities.quarantined}
      and copy.quality > ${qualities.quarantined}`
  // Each run shortens a chain by one.
  while ((await changeMemories(hub, sql`duplicate_of = (${original})`, sql`id = any(array(${copies}))`)) > 0);
}

/**
 * Condition on `memories`: marked as copies of withdrawn ones, and no longer to be.
 *
 * @param gone selects the ids of the withdrawn memories
 */
export const copiesOf = (gone: SQL): SQL => sql`duplicate_of in (${gone})
  and not exists (select from memories other where other.id = memories.duplicate_of and ${hiddenOfAuthor})`

/**
 * SQL for the original of a row of `memories` when the withdrawn ones are ignored: the earliest one that it repeats, if
 * any. Without that mark it would stay of low signal when that one is withdrawn as well, and count by itself for its
 * author.
 *
 * @param gone selects the ids of the withdrawn memories
 */
export const otherOriginal = ({ config }: Pick<Hub, 'config'>, gone: SQL): SQL => sql`(
  select other.id from memory_links l join memories other on other.id = l.related_id
  where l.memory_id = memories.id and l.similarity >= ${config.thresholds.autoDuplicate}::real
    and ${remains(config, gone)}
  order by other.created_at, other.id limit 1
)`

/** Selects the ids of memories that repeat withdrawn ones. */
export const repeating = ({ config }: Pick<Hub, 'config'>, gone: SQL): SQL => sql`
  select l.memory_id from memory_links l
  where l.related_id in (${gone}) and l.similarity >= ${config.thresholds.autoDuplicate}::real`

/**
 * Condition on `memories`, only for those that repeat withdrawn ones: of low signal, and a copy of these and nothing
 * else. As a new memory it would not be of low signal, so without them it is not either.
 *
 * @param gone selects the ids of the withdrawn memories
 */
export const repeatsOnly = ({ config }: Pick<Hub, 'config'>, gone: SQL): SQL => sql`
  memories.quality = ${qualities.lowSignal} and memories.deleted_at is null
  and memories.agent_id in (select a.id from agents a where a.trust_level > 0)
  -- Looked for once: the planner, which cannot know how many there are, would look through them for each.
  and (memories.id in (${repeating({ config }, gone)})) is true
  and (memories.duplicate_of is null or memories.duplicate_of in (${gone}))
  and ${otherOriginal({ config }, gone)} is null
  and (
    select count(*) from memory_links l join memories other on other.id = l.related_id
    where l.memory_id = memories.id and l.relation = 'duplicate_candidate' and other.agent_id = memories.agent_id
      and other.deleted_at is null and other.id not in (${gone})
  ) < ${templateCopies}`
