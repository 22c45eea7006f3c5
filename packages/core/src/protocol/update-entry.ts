import { isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import type { MemoryManager, WriteOptions } from '../memory-manager.ts'
import type { MemoryScope } from '../scope.ts'
import { statedType } from '../stores/entry-identity.ts'

/** Attempts at an entry that others keep writing. */
const attempts = 20

/**
 * Reads, changes and writes an entry so that no update of another process is lost: if it was written in between, it
 * is read and changed again. Its TTL, encryption, tags and type stay unless `change` returns others. Its search text
 * cannot be read back: for an entry written with `text` or `index: false`, `change` must return them again.
 *
 * @throws MemoryError CONFLICT when others win twenty times in a row
 */
export async function updateEntry<T>(
  memory: MemoryManager,
  scope: MemoryScope,
  key: string,
  change: (known: T | null) => { value: T } & WriteOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const known = await memory.read<T>(scope, key, { includeMetadata: true })
    const { value, ...options } = change(known?.value ?? null)
    try {
      if (known) {
        const { updatedAt, expiresAt, accessedAt, encrypted, tags, type } = known.metadata
        const all = {
          // An access sets the expiry to one TTL later, so the distance between the two is the TTL.
          ttl: expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt - accessedAt,
          tags,
          // The next value states its own.
          ...(type === null || type === statedType(known.value) ? {} : { type }),
          ...(encrypted ? { encrypt: true } : {}),
          ...options,
        }
        await memory.atomicUpdate(scope, [
          { operation: 'set', key, value, options: all, ifUpdatedAt: updatedAt },
        ])
      } else await memory.write(scope, key, value, { ...options, overwrite: false })
      return value
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
      if (attempt < attempts) continue
      const message = `'${key}' is written by others all the time: try again`
      throw new MemoryError(message, MemoryErrorCode.CONFLICT, { scope, key, cause: error })
    }
  }
}
