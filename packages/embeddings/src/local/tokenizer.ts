import { Tokenizer } from '@huggingface/tokenizers'

/** The token ids of a text, special tokens included, at most `maxTokens` of them. */
export type Tokenize = (text: string) => number[]

/** @param json the content of a `tokenizer.json` */
export function createTokenize(json: string, maxTokens: number): Tokenize {
  // Some files truncate or pad every text: we truncate at the model's own limit, and pad per batch.
  const tokenizer = new Tokenizer({ ...JSON.parse(json), truncation: null, padding: null }, {})
  return (text) => {
    // Longer texts exceed the token limit anyway, and tokenizing them would take long.
    const { ids } = tokenizer.encode(text.slice(0, maxTokens * longestToken))
    if (ids.length <= maxTokens) return ids
    return [...ids.slice(0, maxTokens - 1), ids.at(-1) as number]
  }
}

/** Length that no token of a usual vocabulary exceeds, in characters. */
const longestToken = 40
