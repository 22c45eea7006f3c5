import type { EventEmitter } from 'node:events'
import { MemoryErrorCode } from '@recall/core'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Question } from './worker.ts'
import { workerEmbedder } from './worker-embedder.ts'

interface FakeThread extends EventEmitter {
  /** What it was sent. */
  asked: Question[]
  /** Whether it keeps the process alive. */
  isHeld: boolean
}

const threads = vi.hoisted(() => [] as FakeThread[])

vi.mock('node:worker_threads', async () => {
  const { EventEmitter } = await import('node:events')
  class FakeWorker extends EventEmitter {
    asked: Question[] = []
    isHeld = true
    constructor() {
      super()
      threads.push(this)
    }
    postMessage = (question: Question) => void this.asked.push(question)
    ref() {
      this.isHeld = true
    }
    unref() {
      this.isHeld = false
    }
  }
  return { Worker: FakeWorker, isMainThread: true }
})

beforeEach(() => void threads.splice(0))

const vectors = [new Float32Array([1])]

it('a thread that failed takes no call of the next one with it', async () => {
  const embedder = workerEmbedder()
  const lost = embedder.embed(['a'], 'query')
  threads[0]?.emit('error', new Error('out of memory'))
  await expect(lost).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })

  const next = embedder.embed(['a'], 'query')
  // Its exit comes behind its error.
  threads[0]?.emit('exit', 1)
  threads[1]?.emit('message', { id: threads[1].asked[0]?.id, vectors })
  expect(await next).toBe(vectors)

  const later = embedder.embed(['b'], 'query')
  expect(threads).toHaveLength(2)
  threads[1]?.emit('message', { id: threads[1].asked[1]?.id, vectors })
  expect(await later).toBe(vectors)
})

it('fails what is asked of a thread that ends without a word', async () => {
  const lost = workerEmbedder().embed(['a'], 'query')
  threads[0]?.emit('exit', 1)
  await expect(lost).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
})

it('keeps the process alive while an answer is awaited, and no longer', async () => {
  const embedder = workerEmbedder()
  const first = embedder.embed(['a'], 'query')
  const second = embedder.embed(['b'], 'query')
  const thread = threads[0] as FakeThread
  expect(thread.isHeld).toBe(true)
  thread.emit('message', { id: thread.asked[0]?.id, vectors })
  expect(await first).toBe(vectors)
  expect(thread.isHeld).toBe(true)
  thread.emit('message', { id: thread.asked[1]?.id, vectors })
  expect(await second).toBe(vectors)
  expect(thread.isHeld).toBe(false)
  const third = embedder.embed(['c'], 'query')
  expect(thread.isHeld).toBe(true)
  thread.emit('message', { id: thread.asked[2]?.id, vectors })
  await third
})

it('is closed once its thread has ended, and keeps the process alive until then', async () => {
  const embedder = workerEmbedder()
  const answered = embedder.embed(['a'], 'query')
  const thread = threads[0] as FakeThread
  thread.emit('message', { id: thread.asked[0]?.id, vectors })
  await answered
  const ended = vi.fn()
  const closed = embedder.close?.().then(ended)
  expect(thread.isHeld).toBe(true)
  await expect(embedder.embed(['b'], 'query')).rejects.toMatchObject({ code: MemoryErrorCode.CLOSED })
  expect(thread.asked.slice(1)).toEqual(['close'])
  expect(ended).not.toHaveBeenCalled()
  thread.emit('exit', 0)
  await closed
})

it('refuses what is asked as it is closed, also where its thread answers late', async () => {
  const embedder = workerEmbedder()
  const refused = embedder.embed(['a'], 'query').catch(({ code }) => code)
  const thread = threads[0] as FakeThread
  const closed = embedder.close?.()
  thread.emit('message', { id: thread.asked[0]?.id, vectors })
  expect(thread.isHeld).toBe(true)
  thread.emit('exit', 0)
  await closed
  expect(await refused).toBe(MemoryErrorCode.CLOSED)
})

it('starts no thread to be closed', async () => {
  const embedder = workerEmbedder()
  await embedder.close?.()
  await expect(embedder.embed(['a'], 'query')).rejects.toMatchObject({ code: MemoryErrorCode.CLOSED })
  expect(threads).toEqual([])
})

it('starts no thread for a call that was given up before', async () => {
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(workerEmbedder().embed(['a'], 'query', { signal })).rejects.toThrow('enough')
  expect(threads).toEqual([])
})

it('tells its thread what was given up, and not what failed', async () => {
  const embedder = workerEmbedder()
  const stop = new AbortController()
  const failed = embedder.embed(['a'], 'query', { signal: stop.signal })
  const thread = threads[0] as FakeThread
  const error = { message: 'no model', code: MemoryErrorCode.CORRUPTION }
  thread.emit('message', { id: thread.asked[0]?.id, error })
  await expect(failed).rejects.toMatchObject(error)
  const abandoned = embedder.embed(['b'], 'query', { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(abandoned).rejects.toThrow('enough')
  expect(thread.asked.slice(2)).toEqual([{ givenUp: thread.asked[1]?.id }])
})
