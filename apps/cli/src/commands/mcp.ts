import { existsSync } from 'node:fs'
import { connectHub, type HubClient } from '@recall/client'
import type { Address } from '@recall/core'
import { serveMcp } from '@recall/mcp/stdio'
import { UsageError } from '../exit-codes.ts'
import { findHubAccess } from '../hub-access.ts'
import { findOwnRoot, type RootOptions } from '../memory/find-root.ts'
import { withMemory } from '../memory/memory.ts'
import type { Io } from '../terminal/io.ts'
import { byKey, remove } from './forget.ts'

/** Serves the memory over standard input and output until the host closes them. */
export async function mcp(io: Io, options: RootOptions): Promise<undefined> {
  const hub = connectedHub(io)
  const root = findOwnRoot(io, options)
  // A memory that was wired in and is away, such as one on another disk, must not be taken for an empty one.
  const create = options.root === undefined || existsSync(root)
  return withMemory(io, { ...options, root, create }, async (memory, store) => {
    await serveMcp({
      memory,
      version: process.env.RECALL_VERSION ?? '0.0.0',
      ...(hub ? { hub } : {}),
      async forget(scope, key) {
        const isSession = scope === 'episodic' && key.startsWith('conversation:')
        const found = await byKey(store, memory.namespace, [key], isSession ? undefined : scope)
        const isAsked = (each: Address): boolean => each.key !== key || each.scope === scope
        await remove(io, store, found.filter(isAsked))
      },
    })
    return undefined
  })
}

/**
 * The hub that the environment names. If its settings are wrong, that is reported, and the agent still has its own
 * memory.
 */
function connectedHub(io: Io): HubClient | undefined {
  const { RECALL_API_URL: url, RECALL_API_KEY: apiKey } = io.env
  if (!url && !apiKey) return undefined
  try {
    if (url && !URL.canParse(url))
      throw new UsageError('RECALL_API_URL is no address like https://hub.example.org')
    const access = findHubAccess(io, {})
    return connectHub({ url: access.url, apiKey: access.apiKey })
  } catch (error) {
    io.err(`recall: the tools of the hub are left out: ${(error as Error).message}\n`)
    return undefined
  }
}
