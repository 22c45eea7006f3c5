import { Worker } from 'node:worker_threads'
import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { bgeSmallEn } from '@recall/model-bge-small-en'
import type { Runtime } from './runtime.ts'
import type { Answer, Question } from './worker.ts'

/**
 * The default model in a thread of its own, so that embedding never blocks the event loop of a server. The
 * thread starts with the first call and does not keep the process alive.
 *
 * @throws MemoryError from `embed` as `localEmbedder` does; UNAVAILABLE when the thread died (the next call
 * starts another)
 */
export function workerEmbedder(options: { runtime?: Runtime; threads?: number } = {}): Embedder {
  const waiting = new Map<number, { resolve(vectors: Float32Array[]): void; reject(error: unknown): void }>()
  let worker: Worker | undefined
  let last = 0
  let closed = false

  const start = (): Worker => {
    const started = startThread(options)
    started.unref()
    started.on('message', ({ id, vectors, error }: Answer) => {
      const call = waiting.get(id)
      waiting.delete(id)
      if (vectors) call?.resolve(vectors)
      else
        call?.reject(
          new MemoryError(error?.message ?? 'embedding failed', error?.code ?? MemoryErrorCode.UNAVAILABLE),
        )
      if (waiting.size === 0) started.unref()
    })
    const died = (cause: unknown): void => {
      if (worker === started) worker = undefined
      for (const { reject } of waiting.values()) {
        reject(
          new MemoryError('the embedding thread ended unexpectedly', MemoryErrorCode.UNAVAILABLE, { cause }),
        )
      }
      waiting.clear()
    }
    started.on('error', died)
    started.on('exit', died)
    return started
  }

  const ask = (texts: readonly string[], mode: 'document' | 'query'): Promise<Float32Array[]> =>
    new Promise((resolve, reject) => {
      if (closed) return reject(new MemoryError('the embedder is closed', MemoryErrorCode.CLOSED))
      worker ??= start()
      const question: Question = { id: ++last, texts: [...texts], mode }
      waiting.set(question.id, { resolve, reject })
      // While an answer is owed the process stays.
      worker.ref()
      worker.postMessage(question)
    })

  return {
    model: bgeSmallEn.id,
    dimensions: bgeSmallEn.dimensions,
    unrelated: bgeSmallEn.unrelated,
    maxTokens: bgeSmallEn.maxTokens,
    async embed(texts, mode, { signal } = {}) {
      signal?.throwIfAborted()
      if (!signal) return ask(texts, mode)
      return Promise.race([
        ask(texts, mode),
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        }),
      ])
    },
    async warmUp() {
      await ask(['warm up'], 'query')
    },
    async close() {
      closed = true
      await worker?.terminate()
    },
  }
}

function startThread(workerData: object): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./worker.js', import.meta.url), { workerData })
  }
  // In the repository a thread needs the loader for TypeScript first.
  const source = new URL('./worker.ts', import.meta.url).href
  const load = `import('tsx/esm/api').then(({ register }) => { register(); return import('${source}') })`
  return new Worker(load, { eval: true, workerData, execArgv: ['--conditions', '@recall/source'] })
}
