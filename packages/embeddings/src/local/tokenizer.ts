import { Tokenizer } from '@huggingface/tokenizers'

/** The token ids of a text, special tokens included, at most `maxTokens` of them. */
export type Tokenize = (text: string) => number[]

/** @param json the content of a `tokenizer.json` */
export function createTokenize(json: string, maxTokens: number): Tokenize {
  // Some files cut or pad every text by themselves; we cut at the model's own limit and pad per batch.
  const tokenizer = new Tokenizer({ ...JSON.parse(json), truncation: null, padding: null }, {})
  return (text) => {
    // No text of more characters than this fits anyway, and splitting it would take long.
    const { ids } = tokenizer.encode(text.slice(0, maxTokens * longestToken))
    if (ids.length <= maxTokens) return ids
    return [...ids.slice(0, maxTokens - 1), ids.at(-1) as number]
  }
}

/** Characters that no token of a usual vocabulary exceeds. */
const longestToken = 40
