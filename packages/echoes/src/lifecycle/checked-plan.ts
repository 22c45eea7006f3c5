import { MemoryError, MemoryErrorCode } from '@recall/core'
import type * as z from 'zod/mini'

/**
 * A plan checked by a schema, as a copy that nobody changes meanwhile.
 *
 * @param of the subject of the plan, for the message
 * @throws MemoryError INVALID_INPUT when it has another form
 */
export function checkedPlan<Plan>(schema: z.ZodMiniType<Plan>, plan: unknown, of: string): Plan {
  const { success, data, error } = schema.safeParse(plan)
  if (success) return data
  const at = error.issues[0]?.path.join('.') || 'its top'
  throw new MemoryError(
    `this is not a plan of ${of}, at ${at}: make a new plan, and apply it as it is`,
    MemoryErrorCode.INVALID_INPUT,
  )
}
