import { MemoryError, MemoryErrorCode } from '@recall/core'
import type * as z from 'zod/mini'

/**
 * What a schema says of a plan, as a copy, which nobody changes meanwhile.
 *
 * @param of what the plan is of, for the message
 * @throws MemoryError INVALID_INPUT when it has another form
 */
export function checkedPlan<Plan>(schema: z.ZodMiniType<Plan>, plan: unknown, of: string): Plan {
  const { success, data, error } = schema.safeParse(plan)
  if (success) return data
  const at = error.issues[0]?.path.join('.') || 'its top'
  throw new MemoryError(
    `this is no plan of ${of}, at ${at}: make a new plan, and apply it as it is`,
    MemoryErrorCode.INVALID_INPUT,
  )
}
