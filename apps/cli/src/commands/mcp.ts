import { join } from 'node:path'
import { connectHub } from '@recall/client'
import { serveMcp } from '@recall/mcp/stdio'
import { fenceRecalled } from '@recall/sessions'
import type { RootOptions } from '../find-root.ts'
import type { Io } from '../io.ts'
import { withMemory } from '../memory.ts'
import { byKey, remove } from './forget.ts'

/** Serves the memory to a host over standard input and output, until the host closes them. */
export async function mcp(io: Io, options: RootOptions): Promise<undefined> {
  const { RECALL_API_URL: url, RECALL_API_KEY: apiKey } = io.env
  // Not the folder that the host happens to be started in.
  const root = options.root ?? io.env.RECALL_ROOT ?? join(io.home, '.recall')
  return withMemory(io, { ...options, root, create: true }, async (memory, store) => {
    await serveMcp({
      memory,
      fence: (text, source) => fenceRecalled(text, { source }),
      version: process.env.RECALL_VERSION ?? '0.0.0',
      ...(url && apiKey ? { hub: connectHub({ url, apiKey }) } : {}),
      async forget(scope, key) {
        const isSession = key.startsWith('conversation:')
        await remove(io, store, await byKey(memory, [key], isSession ? undefined : scope))
      },
    })
    return undefined
  })
}
