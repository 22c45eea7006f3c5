import * as z from 'zod/mini'
import { sha256 } from '../documents/digest.ts'
import { type EchoBlock, joinBlocks, withLearning } from '../documents/echo-document.ts'
import { noteArchived } from '../documents/sidecar.ts'
import {
  backupChange,
  type LoadedRole,
  memoryChange,
  outdatedPlan,
  sidecarChange,
  unfitPlan,
} from '../files/role-folder.ts'
import type { FileChange } from '../files/transaction.ts'
import { checkedPlan } from './checked-plan.ts'
import { type PrunePlan, shortened } from './plan-prune.ts'

/** Only the members that are used. The others are shown to a person and may be anything. */
const planSchema = z.object({
  role: z.string(),
  day: z.string(),
  fingerprint: z.string(),
  steps: z.array(z.object({ id: z.string(), action: z.enum(['archive', 'compress']) })),
})

/** @throws MemoryError INVALID_INPUT when it does not have the form of a plan */
export const checkPrune = (plan: PrunePlan): void => void checkedPlan(planSchema, plan, 'a pruning')

/**
 * The file changes that carry out a plan, the backup first.
 *
 * @returns no changes when this very plan was the last one carried out
 * @throws MemoryError CONFLICT when the memory has changed since, INVALID_INPUT when the plan does not fit it
 */
export function pruneChanges(root: string, role: LoadedRole, plan: PrunePlan): FileChange[] {
  const planDigest = sha256(JSON.stringify(plan))
  if (sha256(role.text) !== plan.fingerprint) {
    if (role.sidecar.lastPlan === planDigest) return []
    throw outdatedPlan(`memory of ${role.role}`)
  }
  if (plan.steps.length === 0) return []
  const { name, change } = backupChange(root, role.role, 'MEMORY', role.text, plan.day)
  const sidecar = structuredClone(role.sidecar)
  const replaced = new Map<EchoBlock, EchoBlock[]>()
  for (const { id, action } of plan.steps) {
    const echo = role.echoes.find((each) => each.id === id)
    const known = sidecar.entries[id]
    if (!echo || !known || echo.entry.layer === 'etched' || replaced.has(echo.block)) {
      throw unfitPlan(id)
    }
    const isShortened = action === 'compress'
    replaced.set(echo.block, isShortened ? [withLearning(echo.block, shortened(echo.entry.learning))] : [])
    const at = { backup: name, block: echo.block.section }
    noteArchived(known, isShortened ? 'shortened' : 'removed', at)
  }
  const next = joinBlocks(role.document.blocks.flatMap((block) => replaced.get(block) ?? block))
  sidecar.lastPlan = planDigest
  return [change, memoryChange(role, next), sidecarChange(role.role, sidecar)]
}
