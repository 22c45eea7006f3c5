import {
  type Embedder,
  invalidInput,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  redactText,
} from '@recall/core'
import { readBody, retryAfterOf, withinTimeLimit } from '@recall/core/text'
import * as z from 'zod/mini'
import en from 'zod/v4/locales/en.js'
import { atLeastOne } from './at-least-one.ts'

export interface HttpEmbedderOptions {
  /** The server's URL up to and including the version, for example `http://localhost:11434/v1`. */
  url: string
  /** The model's name on the server, for example `nomic-embed-text`. */
  model: string
  /** Length of the model's vectors; an answer of another length is refused. */
  dimensions: number
  apiKey?: string | undefined
  /** Prefixes of queries and documents, if the model wants them, for example `search_query: `. */
  prefixes?: { query?: string | undefined; document?: string | undefined } | undefined
  /** The scripts that the model knows, for example `['Latin']` (see `Embedder.scripts`). Default: all. */
  scripts?: readonly string[] | undefined
  /** Most texts in one request, default 64; fewer if the server turns out to take fewer. */
  maxBatch?: number | undefined
  /** Timeout of one request in milliseconds; `Infinity` for none. Default 30,000. */
  timeoutMs?: number | undefined
  /** Most retries of a request after 429, 5xx or no answer. Default 3. */
  retries?: number | undefined
  /**
   * A server that asks for a pause of as many milliseconds, or more, is not asked again: its refusal is thrown at once.
   * Default: none is too long, and after a minute it is asked again.
   */
  longestPauseMs?: number | undefined
  /** Pause before a retry, in milliseconds. Default: 250, doubled each time, plus up to as much again at random. */
  backoff?: ((attempt: number) => number) | undefined
  fetch?: typeof globalThis.fetch | undefined
}

/**
 * An embedder for any server with OpenAI's `POST /embeddings`: OpenAI, Ollama, vLLM, LM Studio, Text Embeddings
 * Inference. Vectors are scaled to unit length. Secrets are replaced before a text is sent: a person may have typed one
 * into a file, or into a question. A blank text is sent as a hyphen, and one that is not well-formed is repaired,
 * because many servers refuse a whole batch for one such text.
 *
 * @throws MemoryError INVALID_INPUT, from this call, when an option is missing, wrong or unknown, or the `url` holds
 * credentials; from `embed`: UNAUTHENTICATED, RATE_LIMITED, TIMEOUT, or UNAVAILABLE, also for an answer that is not one
 * vector of the right length for each text, and with `details.refusesText` for a text that the server refuses (400, 413
 * or 422) although it takes another one
 */
export function httpEmbedder(options: HttpEmbedderOptions): Embedder {
  checkOptions(options)
  const { model, dimensions, scripts, prefixes = {} } = options
  const maxBatch = atLeastOne('maxBatch', options.maxBatch ?? 64)
  const url = endpointOf(options.url)
  const batches = { most: maxBatch }
  return {
    model,
    dimensions,
    ...(scripts ? { scripts } : {}),
    maxBatch,
    async embed(texts, mode, { signal } = {}) {
      const sent = texts.map((text) => (prefixes[mode] ?? '') + sendable(text))
      return embedInBatches(sent, batches, (batch) => embedBatch({ ...options, url }, batch, signal))
    },
  }
}

/**
 * Some servers with OpenAI's interface take only ten texts at once, or a number of tokens, and report an excess in
 * their own ways. So a refused batch is split in halves, and once that has helped, no larger ones are sent.
 */
async function embedInBatches(
  texts: string[],
  batches: { most: number },
  embed: (batch: string[]) => Promise<Float32Array[]>,
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = []
  while (vectors.length < texts.length) {
    const batch = texts.slice(vectors.length, vectors.length + batches.most)
    try {
      vectors.push(...(await embed(batch)))
    } catch (error) {
      if (!mayBeTooMuch(error)) throw error
      if (batch.length === 1) throw await refusalOfText(error, embed)
      const half = { most: Math.ceil(batch.length / 2) }
      vectors.push(...(await embedInBatches(batch, half, embed)))
      batches.most = Math.min(batches.most, half.most)
    }
  }
  return vectors
}

/**
 * The error for a text that is refused alone. A server that is asked for the wrong model refuses every text in the same
 * way, so the text is to blame only if the server takes another one.
 *
 * @throws the MemoryError of a server that does not
 */
async function refusalOfText(
  { message, code, details }: MemoryError,
  embed: (batch: string[]) => Promise<Float32Array[]>,
): Promise<MemoryError> {
  await embed(['Does the model answer?'])
  return new MemoryError(`${message} to a text, and takes others: it may be too long for the model`, code, {
    details: { ...details, refusesText: true },
  })
}

const mayBeTooMuch = (error: unknown): error is MemoryError =>
  isMemoryError(error) && [400, 413, 422].includes(Number(error.details?.status))

const aModel = 'must be the name of the model on the server'
const aLength = "must be the length of the model's vectors, a whole number above 0"
const aScript = 'must be the Unicode name of a script, like Latin or Cyrillic'
const isScript = (name: string): boolean => {
  try {
    return /^\w+$/.test(name) && new RegExp(`\\p{Script=${name}}`, 'u') !== undefined
  } catch {
    return false
  }
}
const aKey = 'must be a key that fits into a header: plain letters, digits and signs, on one line'
/** Tried here, because otherwise the platform's own error would print an invalid key. */
const isKey = (key: string): boolean => {
  try {
    return new Headers({ authorization: authorization(key) }) !== undefined
  } catch {
    return false
  }
}
/** Unlike `z.number()`, it accepts `Infinity`. */
const notNegative = z.optional(
  z.custom<number>((given) => typeof given === 'number' && given >= 0, 'must be a number, 0 or more'),
)
/** Values that are not plain data are checked where they are used. */
const whatever = z.optional(z.unknown())

const optionsSchema = z.strictObject({
  url: whatever,
  model: z.string(aModel).check(z.minLength(1, aModel)),
  dimensions: z.int(aLength).check(z.positive(aLength)),
  apiKey: z.optional(z.string().check(z.refine(isKey, aKey))),
  prefixes: z.optional(z.strictObject({ query: z.optional(z.string()), document: z.optional(z.string()) })),
  scripts: z.optional(z.array(z.string().check(z.refine(isScript, aScript)))),
  maxBatch: whatever,
  timeoutMs: notNegative,
  retries: notNegative,
  longestPauseMs: notNegative,
  backoff: whatever,
  fetch: whatever,
})

function checkOptions(options: HttpEmbedderOptions): void {
  // zod/mini has no messages of its own.
  const { error } = optionsSchema.safeParse(options, { error: en().localeError })
  if (error) throw invalidInput('options', error.issues)
}

const authorization = (apiKey: string): string => `Bearer ${apiKey}`

const sendable = (text: string): string => (text.trim() === '' ? '-' : redactText(text.toWellFormed()).text)

async function embedBatch(
  options: HttpEmbedderOptions,
  batch: string[],
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const { retries = 3, backoff = doubling, timeoutMs = 30_000 } = options
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await withinTimeLimit({ timeoutMs, signal }, (either) =>
        request({ ...options, timeoutMs }, batch, either),
      )
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof Retryable)) throw error
      if (attempt > retries) throw error.reason
      await pause(error.after ?? backoff(attempt), signal)
    }
  }
}

/** @param signal aborted when the caller gives up, which goes before any error, or when the time is over */
async function request(
  options: HttpEmbedderOptions & { timeoutMs: number },
  batch: string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { url, model, apiKey, timeoutMs, fetch = globalThis.fetch } = options
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey ? { authorization: authorization(apiKey) } : {}),
      },
      body: JSON.stringify({ model, input: batch, encoding_format: 'float' }),
      // The texts must not be sent to the target of a redirect.
      redirect: 'manual',
      signal,
    })
  } catch (cause) {
    throw new Retryable(
      signal.aborted
        ? tooLate(timeoutMs, cause)
        : unavailable(`no embedding server answers at ${withoutQuery(url)}: is it running?`, cause),
    )
  }
  if (!response.ok) throw await refusal(response, options)
  let text: string
  try {
    text = await readBody(response, mostBytes)
  } catch (cause) {
    throw new Retryable(
      signal.aborted
        ? tooLate(timeoutMs, cause)
        : unavailable('the embedding server broke off its answer', cause),
    )
  }
  return vectorsOf(jsonOf(text), batch.length, options)
}

/** The error of `JSON.parse` is not kept as the cause: it repeats the answer, which may contain texts. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Retryable(unavailable('the answer of the embedding server is not JSON'))
  }
}

/** Far more than the vectors of a batch take, even if a server writes them with many digits. */
const mostBytes = 256 * 1024 * 1024

/** Only the members in use: servers differ in the others. */
const answerSchema = z.object({
  data: z.array(z.object({ index: z.optional(z.int()), embedding: z.array(z.number()) })),
})

function vectorsOf(body: unknown, count: number, { model, dimensions }: HttpEmbedderOptions): Float32Array[] {
  const parsed = answerSchema.safeParse(body)
  if (!parsed.success) throw unavailable(`the embedding server's answer has no list of vectors in 'data'`)
  const { data } = parsed.data
  if (data.length !== count)
    throw unavailable(`the embedding server gave ${data.length} vectors for ${count} texts`)
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined)
  data.forEach(({ index, embedding }, i) => {
    const at = index ?? i
    if (at < 0 || at >= count)
      throw unavailable(`the embedding server gave a vector the index ${at}, where ${count} texts were sent`)
    if (vectors[at]) throw unavailable(`the embedding server gave two vectors the index ${at}`)
    if (embedding.length !== dimensions) {
      throw unavailable(
        `'${model}' gave a vector of ${embedding.length} dimensions where ${dimensions} were configured: set 'dimensions' to ${embedding.length} and re-embed`,
      )
    }
    vectors[at] = unitVector(embedding)
  })
  return vectors as Float32Array[]
}

function unitVector(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values)
  if (!(length > 0)) throw unavailable('the embedding server gave a vector without direction')
  return Float32Array.from(values, (value) => value / length)
}

/** The error for a refused request. It leaves out the body, in which servers repeat what they were sent. */
async function refusal(response: Response, options: HttpEmbedderOptions): Promise<Error> {
  // The status says what is wrong, even if the rest of the answer is lost.
  await response.body?.cancel().catch(() => undefined)
  const message = `the embedding server at ${withoutQuery(options.url)} answered ${response.status}`
  if (response.status === 401 || response.status === 403) {
    return new MemoryError(`${message}; check the API key`, MemoryErrorCode.UNAUTHENTICATED)
  }
  if (response.status === 404) {
    return unavailable(`${message}; check the url, which ends with the version, and the model's name`)
  }
  if (response.status === 429) {
    return unlessTooLong(new MemoryError(message, MemoryErrorCode.RATE_LIMITED), response, options)
  }
  if (response.status >= 500) return unlessTooLong(unavailable(message), response, options)
  return new MemoryError(message, MemoryErrorCode.UNAVAILABLE, { details: { status: response.status } })
}

/** What may be tried again after the pause that the server asks for, of at most a minute, unless that is too long. */
function unlessTooLong(
  reason: MemoryError,
  { headers }: Response,
  { longestPauseMs = Number.POSITIVE_INFINITY }: HttpEmbedderOptions,
): MemoryError | Retryable {
  const asked = retryAfterOf(headers, Date.now())
  if (asked === undefined) return new Retryable(reason)
  return asked >= longestPauseMs ? reason : new Retryable(reason, Math.min(60_000, asked))
}

class Retryable extends Error {
  readonly reason: MemoryError
  /** Milliseconds to wait, if the server asked for it. */
  readonly after: number | undefined

  constructor(reason: MemoryError, after?: number) {
    super(reason.message)
    this.reason = reason
    this.after = after
  }
}

/** @throws MemoryError INVALID_INPUT */
function endpointOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new MemoryError(
      'the embedding server needs a url such as http://localhost:11434/v1',
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new MemoryError(
      'the url of the embedding server holds credentials: put them into apiKey',
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  parsed.pathname = `${parsed.pathname.replace(/\/+$/, '')}/embeddings`
  return parsed.href
}

/** For messages: some servers take their key in the query. */
const withoutQuery = (url: string): string => url.replace(/\?.*$/, '')

const tooLate = (timeoutMs: number, cause: unknown): MemoryError =>
  new MemoryError(`the embedding server did not answer within ${timeoutMs} ms`, MemoryErrorCode.TIMEOUT, {
    cause,
  })

const unavailable = (message: string, cause?: unknown): MemoryError =>
  new MemoryError(message, MemoryErrorCode.UNAVAILABLE, { cause })

const doubling = (attempt: number): number => 250 * 2 ** (attempt - 1) * (1 + Math.random())

/** Ends early if the caller has given up. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
  })
}
