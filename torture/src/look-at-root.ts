import { createMemoryManager, type MemoryManager } from '@recall/core'
import { checkUp, defaultFileSystem, type FileMemoryOptions, openFileStore } from '@recall/store-file'

/**
 * What the next process to open a root finds wrong with it: the complaints of `look` and of `recall doctor`, or why the
 * root cannot be opened or read at all.
 */
export async function lookAtRoot(
  options: Pick<FileMemoryOptions, 'root' | 'layout'>,
  look: (memory: MemoryManager) => Promise<string[]>,
): Promise<string[]> {
  const violations: string[] = []
  let memory: MemoryManager | undefined
  try {
    const store = await openFileStore(options)
    memory = createMemoryManager({ stores: store, redact: 'allow' })
    violations.push(...(await look(memory)))
    for (const { ok, check, message } of checkUp(defaultFileSystem, store, { deep: true, fix: false })) {
      // Vectors that are still to be made are not damage.
      if (!ok && check !== 'vectors') violations.push(`doctor, ${check}: ${message}`)
    }
  } catch (error) {
    violations.push((error as Error).message)
  } finally {
    await memory?.close()
  }
  return violations
}

/** Reports when a text does not find as many long-term memories as there are. */
export async function lookForNotes(memory: MemoryManager, text: string, notes: number): Promise<string[]> {
  const found = await memory.search('long-term', { text }, { limit: notes * 2, touch: false })
  return found.length === notes ? [] : [`a search finds ${found.length} of ${notes} notes`]
}
