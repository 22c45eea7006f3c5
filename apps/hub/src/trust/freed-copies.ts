import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { changeMemories } from './change-memories.ts'
import { isHidden, mayBeOriginal, repeatsHidden } from './originals.ts'

/** From this many near-duplicates by the same agent on, a memory counts as a template. */
export const templateCopies = 5

/**
 * Selects what nobody but its author is shown any more: tombstones, memories in quarantine, and what their authors
 * repeat of those.
 */
export const withdrawn = sql`
  select id from memories where deleted_at is not null or quality <= -2 or ${repeatsHidden('memories')}`

/**
 * Condition on `other`: a hidden memory by the author of a row of `memories`. To say it again is no way around the
 * quarantine, so it remains the original, also as a tombstone.
 */
const hiddenOfAuthor = sql`(${isHidden('other')} and other.agent_id = memories.agent_id)`

/**
 * Condition on `other`, which loses its original: of what its author said before, something is hidden. It becomes a copy
 * of that, and so the original of nothing that others say.
 */
const becomesRepetition = ({ autoDuplicate }: Hub['config']['thresholds']): SQL => sql`(
  other.agent_id <> memories.agent_id and exists (
    select from memory_links own join memories hidden on hidden.id = own.related_id
    where own.memory_id = other.id and own.similarity >= ${autoDuplicate}::real
      and hidden.quality <= -2 and hidden.agent_id = other.agent_id
  )
)`

/**
 * Condition on `other`: what a row of `memories` may be a copy of without the withdrawn ones. That is no copy itself, or
 * loses its original as well and was there before: so no two are copies of each other.
 */
const remains = ({ thresholds }: Hub['config'], gone: SQL): SQL => sql`(
  other.deleted_at is null and other.quality > -2 and other.id not in (${gone})
    and ${mayBeOriginal('other', 'memories')}
    and (
      other.duplicate_of is null
      or other.duplicate_of in (${gone}) and (other.created_at, other.id) < (memories.created_at, memories.id)
        and not ${becomesRepetition(thresholds)}
    )
  or ${hiddenOfAuthor}
)`

/**
 * Lets what repeats withdrawn memories count as what it says: it is a copy of them no more, but maybe of another one.
 * What repeats its author's own in quarantine stays a copy of that.
 *
 * @param gone selects the ids of withdrawn memories
 * @returns how many are of low signal no more
 */
export async function freeCopies(hub: Hub, gone: SQL): Promise<number> {
  // Looked for once, however many conditions name them.
  const given = sql`gone as materialized (${gone})`
  const named = sql`select id from gone`
  // First, and by itself: they are few, which the planner cannot know. What others change meanwhile is looked at again.
  const marked = sql`id = any(array(select id from memories where ${copiesOf(named)}))
    and (duplicate_of in (${named})) is true`
  const alone = sql`${marked} and ${repeatsOnly(hub, named)}`
  const freed = await changeMemories(hub, sql`quality = 0`, alone, given)
  await changeMemories(hub, sql`duplicate_of = ${otherOriginal(hub, named)}`, marked, given)
  return freed
}

/**
 * Condition on `memories`: marked as copies of withdrawn ones, which they cease to be.
 *
 * @param gone selects the ids of the withdrawn memories
 */
export const copiesOf = (gone: SQL): SQL => sql`duplicate_of in (${gone})
  and not exists (select from memories other where other.id = memories.duplicate_of and ${hiddenOfAuthor})`

/**
 * SQL for what a row of `memories` is a copy of without the withdrawn ones: the earliest that it repeats, if there is one.
 * Without that mark it would stay of low signal when the other one is withdrawn as well, and count by itself for its
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
 * Condition on `memories`, to be asked only of some that repeat withdrawn ones: of low signal, a copy of these and of
 * nothing else. As a new memory it would be no low signal, so without them it is none either.
 *
 * @param gone selects the ids of the withdrawn memories
 */
export const repeatsOnly = ({ config }: Pick<Hub, 'config'>, gone: SQL): SQL => sql`
  memories.quality = -1 and memories.deleted_at is null
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
