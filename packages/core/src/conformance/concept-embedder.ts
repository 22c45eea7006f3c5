import type { Embedder } from '../embedder.ts'
import { wordsOf } from '../ranking/words.ts'

const concepts = [
  ['car', 'automobile', 'vehicle', 'engine'],
  ['dog', 'puppy', 'hound', 'bark'],
  ['doctor', 'physician', 'clinic', 'nurse'],
  ['rain', 'storm', 'weather', 'umbrella'],
].map((words) => new Set(words.flatMap((word) => wordsOf(word).map(({ term }) => term))))

/** Embeds a text by the concepts that it mentions: `car` and `automobile` share a direction. */
export function createConceptEmbedder(): Embedder {
  return {
    model: 'concepts-v1',
    dimensions: concepts.length + 1,
    async embed(texts) {
      return texts.map((text) => {
        const terms = wordsOf(text).map(({ term }) => term)
        const vector = concepts.map((concept) => terms.filter((term) => concept.has(term)).length)
        vector.push(vector.every((count) => count === 0) ? 1 : 0)
        const length = Math.hypot(...vector)
        return Float32Array.from(vector, (count) => count / length)
      })
    },
  }
}
