import { isMemoryError, type LmProvider } from '@recall/core'
import { openAiCompatibleLm } from '@recall/sessions'
import type { Io } from '../terminal/io.ts'

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
