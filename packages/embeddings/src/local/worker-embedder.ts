import { Worker } from 'node:worker_threads'
import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { bgeSmallEn } from '@recall/model-bge-small-en'
import { unlessAborted } from '../unless-aborted.ts'
import type { LocalEmbedderOptions } from './local-embedder.ts'
import { checkRuntimeOptions } from './runtime-options.ts'
import { turnOffTelemetry } from './telemetry.ts'
import type { Answer, Close, GiveUp, Question } from './worker.ts'

/**
 * Runs the default model in a worker thread, so that embedding never blocks the event loop of a server. The thread
 * starts with the first call and does not keep the process alive. Close it before `process.exit`, which would stop the
 * thread in the middle of its work, and the native runtime then ends the process with SIGABRT.
 *
 * @throws MemoryError like `localEmbedder`; from `embed` also UNAVAILABLE when the thread died; the next call starts
 * another
 */
export function workerEmbedder(options: Pick<LocalEmbedderOptions, 'runtime' | 'threads'> = {}): Embedder {
  checkRuntimeOptions(options)
  let thread: Thread | undefined
  let last = 0
  let closed = false

  const start = (): Thread => {
    turnOffTelemetry()
    const worker = startThread(options)
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const started: Thread = { worker, ended, waiting: new Map() }
    const { waiting } = started
    worker.unref()
    worker.on('message', ({ id, vectors, error }: Answer) => {
      const call = waiting.get(id)
      waiting.delete(id)
      if (vectors) call?.resolve(vectors)
      else
        call?.reject(
          new MemoryError(error?.message ?? 'embedding failed', error?.code ?? MemoryErrorCode.UNAVAILABLE),
        )
      if (waiting.size === 0 && !closed) worker.unref()
    })
    const died = (cause: unknown): void => {
      if (thread === started) thread = undefined
      for (const { reject } of waiting.values()) {
        reject(
          new MemoryError('the embedding thread ended unexpectedly', MemoryErrorCode.UNAVAILABLE, { cause }),
        )
      }
      waiting.clear()
    }
    // A failing thread emits both events; by the second one another thread may have started.
    worker.on('error', died)
    worker.on('exit', died)
    return started
  }

  const ask = async (
    texts: readonly string[],
    mode: 'document' | 'query',
    signal?: AbortSignal,
  ): Promise<Float32Array[]> => {
    if (closed) throw closedError()
    thread ??= start()
    const { worker, waiting } = thread
    const id = ++last
    const answer = new Promise<Float32Array[]>((resolve, reject) => waiting.set(id, { resolve, reject }))
    // The process must not exit while an answer is pending.
    worker.ref()
    worker.postMessage({ id, texts: [...texts], mode } satisfies Question)
    try {
      return await unlessAborted(answer, signal)
    } catch (error) {
      // Otherwise the requests of callers that gave up would keep later ones waiting.
      if (signal?.aborted) worker.postMessage({ givenUp: id } satisfies GiveUp)
      throw error
    }
  }

  return {
    model: bgeSmallEn.id,
    dimensions: bgeSmallEn.dimensions,
    unrelated: bgeSmallEn.unrelated,
    scripts: bgeSmallEn.scripts,
    maxTokens: bgeSmallEn.maxTokens,
    async embed(texts, mode, { signal } = {}) {
      signal?.throwIfAborted()
      return ask(texts, mode, signal)
    },
    async warmUp() {
      await ask(['warm up'], 'query')
    },
    async close() {
      closed = true
      if (!thread) return
      const { worker, ended, waiting } = thread
      for (const { reject } of waiting.values()) reject(closedError())
      waiting.clear()
      // It ends by itself: stopping a thread while native code runs in it crashes the process.
      worker.ref()
      worker.postMessage('close' satisfies Close)
      await ended
    },
  }
}

interface Thread {
  worker: Worker
  ended: Promise<void>
  /** Pending calls by the id of their request. */
  waiting: Map<number, { resolve(vectors: Float32Array[]): void; reject(error: unknown): void }>
}

const closedError = (): MemoryError => new MemoryError('the embedder is closed', MemoryErrorCode.CLOSED)

function startThread(workerData: object): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./worker.js', import.meta.url), { workerData })
  }
  // In the repository a worker thread has to register the TypeScript loader first.
  const source = new URL('./worker.ts', import.meta.url).href
  // The thread's own imports start from the working directory, which may be anywhere.
  const loader = import.meta.resolve('tsx/esm/api')
  const load = `import('${loader}').then(({ register }) => { register(); return import('${source}') })`
  return new Worker(load, { eval: true, workerData, execArgv: ['--conditions', '@recall/source'] })
}
