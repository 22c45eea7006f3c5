import { type Embedder, isMemoryError, MemoryErrorCode } from '@recall/core'
import {
  hasUnreadableVectors,
  keptModel,
  layouts,
  type RefusedPassages,
  type VectorSpace,
} from '@recall/store-file'
import { UsageError } from '../exit-codes.ts'
import { count } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'

/**
 * The embedder that the environment names, otherwise the local model, which needs neither network nor key.
 *
 * @throws UsageError when the variables do not name a valid one
 */
export async function openEmbedder(io: Io): Promise<Embedder> {
  const {
    RECALL_EMBEDDING_URL: url,
    RECALL_EMBEDDING_MODEL: model,
    RECALL_EMBEDDING_DIMENSIONS: length,
    RECALL_EMBEDDING_KEY: apiKey,
  } = io.env
  if (!url) return (await import('@recall/embeddings/local')).localEmbedder()
  const dimensions = Number(length)
  if (!model || !Number.isInteger(dimensions) || dimensions < 1) {
    throw new UsageError(
      'RECALL_EMBEDDING_URL needs RECALL_EMBEDDING_MODEL and RECALL_EMBEDDING_DIMENSIONS as well',
    )
  }
  const { httpEmbedder } = await import('@recall/embeddings')
  try {
    return httpEmbedder({ url, model, dimensions, ...(apiKey ? { apiKey } : {}) })
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) throw error
    throw new UsageError(`RECALL_EMBEDDING_URL: ${error.message} (a key goes into RECALL_EMBEDDING_KEY)`)
  }
}

/** The embedder for searches of a memory that has vectors. Other searches load no model. */
export async function embedderOf(io: Io, root: string): Promise<Embedder | undefined> {
  const places = Object.values(layouts).map((layout) => ({ root, layout }))
  if (places.some((place) => keptModel(place) !== null)) return openEmbedder(io)
  if (places.some((place) => hasUnreadableVectors(place)))
    io.err('recall: the vectors cannot be read, found by words alone: recall reindex --model\n')
  return undefined
}

/** Whether vectors are from an embedder: some models give them in several lengths. */
export const areOf = (kept: VectorSpace, { model, dimensions }: VectorSpace): boolean =>
  kept.model === model && kept.dimensions === dimensions

/** Says which passages stay without a vector, however often they are embedded. */
export function tellRefused(io: Io, { count: refused, reason, path, key }: RefusedPassages): void {
  const first = refused === 1 ? 'it is' : 'the first is'
  const where = printable(`${path} (${key})`)
  io.err(
    `recall: the model refuses ${count(refused, 'passage')}, found by words alone; ${first} in ${where}: ${reason}\n`,
  )
}

/** From here on somebody may wonder whether it has to take this long. */
const longMs = 10_000

/** What would speed up an embedder that took this long; `undefined` when it was fast enough, or nothing would. */
export const adviceOn = (embedder: Embedder, tookMs: number): string | undefined =>
  tookMs > longMs && 'runtime' in embedder && embedder.runtime === 'wasm'
    ? 'npm install -g onnxruntime-node makes embedding several times as fast'
    : undefined
