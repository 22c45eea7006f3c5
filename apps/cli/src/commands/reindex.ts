import { join } from 'node:path'
import { type Embedder, embedQuery, MemoryError, MemoryErrorCode } from '@recall/core'
import { type Coverage, type FileStore, keptModel, type RefusedPassages } from '@recall/store-file'
import { adviceOn, areOf, openEmbedder, tellRefused } from '../memory/embedder.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import { count, formatMs } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { withProgress } from '../terminal/progress.ts'

export async function reindex(
  io: Io,
  options: RootOptions & { json?: boolean; full?: boolean; model?: boolean },
): Promise<undefined> {
  const embedder = options.model ? await openEmbedder(io) : undefined
  return withStore(io, { ...options, ...(embedder ? { embedder } : {}) }, async (store) => {
    const started = performance.now()
    await withProgress(io, { what: 'indexing' }, ({ update }) =>
      store.reindex({ full: options.full ?? false, onProgress: update }),
    )
    const documents = store.index.asIs().countDocuments()
    tellUnread(io, store)
    requireKept(store, documents)
    const indexedAfter = performance.now()
    const vectors = embedder && (await embedAll(io, store, embedder))
    const embeddedMs = performance.now() - indexedAfter
    if (options.json) {
      const tookMs = Math.round(performance.now() - started)
      io.out(`${JSON.stringify({ documents, ...(vectors ? { vectors } : {}), tookMs })}\n`)
    } else {
      io.out(`${count(documents, 'entry', 'entries')} indexed in ${formatMs(indexedAfter - started)}\n`)
      if (vectors)
        io.out(
          `a vector of ${vectors.model} for ${vectors.embedded} of ${count(vectors.total, 'passage')} (${formatMs(embeddedMs)})\n`,
        )
    }
    if (vectors?.refused) tellRefused(io, vectors.refused)
    const advice = embedder && adviceOn(embedder, embeddedMs)
    if (advice) io.err(`recall: ${advice}\n`)
    return undefined
  })
}

type Embedded = Coverage & { refused?: RefusedPassages }

/** Says which files are missing from the index, and why: it would otherwise pass for complete. */
function tellUnread(io: Io, { index }: FileStore): void {
  for (const { problem } of index.asIs().unread()) io.err(`recall: not indexed: ${problem}\n`)
}

/** The next command would have to build the index again, each time. */
function requireKept({ index, root, layout }: FileStore, documents: number): void {
  if (index.isKept()) return
  throw new MemoryError(
    `${count(documents, 'entry', 'entries')} indexed in memory alone, and none of it is kept: first mend what keeps ${join(root, layout.internal)} from being written`,
    MemoryErrorCode.WRITE_FAILED,
  )
}

/**
 * Embeds every passage. Vectors of another model, which took long to make, are discarded only once this one answers.
 */
async function embedAll(io: Io, store: FileStore, embedder: Embedder): Promise<Embedded | undefined> {
  const { vectors } = store
  if (!vectors) return undefined
  const kept = keptModel(store)
  if (kept !== null && !areOf(kept, embedder)) {
    await embedQuery(embedder, 'Does the model answer?')
    vectors.reset()
  }
  const goesOn = 'the vectors that were made stay; run the same again, and it goes on from there'
  const { refused } = await withProgress(io, { what: 'embedding', goesOn }, ({ update }) =>
    vectors.catchUp({ now: io.now(), onProgress: update }),
  )
  return { ...vectors.coverage(io.now()), ...(refused ? { refused } : {}) }
}
