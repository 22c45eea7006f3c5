import type { LmProvider, MemoryManager } from '@recall/core'
import type { FileStore } from '@recall/store-file'
import type { Io } from './io.ts'
import { type RootOptions, withStore } from './root.ts'

/** A memory over the files, with what it redacts told on the talk channel. */
export async function withMemory<T>(
  io: Io,
  options: RootOptions & { create?: boolean },
  call: (memory: MemoryManager, store: FileStore) => Promise<T>,
): Promise<T> {
  const { createMemoryManager } = await import('@recall/core')
  return withStore(io, options, (store) => call(createMemoryManager({ stores: store, clock: io.now }), store))
}

/** A model for summaries, when the environment names one. */
export async function languageModel(io: Io): Promise<LmProvider | undefined> {
  const { RECALL_LM_URL: baseUrl, RECALL_LM_MODEL: model, RECALL_LM_KEY: apiKey } = io.env
  if (!baseUrl || !model) return undefined
  const { openAiCompatibleLm } = await import('@recall/sessions')
  return openAiCompatibleLm({ baseUrl, model, ...(apiKey ? { apiKey } : {}) })
}
