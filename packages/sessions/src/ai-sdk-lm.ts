import type { LmProvider } from '@recall/core'

/** The part of an AI SDK model that is needed here: a gateway id or a model object. */
export type AiSdkModel = string | { readonly modelId: string; readonly provider?: string }

/** The part of the AI SDK's `generateText` that is needed here. */
export type GenerateText<Model> = (request: {
  model: Model
  system: string
  prompt: string
  abortSignal?: AbortSignal
}) => PromiseLike<{ text: string }>

/**
 * Wraps a model and the `generateText` of the AI SDK, both passed in by the caller. There is no dependency on the
 * SDK: any function and model of these shapes will do.
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
