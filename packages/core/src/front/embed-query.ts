import type { Embedder } from '../embedder.ts'
import type { StoreQuery } from '../memory-store.ts'
import { canRead } from './can-read.ts'
import { embedTexts } from './embed-texts.ts'

/**
 * The vector to compare a query by. Nothing when the query is in a script that the model does not know: to such a
 * model, all these texts look alike.
 *
 * @throws MemoryError as `embedTexts` does
 */
export async function embedQuery(embedder: Embedder, text: string): Promise<StoreQuery['embedding']> {
  if (!canRead(embedder, text)) return undefined
  const [vector = []] = await embedTexts(embedder, [text], 'query')
  const { model, unrelated } = embedder
  return { model, vector: [...vector], ...(unrelated ? { unrelated } : {}) }
}
