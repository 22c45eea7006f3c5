import type { JsonValue } from '@recall/core'
import { maxJsonDepth } from '@recall/core/json'

/** Whether a memory would not take a value. Files may hold such: to go through theirs could exhaust the stack. */
export const isTooDeep = (value: JsonValue, depth = 0): boolean =>
  depth > maxJsonDepth ||
  (typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((member) => isTooDeep(member, depth + 1)))
