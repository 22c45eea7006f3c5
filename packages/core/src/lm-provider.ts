/** A language model as Recall needs it: one prompt in, one text out. */
export interface LmProvider {
  /** Recorded with what the model produced, for example `openai/gpt-4.1-mini`. */
  readonly model: string
  /**
   * @param request.json ask the model to answer with one JSON object
   * @throws any error: callers fall back and record that they did
   */
  complete(request: {
    system: string
    prompt: string
    json?: boolean | undefined
    signal?: AbortSignal | undefined
  }): Promise<string>
}
