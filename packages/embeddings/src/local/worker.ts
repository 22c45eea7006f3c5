import { parentPort, workerData } from 'node:worker_threads'
import { isMemoryError, type MemoryErrorCode } from '@recall/core'
import { localEmbedder } from './local-embedder.ts'

export interface Question {
  id: number
  texts: string[]
  mode: 'document' | 'query'
}

/** Ends the work on a request whose answer nobody awaits any more. */
export interface GiveUp {
  givenUp: number
}

/** Ends the thread, between two batches. */
export type Close = 'close'

export interface Answer {
  id: number
  vectors?: Float32Array[]
  error?: { message: string; code: MemoryErrorCode | undefined }
}

const embedder = localEmbedder(workerData)
const underWay = new Map<number, AbortController>()

parentPort?.on('message', async (message: Question | GiveUp | Close) => {
  if (message === 'close') {
    for (const question of underWay.values()) question.abort()
    await embedder.close?.()
    parentPort?.close()
    return
  }
  if ('givenUp' in message) return underWay.get(message.givenUp)?.abort()
  const { id, texts, mode } = message
  const stop = new AbortController()
  underWay.set(id, stop)
  try {
    const vectors = await embedder.embed(texts, mode, { signal: stop.signal })
    const answer: Answer = { id, vectors }
    parentPort?.postMessage(
      answer,
      vectors.map(({ buffer }) => buffer as ArrayBuffer),
    )
  } catch (error) {
    const code = isMemoryError(error) ? error.code : undefined
    const answer: Answer = {
      id,
      error: { message: error instanceof Error ? error.message : String(error), code },
    }
    parentPort?.postMessage(answer)
  } finally {
    underWay.delete(id)
  }
})
