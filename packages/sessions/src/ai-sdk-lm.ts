import type { LmProvider } from '@recall/core'

/** A language model of the AI SDK, as far as it matters here: a gateway id or a model object. */
export type AiSdkModel = string | { readonly modelId: string; readonly provider?: string }

/** The AI SDK's `generateText`, as far as it matters here. */
export type GenerateText<Model> = (request: {
  model: Model
  system: string
  prompt: string
  abortSignal?: AbortSignal
}) => PromiseLike<{ text: string }>

/**
 * A language model of the AI SDK that the user brings, with the SDK's own `generateText`. Depends on neither:
 * any function and model of these shapes will do.
 */
export function aiSdkLm<Model extends AiSdkModel>(
  model: Model,
  generateText: GenerateText<Model>,
): LmProvider {
  return {
    model: typeof model === 'string' ? model : [model.provider, model.modelId].filter(Boolean).join('/'),
    async complete({ system, prompt, signal }) {
      const { text } = await generateText({ model, system, prompt, abortSignal: signal })
      return text
    },
  }
}
