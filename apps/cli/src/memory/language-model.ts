import { isMemoryError, type LmProvider } from '@recall/core'
import { openAiCompatibleLm } from '@recall/sessions'
import type { Io } from '../terminal/io.ts'

/**
 * A model for summaries, when the environment names one. A wrong name, and a model that fails, keep no session from
 * being archived, and are said on standard error.
 */
export function languageModel(io: Io): LmProvider | undefined {
  const { RECALL_LM_URL: baseUrl, RECALL_LM_MODEL: model, RECALL_LM_KEY: apiKey } = io.env
  if (!baseUrl && !model) return undefined
  const without = (reason: string): undefined => void io.err(`recall: no model is asked: ${reason}\n`)
  if (!baseUrl || !model) return without('RECALL_LM_URL and RECALL_LM_MODEL are needed both')
  try {
    return tellingOfFailure(io, openAiCompatibleLm({ baseUrl, model, ...(apiKey ? { apiKey } : {}) }))
  } catch (error) {
    if (!isMemoryError(error)) throw error
    return without(
      'RECALL_LM_URL is no URL that begins with http:// or https://, without a name and a password',
    )
  }
}

/** Once: of many sessions each would say the same. */
function tellingOfFailure(io: Io, lm: LmProvider): LmProvider {
  let isTold = false
  return {
    ...lm,
    async complete(request) {
      try {
        return await lm.complete(request)
      } catch (error) {
        if (!isTold) io.err(`recall: the language model is of no use: ${(error as Error).message}\n`)
        isTold = true
        throw error
      }
    },
  }
}
