import { createMemoryManager, isMemoryError, type LmProvider, type MemoryManager } from '@recall/core'
import { openAiCompatibleLm } from '@recall/sessions'
import type { FileStore, FileStoreSettings } from '@recall/store-file'
import type { Io } from '../terminal/io.ts'
import type { RootOptions } from './find-root.ts'
import { withStore } from './with-store.ts'

/** Opens a memory over the files for the duration of a call. The calling command reports what was redacted. */
export async function withMemory<T>(
  io: Io,
  options: RootOptions & Pick<FileStoreSettings, 'create' | 'embedder'>,
  call: (memory: MemoryManager, store: FileStore) => Promise<T>,
): Promise<T> {
  const { embedder } = options
  return withStore(io, options, (store) =>
    call(createMemoryManager({ stores: store, clock: io.now, ...(embedder ? { embedder } : {}) }), store),
  )
}

/** A model for summaries, when the environment names one. A wrong name keeps no session from being archived. */
export function languageModel(io: Io): LmProvider | undefined {
  const { RECALL_LM_URL: baseUrl, RECALL_LM_MODEL: model, RECALL_LM_KEY: apiKey } = io.env
  if (!baseUrl || !model) return undefined
  try {
    return openAiCompatibleLm({ baseUrl, model, ...(apiKey ? { apiKey } : {}) })
  } catch (error) {
    if (!isMemoryError(error)) throw error
    io.err(
      'recall: no model is asked: RECALL_LM_URL is no URL that begins with http:// or https://, without a name and a password\n',
    )
    return undefined
  }
}
