import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { bgeSmallEn, type ModelFile, type ModelFiles } from '@recall/model-bge-small-en'
import { unlessAborted } from '../unless-aborted.ts'
import { batchByLength } from './batches.ts'
import { openSession, type Session } from './runtime.ts'
import { checkRuntimeOptions, type Runtime, type RuntimeOptions } from './runtime-options.ts'
import { createTokenize, type Tokenize } from './tokenizer.ts'

export interface LocalEmbedderOptions {
  /** Default: bge-small-en-v1.5 with 8-bit weights, from `@recall/model-bge-small-en`. */
  model?: ModelFiles | undefined
  /**
   * Default: onnxruntime-node when it is installed, otherwise the WebAssembly build, which always works. Worker threads
   * and Bun use the WebAssembly build too, unless the process has `ORT_DISABLE_TELEMETRY=1`: there, the other one
   * cannot be kept from reporting.
   */
  runtime?: Runtime | undefined
  /** Threads of the native runtime. Default: its own choice. */
  threads?: number | undefined
}

export interface LocalEmbedder extends Embedder {
  /** What runs the model; `undefined` until it is loaded. */
  readonly runtime: Runtime | undefined
}

/**
 * An embedder that runs its model in this process, without network or key. Nothing is loaded before the first call,
 * which checks both files of the model against their SHA-256.
 *
 * @throws MemoryError INVALID_INPUT, from this call, for a runtime or an option that there is not; from `embed` and
 * `warmUp`: CORRUPTION when a file is not the published one; UNAVAILABLE when a file or the runtime cannot be loaded;
 * CLOSED after `close`
 */
export function localEmbedder(options: LocalEmbedderOptions = {}): LocalEmbedder {
  const { model = bgeSmallEn, ...wanted } = options
  checkRuntimeOptions(wanted)
  let loaded: Promise<Loaded> | undefined
  let runtime: Runtime | undefined
  let queue: Promise<unknown> = Promise.resolve()
  let closed = false

  const load = async (): Promise<Loaded> => {
    if (closed) throw new MemoryError('the embedder is closed', MemoryErrorCode.CLOSED)
    loaded ??= open(model, wanted)
    const own = loaded
    try {
      const { session } = await own
      runtime = session.runtime
      return await own
    } catch (error) {
      // A file that cannot be read now may be readable later.
      if (loaded === own) loaded = undefined
      throw error
    }
  }

  return {
    model: model.id,
    dimensions: model.dimensions,
    unrelated: model.unrelated,
    scripts: model.scripts,
    maxTokens: model.maxTokens,

    get runtime() {
      return runtime
    },

    embed(texts, mode, { signal } = {}) {
      // One run at a time: two at once would take twice the memory and not be faster.
      const answer = queue.then(async () => {
        signal?.throwIfAborted()
        if (texts.length === 0) return []
        const prefix = mode === 'query' ? model.queryPrefix : ''
        return embedAll(
          await load(),
          model,
          texts.map((text) => prefix + text),
          signal,
        )
      })
      queue = answer.catch(() => {})
      return unlessAborted(answer, signal)
    },

    async warmUp() {
      await load()
    },

    async close() {
      closed = true
      await queue
      const last = loaded
      // A concurrent `close` finds nothing left to close.
      loaded = undefined
      const { session } = (await last?.catch(() => undefined)) ?? {}
      await session?.close()
    },
  }
}

interface Loaded {
  session: Session
  tokenize: Tokenize
}

async function open(model: ModelFiles, wanted: RuntimeOptions): Promise<Loaded> {
  const [weights, vocabulary] = await Promise.all([
    readVerified(model.weights),
    readVerified(model.tokenizer),
  ])
  const session = await openSession(weights, wanted)
  return { session, tokenize: createTokenize(vocabulary.toString('utf8'), model.maxTokens) }
}

async function readVerified({ url, sha256 }: ModelFile): Promise<Buffer> {
  let bytes: Buffer
  try {
    bytes = await readFile(url)
  } catch (cause) {
    throw new MemoryError(
      `the embedding model is not at ${url.href}: reinstall its package`,
      MemoryErrorCode.UNAVAILABLE,
      { cause },
    )
  }
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
    throw new MemoryError(
      `${url.href} is not the model that was published: reinstall its package`,
      MemoryErrorCode.CORRUPTION,
    )
  }
  return bytes
}

async function embedAll(
  { session, tokenize }: Loaded,
  model: ModelFiles,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const tokens = texts.map(tokenize)
  const vectors = new Array<Float32Array>(texts.length)
  for (const batch of batchByLength(tokens.map(({ length }) => length))) {
    // The WebAssembly runtime computes in this thread: between runs, timers and signals get a turn.
    await setImmediate()
    signal?.throwIfAborted()
    const length = Math.max(...batch.map((i) => (tokens[i] as number[]).length))
    const ids = new BigInt64Array(batch.length * length)
    const mask = new BigInt64Array(batch.length * length)
    batch.forEach((text, row) => {
      ;(tokens[text] as number[]).forEach((id, column) => {
        ids[row * length + column] = BigInt(id)
        mask[row * length + column] = 1n
      })
    })
    const hidden = await session.run(ids, mask, batch.length, length)
    batch.forEach((text, row) => {
      const start = row * length * model.dimensions
      const states = hidden.subarray(start, start + length * model.dimensions)
      vectors[text] = pool(states, (tokens[text] as number[]).length, model)
    })
  }
  return vectors
}

/** Pools the states of a text's tokens, without the padding, into one unit vector. */
function pool(states: Float32Array, tokens: number, { pooling, dimensions }: ModelFiles): Float32Array {
  const vector = states.slice(0, dimensions)
  if (pooling === 'mean') {
    for (let token = 1; token < tokens; token++) {
      for (let i = 0; i < dimensions; i++) {
        vector[i] = (vector[i] as number) + (states[token * dimensions + i] as number)
      }
    }
  }
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}
