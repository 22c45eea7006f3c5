import { parentPort, workerData } from 'node:worker_threads'
import { isMemoryError, type MemoryErrorCode } from '@recall/core'
import { localEmbedder } from './local-embedder.ts'

export interface Question {
  id: number
  texts: string[]
  mode: 'document' | 'query'
}

/** Ends the thread, between two batches. */
export type Close = 'close'

export interface Answer {
  id: number
  vectors?: Float32Array[]
  error?: { message: string; code: MemoryErrorCode | undefined }
}

const embedder = localEmbedder(workerData)
const closing = new AbortController()

parentPort?.on('message', async (question: Question | Close) => {
  if (question === 'close') {
    closing.abort()
    await embedder.close?.()
    parentPort?.close()
    return
  }
  const { id, texts, mode } = question
  try {
    const vectors = await embedder.embed(texts, mode, { signal: closing.signal })
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
  }
})
