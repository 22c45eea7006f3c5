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

/** The error of `restore` when the store now holds another value. Deleting that value deletes the archived one, too. */
export const writtenSinceArchived = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' was written again since it was archived: to keep both, write the newer value under another key, then here with ttl: 1, and restore again`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )
