import { type MemoryScope, memoryScopes } from '@recall/core'
import type { RootOptions } from '../find-root.ts'
import type { Io } from '../io.ts'
import { withMemory } from '../memory.ts'

const pageSize = 200

/** One JSON line an entry: value and metadata, all scopes or one. */
export async function exportMemory(
  io: Io,
  options: RootOptions & { scope?: MemoryScope },
): Promise<undefined> {
  return withMemory(io, options, async (memory) => {
    for (const scope of options.scope ? [options.scope] : memoryScopes) {
      for (let offset = 0; ; offset += pageSize) {
        const page = await memory.search(
          scope,
          {},
          { limit: pageSize, offset, sortOrder: 'asc', touch: false },
        )
        for (const { value, metadata } of page) io.out(`${JSON.stringify({ ...metadata, value })}\n`)
        if (page.length < pageSize) break
      }
    }
    return undefined
  })
}
