import type { EventEmitter } from 'node:events'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, vi } from 'vitest'
import type { Question } from './worker.ts'
import { workerEmbedder } from './worker-embedder.ts'

const threads = vi.hoisted(() => [] as (EventEmitter & { asked: Question[] })[])

vi.mock('node:worker_threads', async () => {
  const { EventEmitter } = await import('node:events')
  class FakeWorker extends EventEmitter {
    asked: Question[] = []
    constructor() {
      super()
      threads.push(this)
    }
    postMessage = (question: Question) => void this.asked.push(question)
    ref() {}
    unref() {}
  }
  return { Worker: FakeWorker, isMainThread: true }
})

it('a thread that failed takes no call of the next one with it', async () => {
  const embedder = workerEmbedder()
  const lost = embedder.embed(['a'], 'query')
  threads[0]?.emit('error', new Error('out of memory'))
  await expect(lost).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })

  const next = embedder.embed(['a'], 'query')
  // Its exit comes behind its error.
  threads[0]?.emit('exit', 1)
  const vectors = [new Float32Array([1])]
  threads[1]?.emit('message', { id: threads[1].asked[0]?.id, vectors })
  expect(await next).toBe(vectors)

  const later = embedder.embed(['b'], 'query')
  expect(threads).toHaveLength(2)
  threads[1]?.emit('message', { id: threads[1].asked[1]?.id, vectors })
  expect(await later).toBe(vectors)
})
