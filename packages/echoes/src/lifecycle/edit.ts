import { MemoryError, MemoryErrorCode } from '@recall/core'
import * as z from 'zod/mini'
import { dayOf } from '../documents/day.ts'
import { sha256 } from '../documents/digest.ts'
import { type EchoBlock, joinBlocks, withFields } from '../documents/echo-document.ts'
import { type EchoLayer, echoLayers, isEchoLayer } from '../documents/layers.ts'
import { identifyMoved, type KnownEcho, noteArchived } from '../documents/sidecar.ts'
import {
  backupChange,
  type LoadedRole,
  memoryChange,
  noEntry,
  outdatedPlan,
  sidecarChange,
  unfitPlan,
} from '../files/role-folder.ts'
import type { FileChange } from '../files/transaction.ts'
import { checkedPlan } from './checked-plan.ts'

/** A plan to remove entries from a memory, or to move one to another layer. Plain JSON, like the plan of a pruning. */
export interface EditPlan {
  role: string
  /** Day in the backup's name. */
  day: string
  /** SHA-256 of the file that the plan was made for. */
  fingerprint: string
  steps: EditStep[]
}

export interface EditStep {
  id: string
  layer: EchoLayer
  title: string
  /** Where the entry goes: into the archive, from which it can be restored, or to another layer. */
  to: EchoLayer | 'archive'
}

const planSchema = z.strictObject({
  role: z.string(),
  day: z.string(),
  fingerprint: z.string(),
  steps: z.array(
    z.strictObject({
      id: z.string(),
      layer: z.enum(echoLayers),
      title: z.string(),
      to: z.enum([...echoLayers, 'archive']),
    }),
  ),
})

/**
 * A copy of a plan, which nobody changes while a person is asked.
 *
 * @throws MemoryError INVALID_INPUT when it does not have the form of a plan: the plan decides whether a person has to
 * agree
 */
export const checkedEdit = (plan: EditPlan): EditPlan => checkedPlan(planSchema, plan, 'an edit')

/**
 * Plans to remove entries. Changes nothing.
 *
 * @throws MemoryError NOT_FOUND for an id that is not in the memory
 */
export const planRemoval = (role: LoadedRole, ids: readonly string[], now: number): EditPlan => ({
  ...frameOf(role, now),
  steps: [...new Set(ids)].map((id) => stepOf(echoOf(role, id), 'archive')),
})

/**
 * Plans to move an entry to another layer. Changes nothing.
 *
 * @throws MemoryError NOT_FOUND, INVALID_INPUT unless `to` is another layer, CONFLICT for an entry that pruning has
 * shortened
 */
export function planMove(role: LoadedRole, id: string, to: EchoLayer, now: number): EditPlan {
  const echo = echoOf(role, id)
  const { layer } = echo.entry
  if (layer === to || !isEchoLayer(to)) {
    const message = `${id} is ${layer} and cannot be moved to ${to}: name another layer`
    throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT)
  }
  if (role.sidecar.entries[id]?.archived?.as === 'shortened') {
    throw new MemoryError(`${id} was shortened: restore it before it is moved`, MemoryErrorCode.CONFLICT)
  }
  return { ...frameOf(role, now), steps: [stepOf(echo, to)] }
}

/** Whether a person has to agree: nobody else may add or remove etched entries. */
export const needsPerson = ({ steps }: EditPlan): boolean =>
  steps.some(({ layer, to }) => layer === 'etched' || to === 'etched')

/** The new ids of entries that moved to another layer, by their earlier ones. */
export type NewIds = Readonly<Record<string, string>>

/**
 * The file changes that carry out a plan, the backup first.
 *
 * @throws MemoryError CONFLICT when the memory has changed since, INVALID_INPUT when the plan does not fit it
 */
export function editChanges(
  root: string,
  role: LoadedRole,
  plan: EditPlan,
): { changes: FileChange[]; newIds: NewIds } {
  if (sha256(role.text) !== plan.fingerprint) throw outdatedPlan(`memory of ${role.role}`)
  if (plan.steps.length === 0) return { changes: [], newIds: {} }
  const { name, change } = backupChange(root, role.role, 'MEMORY', role.text, plan.day)
  const sidecar = structuredClone(role.sidecar)
  const replaced = new Map<EchoBlock, EchoBlock[]>()
  const moved = new Set<string>()
  for (const { id, layer, title, to } of plan.steps) {
    const { block, entry } = echoOf(role, id)
    const known = sidecar.entries[id]
    // The person who was asked saw the title in the plan.
    const isMeant = entry.layer === layer && entry.title === title
    if (!isMeant || replaced.has(block) || !known) throw unfitPlan(id)
    if (to === 'archive') {
      replaced.set(block, [])
      noteArchived(known, 'removed', { backup: name, block: block.section })
    } else {
      replaced.set(block, [withFields(block, { layer: to })])
      moved.add(id)
    }
  }
  const next = joinBlocks(role.document.blocks.flatMap((block) => replaced.get(block) ?? block))
  const left = role.echoes.filter(({ block }) => replaced.get(block)?.length !== 0)
  const places = left.flatMap(({ id }, at) => (moved.has(id) ? [[at, id] as const] : []))
  const identified = identifyMoved(next, sidecar, new Map(places))
  const memory = memoryChange(role, next, { byPerson: needsPerson(plan) })
  return {
    changes: [change, memory, sidecarChange(role.role, identified.sidecar)],
    newIds: Object.fromEntries(places.map(([at, id]) => [id, identified.echoes[at]?.id ?? id])),
  }
}

const frameOf = ({ role, text }: LoadedRole, now: number) => ({
  role,
  day: dayOf(now),
  fingerprint: sha256(text),
})

const stepOf = ({ id, entry }: KnownEcho, to: EditStep['to']): EditStep => ({
  id,
  layer: entry.layer,
  title: entry.title,
  to,
})

function echoOf({ role, echoes }: LoadedRole, id: string): KnownEcho {
  const echo = echoes.find((each) => each.id === id)
  if (!echo) throw noEntry(role, id)
  return echo
}
