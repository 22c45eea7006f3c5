import type { JsonValue } from '@recall/core'
import { maxJsonDepth } from '@recall/core/json'

/** Whether a value is nested too deep for a memory. Files may hold such a value: walking it could exhaust the stack. */
export const isTooDeep = (value: JsonValue, depth = 0): boolean =>
  depth > maxJsonDepth ||
  (typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((member) => isTooDeep(member, depth + 1)))
