import { MemoryError, MemoryErrorCode } from '@recall/core'
import * as z from 'zod/mini'
import { laterDay } from './day.ts'
import type { EchoBlock, EchoDocument } from './echo-document.ts'
import { type EchoEntry, entryKey } from './entry.ts'
import { type EchoLayer, echoLayers } from './layers.ts'

/** Only the last workflows count; older references no longer show that an entry is in use. */
const recentWorkflows = 20

/** The name of a file: a path could lead out of the folder that backups are read from. */
const fileName = z.string().check(z.regex(/^(?!\.)[\w.-]+$/))

/** A file in `archive/` and a section of it. */
const place = { backup: fileName, block: z.number() }

const knownEntry = z.object({
  /** The entry's `entryKey`, a hash of its pattern and evidence. */
  key: z.string(),
  /** The recent workflows that used it. */
  references: z.array(z.string()),
  /** Number of workflows that ever used it. */
  sessions: z.number(),
  lastReferenced: z.optional(z.string()),
  /**
   * Where a removed entry is, or a shortened one in full; its layer there, if it has another one now; and where its
   * full learning is, if it was shortened before it was removed.
   */
  archived: z.optional(
    z.object({
      ...place,
      /** A shortened entry is still in the memory, a removed one is not. */
      as: z.enum(['removed', 'shortened']),
      layer: z.optional(z.enum(echoLayers)),
      learning: z.optional(z.object(place)),
    }),
  ),
})

const schema = z.object({
  version: z.literal(1),
  /** The recent workflows of this role, the newest last. */
  workflows: z.array(z.string()),
  /** The highest number assigned so far, per layer: a number is never assigned twice. */
  counters: z.object({ etched: z.number(), inscribed: z.number(), traced: z.number() }),
  entries: z.record(z.string(), knownEntry),
  /** SHA-256 of the last plan that was applied. */
  lastPlan: z.optional(z.string()),
})

type KnownEntry = z.output<typeof knownEntry>
export type ArchivedEntry = NonNullable<KnownEntry['archived']>
export type ArchivePlace = Pick<ArchivedEntry, 'backup' | 'block'>

/** Facts about a role's entries that are not in the markdown: their ids, and the workflows that used them. */
export type Sidecar = z.output<typeof schema>

export const emptySidecar = (): Sidecar => ({
  version: 1,
  workflows: [],
  counters: { etched: 0, inscribed: 0, traced: 0 },
  entries: {},
})

/** @throws MemoryError CORRUPTION */
export function parseSidecar(text: string, path: string): Sidecar {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new MemoryError(
      `${path} cannot be read: it holds the ids of the entries; move it away to number them again`,
      MemoryErrorCode.CORRUPTION,
      { cause, details: { path } },
    )
  }
}

export const printSidecar = (sidecar: Sidecar): string => `${JSON.stringify(sidecar, null, 1)}\n`

/** An entry of a role's memory, with its id and its use. */
export interface KnownEcho {
  /** For example `etched-004`; does not change when other entries are removed. */
  id: string
  entry: EchoEntry
  block: EchoBlock
  /** How many of the recent `workflows` used it. */
  references: number
  workflows: number
  /** Number of workflows that ever used it. */
  sessions: number
  lastReferenced?: string
}

/**
 * Gives every entry of a file its id: the known id of the same pattern and evidence, or the next id of its layer, in
 * the order of the file.
 */
export function identify(document: EchoDocument, known: Sidecar): { echoes: KnownEcho[]; sidecar: Sidecar } {
  const sidecar = structuredClone(known)
  const free = new Map<string, string[]>()
  for (const [id, { key, archived }] of Object.entries(sidecar.entries)) {
    if (archived?.as === 'removed') continue
    const place = `${layerOf(id)} ${key}`
    free.set(place, [...(free.get(place) ?? []), id])
  }
  for (const ids of free.values()) ids.sort((a, b) => numberOf(a) - numberOf(b))
  const echoes = document.blocks.flatMap((block): KnownEcho[] => {
    if (!block.entry) return []
    const { entry } = block
    const key = entryKey(entry)
    const id = free.get(`${entry.layer} ${key}`)?.shift() ?? nextId(sidecar, entry.layer)
    const own = sidecar.entries[id] ?? { key, references: [], sessions: 0 }
    sidecar.entries[id] = own
    return [
      {
        id,
        entry,
        block,
        references: own.references.length,
        workflows: sidecar.workflows.length,
        sessions: own.sessions,
        ...(own.lastReferenced === undefined ? {} : { lastReferenced: own.lastReferenced }),
      },
    ]
  })
  return { echoes, sidecar }
}

/**
 * Like `identify`, for entries that were moved to another layer: each gets an id of that layer and keeps its use.
 *
 * @param moved the earlier id of each, by the entry's position in the document, counted from 0
 */
export function identifyMoved(
  document: EchoDocument,
  known: Sidecar,
  moved: ReadonlyMap<number, string>,
): { echoes: KnownEcho[]; sidecar: Sidecar } {
  const without = structuredClone(known)
  for (const id of moved.values()) delete without.entries[id]
  const { echoes, sidecar } = identify(document, without)
  for (const [at, from] of moved) {
    const [id, own] = [echoes[at]?.id, known.entries[from]]
    if (id === undefined || !own) continue
    const { archived } = own
    sidecar.entries[id] = archived ? { ...own, archived: { layer: layerOf(from), ...archived } } : own
  }
  return identify(document, sidecar)
}

/** Records that a workflow used entries. Idempotent for each workflow. */
export function withReferences(
  known: Sidecar,
  workflow: string,
  ids: readonly string[],
  day: string,
): Sidecar {
  const sidecar = structuredClone(known)
  if (!sidecar.workflows.includes(workflow)) sidecar.workflows.push(workflow)
  sidecar.workflows = sidecar.workflows.slice(-recentWorkflows)
  const recent = new Set(sidecar.workflows)
  for (const [id, entry] of Object.entries(sidecar.entries)) {
    if (ids.includes(id) && !entry.references.includes(workflow)) {
      entry.references.push(workflow)
      entry.sessions += 1
      entry.lastReferenced = laterDay(day, entry.lastReferenced)
    }
    entry.references = entry.references.filter((each) => recent.has(each))
  }
  return sidecar
}

/** Records where an entry is that is removed or shortened. Text that a person added after shortening is only there. */
export function noteArchived(known: KnownEntry, as: ArchivedEntry['as'], at: ArchivePlace): void {
  const { archived: short } = known
  const learning = short && as === 'removed' ? { backup: short.backup, block: short.block } : undefined
  known.archived = learning ? { ...at, as, learning } : { ...at, as }
}

export const layerOf = (id: string): EchoLayer => id.slice(0, id.lastIndexOf('-')) as EchoLayer
const numberOf = (id: string): number => Number(id.slice(id.lastIndexOf('-') + 1))

function nextId(sidecar: Sidecar, layer: EchoLayer): string {
  sidecar.counters[layer] += 1
  return `${layer}-${String(sidecar.counters[layer]).padStart(3, '0')}`
}
