import { fakeEmbedder } from '@recall/embeddings'
import { expect, it } from 'vitest'
import { documentCache } from './document-cache.ts'

it('embeds a document once and a question every time', async () => {
  const embedded: string[] = []
  const fake = fakeEmbedder()
  const embedder = documentCache({
    ...fake,
    embed(texts, mode, options) {
      embedded.push(...texts)
      return fake.embed(texts, mode, options)
    },
  })
  for (let round = 0; round < 2; round++) {
    await embedder.embed(['a document'], 'document')
    await embedder.embed(['a question'], 'query')
  }
  expect(embedded).toEqual(['a document', 'a question', 'a question'])
})
