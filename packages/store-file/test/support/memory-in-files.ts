import { join } from 'node:path'
import { isMemoryError, type MemoryErrorCode, type MemoryManager } from '@recall/core'
import { expect, onTestFinished } from 'vitest'
import { type FileMemoryOptions, openFileMemory } from '../../src/open-file-memory.ts'
import { temporaryRoot } from './temporary-root.ts'

/** A memory in a root of its own, closed after the test, and where its files lie. */
export async function open(options: Omit<FileMemoryOptions, 'root'> = {}) {
  const root = temporaryRoot()
  const memory = await openFileMemory({ root, redact: 'allow', ...options })
  onTestFinished(() => memory.close())
  const at = (...names: string[]): string => join(root, 'memory', ...names)
  return { root, memory, at }
}

export const keysOf = async (memory: MemoryManager, text: string): Promise<string[]> =>
  (await memory.search('long-term', { text })).map(({ key }) => key)

/** What a call that has to fail says. */
export async function failure(call: Promise<unknown>, code: MemoryErrorCode): Promise<string> {
  const error = await call.then(
    () => 'no error',
    (reason: unknown) => reason,
  )
  expect(isMemoryError(error, code), String(error)).toBe(true)
  return String(error)
}

/** Writes what is there again and again: each time it is another version, and an update that did not see it is refused. */
export async function expectVersions(memory: MemoryManager, key: string): Promise<void> {
  const version = async () =>
    (await memory.read('long-term', key, { includeMetadata: true }))?.metadata.updatedAt as number
  for (let i = 0; i < 5; i++) {
    const before = await version()
    await memory.write('long-term', key, `text ${i}`)
    expect(await version()).toBeGreaterThan(before)
    const update = { operation: 'set', key, value: 'late', ifUpdatedAt: before } as const
    await expect(memory.atomicUpdate('long-term', [update])).rejects.toMatchObject({
      code: 'MEMORY_CONFLICT',
    })
  }
}
