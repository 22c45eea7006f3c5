import { MemoryError, MemoryErrorCode } from './errors.ts'
import type { Address } from './memory-store.ts'

/** What `put` with `overwrite: false` fails with where the key holds an unexpired entry. */
export const alreadyExists = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' already exists in ${scope} memory: pass overwrite: true to replace it`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )

/** What `commit` fails with where an entry is not as its change expected it. */
export const changedUnderneath = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' in ${scope} memory was written or deleted by somebody else meanwhile: read it again`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )
