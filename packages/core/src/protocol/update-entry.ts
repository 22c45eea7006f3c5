import { isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import { inTurn } from '../in-turn.ts'
import type { MemoryManager, MemoryMetadata, WriteOptions } from '../memory-manager.ts'
import type { MemoryScope } from '../scope.ts'

/** Attempts at an entry that others keep writing. */
const attempts = 100
/** Milliseconds: the longest pause before the second attempt, doubled for each further one, and the longest of all. */
const firstPause = 1
const longestPause = 100

/**
 * Reads, changes and writes an entry so that no update of another process is lost: if it was written in between, it is
 * read and changed again, after a pause of random length. Updates of an entry through the same memory take turns. Its
 * TTL, encryption, tags, type and what it is found by stay unless `change` returns others.
 *
 * @param change gets what is kept, or `null` for both when the key is absent; may be called again for a later version
 * @throws MemoryError CONFLICT when others write first a hundred times in a row
 */
export function updateEntry<T>(
  memory: MemoryManager,
  scope: MemoryScope,
  key: string,
  change: (known: T | null, metadata: MemoryMetadata | null) => { value: T } & WriteOptions,
  { pause = byTimer }: { pause?: ((milliseconds: number) => Promise<unknown>) | undefined } = {},
): Promise<T> {
  const attempt = async (): Promise<T> => {
    const known = await memory.read<T>(scope, key, { includeMetadata: true })
    const { value, ...options } = change(known?.value ?? null, known?.metadata ?? null)
    if (known) {
      const ifUpdatedAt = known.metadata.updatedAt
      await memory.atomicUpdate(scope, [
        { operation: 'set', key, value, options, ifUpdatedAt, keepOptions: true },
      ])
    } else await memory.write(scope, key, value, { ...options, overwrite: false })
    return value
  }

  return inTurn(memory, `${scope} ${key}`, async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt()
      } catch (error) {
        if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
        if (tries === attempts) throw overtaken(scope, key, error)
      }
      await pause(Math.random() * Math.min(longestPause, firstPause * 2 ** (tries - 1)))
    }
  })
}

const byTimer = (milliseconds: number): Promise<unknown> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

const overtaken = (scope: MemoryScope, key: string, cause: unknown): MemoryError =>
  new MemoryError(`others keep writing '${key}': try again`, MemoryErrorCode.CONFLICT, {
    scope,
    key,
    cause,
  })
