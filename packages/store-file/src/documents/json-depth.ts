import type { JsonValue } from '@recall/core'

/** A memory takes no value that is nested deeper. Files may: to go through theirs could exhaust the stack. */
export const deepestJson = 100

export const isTooDeep = (value: JsonValue, depth = 0): boolean =>
  depth > deepestJson ||
  (typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((member) => isTooDeep(member, depth + 1)))
