import { type Address, MemoryError, MemoryErrorCode } from '@recall/core'

export const conflict = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' already exists in ${scope} memory: pass overwrite: true to replace it`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )

export const changedUnderneath = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' in ${scope} memory was written or deleted by somebody else meanwhile: read it again`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )
