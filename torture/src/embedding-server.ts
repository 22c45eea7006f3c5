import { once } from 'node:events'
import { createServer } from 'node:http'
import { fakeEmbedder } from '@recall/embeddings'

/** An embedding service on loopback that answers as servers do, without a model. */
export async function startEmbeddingServer(): Promise<{
  /** What names it to the command. */
  env: Record<string, string>
  close(): Promise<void>
}> {
  const embedder = fakeEmbedder()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] }
      const vectors = await embedder.embed(input, 'document')
      const data = vectors.map((vector, index) => ({ index, embedding: [...vector] }))
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ data }))
    })
    // Whoever asked may be killed meanwhile.
    request.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    env: {
      RECALL_EMBEDDING_URL: `http://127.0.0.1:${port}/v1`,
      RECALL_EMBEDDING_MODEL: embedder.model,
      RECALL_EMBEDDING_DIMENSIONS: String(embedder.dimensions),
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
