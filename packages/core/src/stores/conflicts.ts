import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { Address } from '../memory-store.ts'

/** The error of `put` with `overwrite: false` when the key holds an unexpired entry. */
export const alreadyExists = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' already exists in ${scope} memory: pass overwrite: true to replace it`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )

/** The error of `commit` when an entry is not as its change expected. */
export const changedUnderneath = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' in ${scope} memory was written or deleted by somebody else meanwhile: read it again`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )

/** The error of `restore` when the store holds another value by now. */
export const writtenSinceArchived = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' was written again since it was archived: delete it first, or keep it`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )
