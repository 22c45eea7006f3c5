import { isMemoryError, type LmProvider } from '@recall/core'
import { openAiCompatibleLm } from '@recall/sessions'
import type { Io } from '../terminal/io.ts'

export interface LanguageModel extends LmProvider {
  /** Receives whether its answers since the last call were used: if not, somebody has to know. */
  judge?(isUsed: boolean): void
}

/**
 * A model for summaries, when the environment names one. A wrong name, or a model that fails, does not prevent a
 * session from being archived, and is reported on standard error.
 */
export function languageModel(io: Io): LanguageModel | undefined {
  const { RECALL_LM_URL: baseUrl, RECALL_LM_MODEL: model, RECALL_LM_KEY: apiKey } = io.env
  if (!baseUrl && !model) return undefined
  const without = (reason: string): undefined => void io.err(`recall: no model is asked: ${reason}\n`)
  if (!baseUrl || !model?.trim()) return without('RECALL_LM_URL and RECALL_LM_MODEL are both needed')
  try {
    return tellingOfFailure(io, openAiCompatibleLm({ baseUrl, model, ...(apiKey ? { apiKey } : {}) }))
  } catch (error) {
    if (!isMemoryError(error)) throw error
    return without(
      error.message.startsWith('apiKey')
        ? 'RECALL_LM_KEY may hold only printable characters'
        : 'RECALL_LM_URL is not a URL that begins with http:// or https://, without a name and a password',
    )
  }
}

/** Reports once: each of many sessions would say the same. */
function tellingOfFailure(io: Io, lm: LmProvider): LanguageModel {
  let isTold = false
  let hasAnswered = false
  const tell = (problem: string): void => {
    if (!isTold) io.err(`recall: the language model cannot be used: ${problem}\n`)
    isTold = true
  }
  return {
    ...lm,
    async complete(request) {
      try {
        const answer = await lm.complete(request)
        hasAnswered = true
        return answer
      } catch (error) {
        tell((error as Error).message)
        throw error
      }
    },
    judge(isUsed) {
      if (hasAnswered && !isUsed) tell(`${lm.model} does not answer with the JSON that it was asked for`)
      hasAnswered = false
    },
  }
}
