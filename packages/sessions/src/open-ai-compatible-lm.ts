import {
  isMemoryError,
  type LmProvider,
  MemoryError,
  MemoryErrorCode,
  refuseUnknownOptions,
} from '@recall/core'
import { readBody, retryAfterOf, withinTimeLimit } from '@recall/core/text'
import * as z from 'zod/mini'
import { parseTimeout, wrongOption } from './options.ts'

export interface OpenAiCompatibleOptions {
  /** URL up to and including the version, for example `http://localhost:11434/v1`. */
  baseUrl: string
  model: string
  apiKey?: string | undefined
  fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds that one answer may take; `Infinity` for any time. Default 30 seconds. */
  timeoutMs?: number | undefined
}

/** Far more than any summary has. */
const mostBytes = 4 * 1024 * 1024

const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).check(z.minLength(1)),
})

/**
 * A language model behind the chat completions API, hosted or local. Errors name the host and the status, but
 * never the key or the conversation.
 *
 * @throws MemoryError INVALID_INPUT when the base URL is not a URL, or holds a password, or another option is wrong or unknown.
 * `complete` throws UNAUTHENTICATED, FORBIDDEN, RATE_LIMITED, INVALID_INPUT, UNAVAILABLE or TIMEOUT
 */
export function openAiCompatibleLm(options: OpenAiCompatibleOptions): LmProvider {
  // A caller without type checks may pass no options.
  const {
    baseUrl,
    model,
    apiKey,
    fetch = globalThis.fetch,
    timeoutMs: limit = 30_000,
    ...others
  } = options ?? {}
  const url = endpoint(baseUrl)
  refuseUnknownOptions(others)
  const timeoutMs = parseTimeout('timeoutMs', limit)
  checkParts({ model, apiKey, fetch })
  let knowsJsonMode = true

  const ask = async (messages: object[], asJson: boolean, signal: AbortSignal): Promise<Response> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        model,
        messages,
        ...(asJson ? { response_format: { type: 'json_object' } } : {}),
      }),
      // The conversation must not be sent to the target of a redirect.
      redirect: 'manual',
      signal,
    })
    // An unread body would keep the connection open. The status says what is wrong, even if the rest is lost.
    if (!response.ok) await response.body?.cancel().catch(() => undefined)
    return response
  }

  /** LM Studio and others refuse JSON mode. Without it, models usually follow what the prompt says about the answer. */
  const askInAnyMode = async (messages: object[], json: boolean, signal: AbortSignal): Promise<Response> => {
    const first = await ask(messages, json && knowsJsonMode, signal)
    if (!json || !knowsJsonMode || ![400, 422].includes(first.status)) return first
    const second = await ask(messages, false, signal)
    if (second.ok) knowsJsonMode = false
    return second.ok ? second : first
  }

  return {
    model,
    async complete({ system, prompt, json = false, signal }) {
      const messages = [
        { role: 'system', content: system },
        { role: 'user', content: prompt },
      ]
      return withinTimeLimit({ timeoutMs, signal }, async (either) => {
        try {
          const response = await askInAnyMode(messages, json, either)
          if (!response.ok) throw httpError(url, response)
          return contentOf(await readBody(response, mostBytes), url)
        } catch (error) {
          if (isMemoryError(error)) throw error
          if (signal?.aborted) throw signal.reason
          if (either.aborted) {
            throw new MemoryError(`${url.host} did not answer in ${timeoutMs} ms`, MemoryErrorCode.TIMEOUT, {
              cause: error,
            })
          }
          throw unavailable(url, 'could not be reached', error)
        }
      })
    },
  }
}

function checkParts({
  model,
  apiKey,
  fetch,
}: Pick<OpenAiCompatibleOptions, 'model' | 'apiKey' | 'fetch'>): void {
  if (typeof model !== 'string' || model.trim() === '')
    throw wrongOption('model', 'must be the name of a model that the server has')
  // `fetch` would repeat an invalid key in its error.
  if (apiKey !== undefined && !(typeof apiKey === 'string' && fitsHeader(`Bearer ${apiKey}`)))
    throw wrongOption('apiKey', 'must be a key of printable characters only')
  if (typeof fetch !== 'function') throw wrongOption('fetch', 'must be a function')
}

function fitsHeader(value: string): boolean {
  try {
    return new Headers({ authorization: value }).has('authorization')
  } catch {
    return false
  }
}

/** The error does not quote an invalid text, as that of `JSON.parse` would: some servers repeat the prompt. */
function contentOf(body: string, url: URL): string {
  const parsed = completion.safeParse(jsonOf(body))
  if (!parsed.success) throw unavailable(url, 'gave an answer that is not a chat completion')
  return parsed.data.choices[0]?.message.content ?? ''
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function endpoint(baseUrl: string): URL {
  // `localhost:11434/v1` would parse as a URL with the scheme `localhost`.
  const url = /^https?:/i.test(baseUrl) && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  // `fetch` refuses a password in a URL, and repeats it in the error.
  if (url?.username !== '' || url.password !== '') {
    const message =
      'baseUrl must be a URL that begins with http:// or https://, without a name and a password: a key goes into apiKey'
    throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT)
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`
  return url
}

/** Leaves the response body out: some servers repeat parts of the key or of the prompt in it. */
function httpError(url: URL, response: Response): MemoryError {
  const { status } = response
  const retryAfterMs = retryAfterOf(response.headers, Date.now())
  return new MemoryError(`${url.host} answered ${status} ${response.statusText}`.trim(), codeFor(status), {
    details: { status },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function codeFor(status: number): MemoryErrorCode {
  if (status === 401) return MemoryErrorCode.UNAUTHENTICATED
  if (status === 403) return MemoryErrorCode.FORBIDDEN
  if (status === 429) return MemoryErrorCode.RATE_LIMITED
  return status >= 400 && status < 500 ? MemoryErrorCode.INVALID_INPUT : MemoryErrorCode.UNAVAILABLE
}

function unavailable(url: URL, problem: string, cause?: unknown): MemoryError {
  return new MemoryError(`${url.host} ${problem}`, MemoryErrorCode.UNAVAILABLE, { cause })
}
