import type { Embedder } from '../embedder.ts'
import { wordVector } from '../ranking/word-vector.ts'
import { canRead } from './can-read.ts'
import { embedTexts, unitVector } from './embed-texts.ts'

/**
 * One vector of unit length for each text, covering all of it. For a text that may be longer than the model reads, it
 * is the mean of the vectors of its parts, weighted by length: what one part says is found, though less surely than if
 * it stood alone. A text in a script that the model does not know gets a vector of its words.
 *
 * @throws MemoryError as `embedTexts`
 */
export async function embedWhole(
  embedder: Embedder,
  texts: readonly string[],
  mode: 'document' | 'query',
  options?: { signal?: AbortSignal | undefined },
): Promise<Float32Array[]> {
  const isRead = texts.map((text) => canRead(embedder, text))
  const read = texts.filter((_, i) => isRead[i])
  const vectors = await embedParts(embedder, read, mode, options)
  return texts.map((text, i) =>
    isRead[i] ? (vectors.shift() as Float32Array) : wordVector(text, embedder.dimensions),
  )
}

/** As `embedWhole`, for texts that the model can read. */
async function embedParts(
  embedder: Embedder,
  texts: readonly string[],
  mode: 'document' | 'query',
  options?: { signal?: AbortSignal | undefined },
): Promise<Float32Array[]> {
  const split = texts.map((text) => partsOf(text, embedder.maxTokens))
  const vectors = await embedTexts(embedder, split.flat(), mode, options)
  let taken = 0
  return split.map((own) => {
    const ofOwn = vectors.slice(taken, taken + own.length)
    taken += own.length
    return ofOwn.length === 1 ? (ofOwn[0] as Float32Array) : meanOf(own, ofOwn, embedder)
  })
}

/** Whether a text may be longer than what a model reads of it. */
export const mayBeCut = ({ maxTokens }: Pick<Embedder, 'maxTokens'>, text: string): boolean =>
  endOfPart(text, maxTokens) < text.length

function meanOf(
  parts: readonly string[],
  vectors: readonly Float32Array[],
  { model, dimensions }: Embedder,
): Float32Array {
  const sum = new Float64Array(dimensions)
  for (const [at, vector] of vectors.entries()) {
    const weight = parts[at]?.length ?? 0
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + weight * (vector[i] ?? 0)
  }
  return unitVector(sum, model)
}

/** Splits a text, between words where there are any, into parts that a model reads whole. */
function partsOf(text: string, maxTokens: number | undefined): string[] {
  const parts: string[] = []
  for (let rest = text; rest !== ''; ) {
    const end = endOfPart(rest, maxTokens)
    parts.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  const worded = parts.filter((part) => part.trim() !== '')
  return worded.length > 0 ? worded : [parts[0] ?? text]
}

/** The length of the first part of a text. About three ASCII characters, or one other character, make a token. */
function endOfPart(text: string, maxTokens = Number.POSITIVE_INFINITY): number {
  let blank = 0
  let tokens = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === space || code === lineFeed) blank = i
    tokens += code < 128 ? 1 / 3 : 1
    // Never splits a surrogate pair.
    if (tokens > maxTokens && i > 1) return blank > 0 ? blank : i - (code >= 0xdc00 && code < 0xe000 ? 1 : 0)
  }
  return text.length
}

const [space, lineFeed] = [0x20, 0x0a]
