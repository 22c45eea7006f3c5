import { parentPort, workerData } from 'node:worker_threads'
import { isMemoryError, type MemoryErrorCode } from '@recall/core'
import { localEmbedder } from './local-embedder.ts'

export interface Question {
  id: number
  texts: string[]
  mode: 'document' | 'query'
}

export interface Answer {
  id: number
  vectors?: Float32Array[]
  error?: { message: string; code: MemoryErrorCode | undefined }
}

const embedder = localEmbedder(workerData)

parentPort?.on('message', async ({ id, texts, mode }: Question) => {
  try {
    const vectors = await embedder.embed(texts, mode)
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
