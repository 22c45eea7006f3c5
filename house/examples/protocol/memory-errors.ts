import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'

const error = new MemoryError('the disk is full', MemoryErrorCode.QUOTA_EXCEEDED, {
  scope: 'long-term',
  key: 'playbook',
})
console.log(error.name, error.code, error.scope, error.key) // MemoryError MEMORY_QUOTA_EXCEEDED long-term playbook
console.log(isMemoryError(error, MemoryErrorCode.TIMEOUT)) // false
