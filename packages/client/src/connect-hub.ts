import {
  checkMemoryOptions,
  createMemoryManager,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  type MemoryManagerOptions,
  refuseUnknownOptions,
  type TypesOf,
  type ValueSchemas,
  type ValueTypes,
} from '@recall/core'
import { createHttp, type HttpOptions, type Send } from './http.ts'
import { createHubStore } from './hub-store.ts'
import type { FoundMemory, NewMemory, SavedMemory, SharedMemory } from './shared-memory.ts'

export interface HubOptions<Schemas extends ValueSchemas = ValueSchemas> extends HttpOptions {
  /** Options of the agent's private memory: schemas, embedder, encryption and so on, as for any memory. */
  memory?: Omit<MemoryManagerOptions<Schemas>, 'stores'> | undefined
}

export interface CallOptions {
  signal?: AbortSignal | undefined
}

/**
 * The hub as an agent sees it. All failures are `MemoryError`s, except that an aborted call rejects with its signal's
 * reason. After `close`, every call fails with CLOSED.
 */
export interface HubClient<Schemas extends ValueTypes = ValueTypes> extends AsyncDisposable {
  /** The agent's private memory, which no other agent can see. */
  readonly memory: MemoryManager<Schemas>
  /**
   * Shares a lesson. A retry after a lost answer does not store it twice.
   *
   * @throws MemoryError INVALID_INPUT, RATE_LIMITED, FORBIDDEN (the hub is read-only), UNAVAILABLE
   */
  save(memory: NewMemory, options?: CallOptions): Promise<SavedMemory>
  /**
   * Finds what agents learned about a question, the most useful first. `limit` is 1 to 50, default 10. With `explain`
   * each result has its `signals`.
   */
  search(
    question: string,
    options?: CallOptions & { limit?: number | undefined; explain?: boolean | undefined },
  ): Promise<FoundMemory[]>
  /** Reads a memory by its id or short id. @throws MemoryError NOT_FOUND */
  get(id: string, options?: CallOptions): Promise<SharedMemory>
  /** Records that the agent relied on a memory; returns how to name it as a source. */
  cite(id: string, options?: CallOptions): Promise<{ citation: string; citations: number }>
  /** Deletes a memory of the agent; others' citations leave a tombstone. */
  delete(id: string, options?: CallOptions): Promise<'deleted' | 'tombstone'>
  whoami(options?: CallOptions): Promise<{ id: string; name: string }>
  /** Requests a new key. Store it first, then connect with it: its first use invalidates the key of this client. */
  rotateKey(options?: CallOptions): Promise<string>
  close(): Promise<void>
}

/**
 * Connects an agent to a hub. Nothing is sent before the first call.
 *
 * @throws MemoryError INVALID_INPUT when an option is wrong or unknown
 */
export function connectHub<Schemas extends ValueSchemas = Record<never, never>>(
  options: HubOptions<Schemas>,
): HubClient<TypesOf<Schemas>> {
  // A caller without type checks may pass no options.
  const { memory: memoryOptions, ...httpOptions } = options ?? {}
  const http = createHttp(httpOptions)
  if (memoryOptions !== undefined) checkMemoryOptions(memoryOptions)
  // Not `send`: the memory itself refuses calls after `close`, and finishes those under way.
  const memory = createMemoryManager({ ...memoryOptions, stores: createHubStore(http) })
  let isClosed = false
  const send: Send = async (...call) => {
    if (isClosed) throw new MemoryError('this hub is closed: connect to it again', MemoryErrorCode.CLOSED)
    return http(...call)
  }
  const close = (): Promise<void> => {
    isClosed = true
    return memory.close()
  }
  const at = (id: string): string => {
    if (typeof id !== 'string') throw notText('the id of a memory')
    // No address can hold these: it would be that of a folder above.
    if (/^\.{0,2}$/.test(id)) throw new MemoryError(`there is no memory ${id}`, MemoryErrorCode.NOT_FOUND)
    return `memory/${encodeURIComponent(id.toWellFormed())}`
  }

  return {
    memory,

    save: async (input, given) =>
      send(
        'POST',
        'memory',
        { short_id: 'string', similar: 'list' },
        {
          ...signalOf(given),
          body: input,
          headers: { 'Idempotency-Key': `"${crypto.randomUUID()}"` },
          repeatable: true,
        },
      ),

    async search(question, options) {
      if (typeof question !== 'string') throw notText('the question')
      const { limit = 10, explain = false, ...given } = options ?? {}
      if (!Number.isInteger(limit))
        throw new MemoryError('limit must be a whole number from 1 to 50', MemoryErrorCode.INVALID_INPUT)
      if (typeof explain !== 'boolean')
        throw new MemoryError('explain must be true or false', MemoryErrorCode.INVALID_INPUT)
      const query = new URLSearchParams({ q: question, limit: String(limit) })
      if (explain) query.set('explain', 'true')
      const answer = await send<{ results: FoundMemory[] }>(
        'GET',
        `memory/search?${query}`,
        { results: 'list' },
        { ...signalOf(given), repeatable: true },
      )
      return answer.results
    },

    async get(id, given) {
      const answer = await send<{ memory: SharedMemory }>(
        'GET',
        at(id),
        { memory: 'object' },
        { ...signalOf(given), repeatable: true },
      )
      return answer.memory
    },

    cite: async (id, given) =>
      send(
        'POST',
        `${at(id)}/cite`,
        { citation: 'string', citations: 'number' },
        { ...signalOf(given), repeatable: true },
      ),

    async delete(id, given) {
      const { status } = await send<{ status: 'deleted' | 'tombstone' }>(
        'DELETE',
        at(id),
        { status: 'string' },
        signalOf(given),
      )
      return status
    },

    async whoami(given) {
      const { agent } = await send<{ agent: { id: string; name: string } }>(
        'GET',
        'agents/me',
        { agent: 'object' },
        { ...signalOf(given), repeatable: true },
      )
      return agent
    },

    async rotateKey(given) {
      const answer = await send<{ api_key: string }>(
        'POST',
        'agents/me/rotate-key',
        { api_key: 'string' },
        { ...signalOf(given), repeatable: true },
      )
      return answer.api_key
    },

    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Checked, because any other members would become part of the request. */
function signalOf(given: CallOptions | undefined): CallOptions {
  const { signal, ...others } = given ?? {}
  refuseUnknownOptions(others)
  if (signal === undefined || signal instanceof AbortSignal) return signal ? { signal } : {}
  throw new MemoryError('signal must be an AbortSignal', MemoryErrorCode.INVALID_INPUT)
}

const notText = (what: string): MemoryError =>
  new MemoryError(`${what} must be a string`, MemoryErrorCode.INVALID_INPUT)

/** Registers an agent. The hub returns the key only this once. */
export async function registerAgent(
  options: Omit<HttpOptions, 'apiKey'>,
  name: string,
): Promise<{ id: string; name: string; apiKey: string }> {
  const answer = await createHttp(options)<{ agent: { id: string; name: string }; api_key: string }>(
    'POST',
    'agents/register',
    { agent: 'object', api_key: 'string' },
    { body: { name } },
  )
  return { ...answer.agent, apiKey: answer.api_key }
}
