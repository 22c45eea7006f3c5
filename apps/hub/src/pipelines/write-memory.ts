import { inTurn, mayBeCut, redactText } from '@recall/core'
import { memoryQuality, prepared } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { agentDisabled, type Principal } from '../access/principal.ts'
import type { Hub } from '../hub.ts'
import { newShortId } from '../short-id.ts'
import { refuseWhenReadOnly } from '../trust/heartbeat.ts'
import { qualities } from '../trust/quality.ts'
import { visibleLength } from '../visible-text.ts'
import { currentModel, modelWasReplaced } from './current-model.ts'
import { embedText } from './embed.ts'
import { judgeMemory, type Link } from './judge-memory.ts'
import { wordsDigest } from './words-digest.ts'

export interface NewMemory {
  content: string
  /** As typed; they are kept in lower case. */
  tags: string[]
  source_url?: string | undefined
}

/** An unanswered request with an `Idempotency-Key`. */
export interface Claim {
  agentId: string
  route: string
  key: string
  /** SHA-256 of the body, in hex. */
  fingerprint: string
}

/** The answer to a writer. */
export interface SavedAnswer {
  success: true
  id: string
  short_id: string
  status: 'saved' | 'queued'
  similar: { id: string; short_id: string; similarity: number; relation: string }[]
  warnings?: string[]
}

/**
 * Writes a memory of a known author; the input has been validated. Embeds the content, looks for memories that it
 * repeats, then stores the memory, its links and the answer for the claim in one statement. With `embedAsync` it stores
 * the memory first, and `embedWaiting` does the rest.
 *
 * @throws MemoryError FORBIDDEN while the hub is read-only, and for a disabled author; UNAVAILABLE when the content
 * cannot be embedded, or when the memories have another model
 * @returns `undefined` when the claim was given up or answered by another attempt; then nothing is stored
 */
export async function writeMemory(
  hub: Hub,
  author: Principal,
  input: NewMemory,
  claim?: Claim,
): Promise<SavedAnswer | undefined> {
  const { config, database } = hub
  await refuseWhenReadOnly(hub)
  const secrets = new Set<string>()
  const redacted = (text: string): string => {
    const { text: clean, counts } = redactText(text)
    for (const kind of Object.keys(counts)) secrets.add(kind)
    return clean
  }
  const content = redacted(input.content)
  const tags = [...new Set(input.tags.map((tag) => redacted(tag).toLowerCase()))]
  const source = input.source_url === undefined ? null : redacted(input.source_url)
  const warnings = warningsFor(hub, content, source, secrets)
  const clean: CleanMemory = { content, tags, source, warnings }
  const store = async (judge: () => Promise<Judgement | undefined>): Promise<SavedAnswer | undefined> => {
    for (;;) {
      const stored = await storeMemory(hub, author, clean, await judge(), claim)
      if (stored !== 'judged too early') return stored
    }
  }
  if (config.embedAsync) return store(async () => undefined)
  const vector = await embedText(hub, content, 'document')
  // One at a time: of several equal memories judged at the same moment, none would be a copy. An advisory lock, which
  // would also cover hubs in other processes, would cost every write a round trip.
  return inTurn(database, content, () => store(() => judgeMemory(hub, author.id, content, vector)))
}

type Judgement = Awaited<ReturnType<typeof judgeMemory>>

/** A memory without secrets. */
interface CleanMemory {
  content: string
  tags: string[]
  source: string | null
  warnings: string[]
}

async function storeMemory(
  hub: Hub,
  author: Principal,
  { content, tags, source, warnings }: CleanMemory,
  judged: Judgement | undefined,
  claim: Claim | undefined,
): Promise<SavedAnswer | 'judged too early' | undefined> {
  const { database, embedder, call } = hub
  const answer: SavedAnswer = {
    success: true,
    id: crypto.randomUUID(),
    short_id: newShortId(),
    status: judged ? 'saved' : 'queued',
    similar: (judged?.shown ?? []).map(nameOf),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
  const [written] = await call(() =>
    insertMemory(database, {
      id: answer.id,
      shortId: answer.short_id,
      agent: author.id,
      content,
      tags: JSON.stringify(tags),
      sourceUrl: source,
      now: hub.clock(),
      model: embedder.model,
      vector: judged ? JSON.stringify(judged.values.embedding) : null,
      // Without a vector no search finds it. Its quality is set once its neighbours are known.
      quality: judged?.values.quality ?? memoryQuality.lowSignal,
      crowded: judged?.values.crowded ?? false,
      duplicateOf: judged?.values.duplicateOf ?? null,
      links: JSON.stringify((judged?.links ?? []).map(nameOf)),
      words: wordsDigest(author.id, content),
      route: claim?.route ?? null,
      key: claim?.key ?? null,
      fingerprint: claim?.fingerprint ?? null,
      answer: claim ? JSON.stringify(answer) : null,
    }),
  )
  if (written?.id) return answer
  if (!written?.mayWrite) throw agentDisabled()
  if (written?.model !== embedder.model) throw modelWasReplaced()
  return written?.hasLostOriginal ? 'judged too early' : undefined
}

const nameOf = ({ memory: { id, shortId, similarity }, relation }: Link) => ({
  id,
  short_id: shortId,
  similarity,
  relation,
})

const { placeholder } = sql

const sameClaim = sql`agent_id = ${placeholder('agent')}::uuid and route = ${placeholder('route')} and key = ${placeholder('key')}`

/**
 * Joins the links to `memories` and locks them, because a linked memory may be deleted or hidden meanwhile: then this
 * one is not a copy of it. The exchange of vectors locks the table, so a write that waited for it reads the new model.
 * The quarantine of an agent locks its row, so that no memory of the agent is written while its others are being
 * hidden, and its trust is the current one. A repetition of what its author deleted in quarantine is a copy of the
 * tombstone. Nothing is stored if the memory that it was judged to repeat has been deleted by now: this statement does
 * not see the tombstone yet.
 */
const insertMemory = prepared<{
  id: string | null
  model: string | null
  mayWrite: boolean
  hasLostOriginal: boolean
}>(sql`
  with claimed as (
    select from idempotency_keys
    where ${sameClaim} and fingerprint = ${placeholder('fingerprint')} and status is null
    for update
  ), linked as (
    select m.id, link ->> 'relation' as relation, (link ->> 'similarity')::real as similarity
    from jsonb_array_elements(${placeholder('links')}::text::jsonb) as link
      join memories m on m.id = (link ->> 'id')::uuid and m.deleted_at is null
    for key share of m
  ), own_hidden as (
    select id from memories
    where agent_id = ${placeholder('agent')}::uuid and words_digest = ${placeholder('words')} and quality <= ${qualities.quarantined}
    order by created_at, id limit 1 for key share
  ), repeated as (
    select m.id, m.quality > ${qualities.quarantined} or m.agent_id = ${placeholder('agent')}::uuid as is_shown
    from memories m
    where m.id = ${placeholder('duplicateOf')}::uuid
      and (m.deleted_at is null or m.quality <= ${qualities.quarantined} and m.agent_id = ${placeholder('agent')}::uuid)
    for key share of m
  ), original as (
    select coalesce((select id from own_hidden), (select id from repeated where is_shown)) as id
  ), author as materialized (
    select a.id, a.trust_level from agents a
    where a.id = ${placeholder('agent')}::uuid and a.disabled_at is null for share
  ), lost as (
    select where ${placeholder('duplicateOf')}::uuid is not null and not exists (select from own_hidden)
      and not exists (select from repeated)
  ), kept as (
    insert into memories (id, short_id, agent_id, content, tags, source_url, created_at, embedding, embedding_model,
      quality, crowded, duplicate_of)
    select ${placeholder('id')}::uuid, ${placeholder('shortId')}, author.id,
      ${placeholder('content')}, array(select jsonb_array_elements_text(${placeholder('tags')}::text::jsonb)),
      ${placeholder('sourceUrl')}, to_timestamp(${placeholder('now')}::float8 / 1000),
      ${placeholder('vector')}::text::vector, ${placeholder('model')},
      case when original.id is null and author.trust_level > 0 then ${placeholder('quality')}::smallint else ${qualities.lowSignal} end,
      ${placeholder('crowded')}::boolean, original.id
    from author, original where ${currentModel} = ${placeholder('model')} and not exists (select from lost)
      and (${placeholder('key')}::text is null or exists (select from claimed))
    returning id
  ), links as (
    insert into memory_links (memory_id, related_id, relation, similarity)
    select kept.id, linked.id, relation, similarity from kept, linked
    union all select kept.id, own_hidden.id, 'duplicate_candidate', 1 from kept, own_hidden
  ), answered as (
    update idempotency_keys set status = 201, body = ${placeholder('answer')}
    where ${sameClaim} and exists (select from kept)
  )
  select (select id from kept) as id, ${currentModel} as model, exists (select from author) as "mayWrite",
    exists (select from lost) as "hasLostOriginal"`)

const warningsFor = (
  { config, embedder }: Hub,
  content: string,
  source: string | null,
  secrets: ReadonlySet<string>,
): string[] => [
  ...(visibleLength(content) < config.thresholds.shortContent
    ? [
        `content is shorter than ${config.thresholds.shortContent} characters: say what failed, why, and what helped`,
      ]
    : []),
  ...(mayBeCut(embedder, content)
    ? [
        'content is longer than the embedding model reads at once: it is found by everything it says together, so save several lessons rather than one long one',
      ]
    : []),
  ...(source ? [] : ['there is no source_url: a link lets others check']),
  ...[...secrets].map((kind) => `a secret was replaced before anything was stored: ${kind}`),
]
