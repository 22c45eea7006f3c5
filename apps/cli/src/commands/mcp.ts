import { connectHub, type HubClient } from '@recall/client'
import {
  createMemoryManager,
  type Embedder,
  isConversationKey,
  isMemoryError,
  type MemoryManager,
} from '@recall/core'
import { serveMcp } from '@recall/mcp/stdio'
import { type FileStore, keptModel, layouts } from '@recall/store-file'
import { UsageError } from '../exit-codes.ts'
import { dropSummaries, summariesToForget } from '../hosts/waiting-summaries.ts'
import { findHubAccess } from '../hub-access.ts'
import { afterFirstCalls } from '../memory/after-first-calls.ts'
import { areOf, embedderOf } from '../memory/embedder.ts'
import { addressesByKey } from '../memory/find-addresses.ts'
import { findOwnRoot, type RootOptions } from '../memory/find-root.ts'
import { removeExpired } from '../memory/remove-expired.ts'
import { removeForGood } from '../memory/remove-for-good.ts'
import { withMemory } from '../memory/with-memory.ts'
import type { Io } from '../terminal/io.ts'

/** Serves the memory over standard input and output until the host closes them. */
export async function mcp(io: Io, options: RootOptions): Promise<undefined> {
  const hub = connectedHub(io)
  const root = findOwnRoot(io, options)
  // A memory that was named and is away, such as one on another disk, must not be taken for an empty one.
  const create = options.root === undefined
  const embedder = await embedderFor(io, root)
  const opened = { ...options, root, create, ...(embedder ? { embedder } : {}) }
  return withMemory(io, opened, async (memory, store) => {
    let tidying: Promise<void> | undefined
    const tidy = (): void => {
      tidying = tidyUp(io, store)
    }
    await serveMcp({
      memory: afterFirstCalls(embedder ? evenWithoutModel(io, memory, store) : memory, tidy),
      version: process.env.RECALL_VERSION ?? '0.0.0',
      ...(hub ? { hub } : {}),
      notSearched: (scope) => store.notSearched({ scope, namespace: memory.namespace }),
      async forget(scope, key) {
        // A session is forgotten as a whole.
        const only = scope === 'episodic' && isConversationKey(key) ? undefined : scope
        const stored = await addressesByKey(store, memory.namespace, [key], only)
        const found = stored.filter((each) => each.key !== key || each.scope === scope)
        const waiting = summariesToForget(store, { keys: [key], found, scope: only })
        await removeForGood(store, [...found, ...waiting.map(({ address }) => address)], io.now)
        dropSummaries(store, waiting)
      },
    })
    await tidying
    return undefined
  })
}

/** Where no hooks are installed, nothing else removes what has expired. A failure must not end the server. */
async function tidyUp(io: Io, store: FileStore): Promise<void> {
  const { problems } = await removeExpired(store, io.now()).catch((error: Error) => ({
    problems: [error.message],
  }))
  for (const problem of problems) io.err(`recall: not removed: ${problem}\n`)
}

/** The embedder of a memory that has vectors. If it fails, which is reported, the agent can still search by words. */
async function embedderFor(io: Io, root: string): Promise<Embedder | undefined> {
  try {
    const embedder = await embedderOf(io, root)
    if (!embedder) return undefined
    const kept = Object.values(layouts).map((layout) => keptModel({ root, layout }))
    if (kept.some((each) => each !== null && areOf(each, embedder))) {
      const { cachedEmbedder } = await import('@recall/embeddings')
      // The same question goes to several scopes.
      return cachedEmbedder(embedder, { max: 100 })
    }
    await embedder.close?.()
    throw new UsageError(`its vectors are not of ${embedder.model}; recall reindex --model makes them again`)
  } catch (error) {
    io.err(`recall: memory is searched by words alone: ${(error as Error).message}\n`)
    return undefined
  }
}

/** While the model cannot be reached, a search uses words alone, and the mode of its results says so. */
function evenWithoutModel(io: Io, memory: MemoryManager, store: FileStore): MemoryManager {
  const byWords = createMemoryManager({ stores: store, clock: io.now })
  return {
    ...memory,
    async search<T>(...asked: Parameters<MemoryManager['search']>) {
      try {
        return await memory.search<T>(...asked)
      } catch (error) {
        if (!isMemoryError(error)) throw error
        // This fails as well if the model is not to blame.
        const found = await byWords.search<T>(...asked)
        io.err(`recall: searched by words alone: ${error.message}\n`)
        return found
      }
    },
  }
}

/** The hub that the environment names. Wrong settings are reported, and the agent still has its own memory. */
function connectedHub(io: Io): HubClient | undefined {
  const { RECALL_API_URL: url, RECALL_API_KEY: apiKey } = io.env
  if (!url && !apiKey) return undefined
  try {
    if (url && !URL.canParse(url))
      throw new UsageError('RECALL_API_URL is not an address like https://hub.example.org')
    const access = findHubAccess(io, {})
    return connectHub({ url: access.url, apiKey: access.apiKey })
  } catch (error) {
    io.err(`recall: the tools of the hub are left out: ${(error as Error).message}\n`)
    return undefined
  }
}
