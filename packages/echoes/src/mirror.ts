import { isMemoryError, type JsonObject, type MemoryManager, redactJson } from '@recall/core'
import { equalJson } from '@recall/core/json'
import { redactSensitive, withSafeEvidence } from './documents/sensitive.ts'
import type { KnownEcho } from './documents/sidecar.ts'
import type { Echoes } from './echoes.ts'

export interface Mirrored {
  written: number
  removed: number
  unchanged: number
  /** Why roles could not be read; their entries in the memory stay as they are. */
  problems: string[]
}

/** Where echoes lie. */
export interface EchoOrigin {
  /** Absolute path of their folder. */
  folder: string
  /** The machine whose path this is. */
  host: string
}

const tag = 'echo'
const page = 1000

/**
 * Mirrors the echoes into a memory, so that its searches find them: each echo becomes a long-term entry of type
 * `pattern` under `echo:<role>/<id>`, and entries of pruned or removed echoes are deleted. The files remain the source
 * of truth. Idempotent.
 *
 * @param options.prefix of the keys, default `echo:`. Each project needs its own in a memory that several share
 * @param options.origin what the copies say of where the echoes lie: without it nobody can tell that the folder is gone
 * @throws MemoryError as the memory throws it; calling it again finishes the work
 */
export async function mirrorEchoes(
  echoes: Echoes,
  memory: MemoryManager,
  options: { prefix?: string | undefined; origin?: EchoOrigin | undefined } = {},
): Promise<Mirrored> {
  const { prefix = `${tag}:` } = options
  const origin = withoutRedacted(options.origin)
  const wanted = new Map<string, JsonObject>()
  const unread = new Map<string, string>()
  for (const role of echoes.roles()) {
    try {
      for (const echo of (await echoes.read(role)).echoes)
        wanted.set(`${prefix}${role}/${echo.id}`, { ...memoryOf(role, echo), ...origin })
    } catch (error) {
      if (!isMemoryError(error)) throw error
      unread.set(role, error.message)
    }
  }
  const standing = await entriesOf(memory, prefix)
  const removed = [...standing.keys()].filter((key) => !wanted.has(key) && !unread.has(roleIn(key, prefix)))
  const written = [...wanted].filter(([key, value]) => !saysTheSame(standing.get(key), value))
  for (let at = 0; at < written.length; at += page) {
    const writes = written.slice(at, at + page).map(([key, value]) => ({
      key,
      value,
      options: { type: 'pattern', tags: [tag, String(value.role), String(value.layer)] },
    }))
    await memory.batchWrite('long-term', writes)
  }
  await removeCopies(memory, removed)
  return {
    written: written.length,
    removed: removed.length,
    unchanged: wanted.size - written.length,
    problems: [...unread.values()],
  }
}

/** The copies in a memory, by key, that say where their echoes lie. */
export async function copiesWithOrigin(memory: MemoryManager): Promise<Map<string, EchoOrigin>> {
  const found = new Map<string, EchoOrigin>()
  for await (const { key, value } of entries(memory)) {
    const { folder, host } = Object(value) as Partial<JsonObject>
    if (isCopy.test(key) && typeof folder === 'string' && typeof host === 'string')
      found.set(key, { folder, host })
  }
  return found
}

/** Removes copies of echoes from a memory. */
export async function removeCopies(memory: MemoryManager, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += page) {
    const removals = keys.slice(at, at + page).map((key) => ({ operation: 'delete', key }) as const)
    await memory.atomicUpdate('long-term', removals)
  }
}

async function entriesOf(memory: MemoryManager, prefix: string): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>()
  for await (const { key, value } of entries(memory)) if (isOwn(key, prefix)) found.set(key, value)
  return found
}

async function* entries(memory: MemoryManager): AsyncGenerator<{ key: string; value: JsonObject }> {
  for (let offset = 0; ; offset += page) {
    const matches = await memory.search<JsonObject>(
      'long-term',
      { tags: [tag] },
      { limit: page, offset, touch: false },
    )
    yield* matches
    if (matches.length < page) return
  }
}

/** A path in which something was redacted names another folder. */
const withoutRedacted = (origin: EchoOrigin | undefined): EchoOrigin | undefined =>
  origin && equalJson(redactJson({ ...origin }).value, { ...origin }) ? origin : undefined

/** Machines that share both memory and echoes do not take turns in writing the same copy. */
const saysTheSame = (standing: JsonObject | undefined, { host, ...wanted }: JsonObject): boolean => {
  if (standing === undefined) return false
  const { host: _, ...said } = standing
  return equalJson(said, wanted)
}

/** The key of a copy, with the prefix of a project. */
const isCopy = new RegExp(`^${tag}:[^/]+/[^/]+/[a-z]+-\\d{3,}$`)

/** Whether a key is `<prefix><role>/<id>`, and not one with a longer prefix that begins the same. */
const isOwn = (key: string, prefix: string): boolean =>
  key.startsWith(prefix) && /^[^/]+\/[a-z]+-\d{3,}$/.test(key.slice(prefix.length))

const roleIn = (key: string, prefix: string): string => key.slice(prefix.length).split('/')[0] as string

function memoryOf(role: string, { id, entry: written }: KnownEcho): JsonObject {
  const { entry } = withSafeEvidence(written)
  return redactJson({
    title: redactSensitive(entry.title).text,
    learning: redactSensitive(entry.learning).text,
    evidence: entry.evidence,
    role,
    id,
    layer: entry.layer,
    kind: redactSensitive(entry.kind).text,
    source: redactSensitive(entry.source).text,
    confidence: entry.confidence,
    verified: entry.verified,
  }).value as JsonObject
}
