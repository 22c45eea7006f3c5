import { MemoryError } from '@recall/core'

/** If nothing can be read: fails as for one path alone, and names each. */
export function throwAll(errors: readonly MemoryError[]): void {
  const [first] = errors
  if (first)
    throw new MemoryError(errors.map(({ message }) => message).join('; '), first.code, { cause: first })
}
