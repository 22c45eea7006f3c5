import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { fakeEmbedder } from '@recall/embeddings'

/** The model behind the service, which answers when nothing is wrong with it. */
export const honest = fakeEmbedder()

const json = { 'Content-Type': 'application/json' }
const answer = (response: ServerResponse, vectors: unknown[]): void => {
  const data = vectors.map((embedding, index) => ({ index, embedding }))
  response.writeHead(200, json).end(JSON.stringify({ data }))
}

/** What a service may do instead of its work. Each is distinguishable from a valid answer. */
export const embeddingFaults = {
  'never answers': () => {},
  'answers 500': (response) => response.writeHead(500).end('out of memory'),
  'answers 429': (response) => response.writeHead(429, { 'Retry-After': '30' }).end(),
  'answers no JSON': (response) => response.writeHead(200, json).end('{"data": ['),
  'hangs up': (response) => response.destroy(),
  'hangs up half-way': (response) => {
    response.writeHead(200, { ...json, 'Content-Length': '9999' }).write('{"data": [', () => response.destroy())
  },
  'drips its answer': (response) => {
    response.writeHead(200, json).write('{"data": [')
    const drip = setInterval(() => response.write(' '), 100)
    response.once('close', () => clearInterval(drip))
  },
  'gives no vectors': (response) => answer(response, []),
  'gives short ones': (response, vectors) => answer(response, vectors.map((vector) => vector.slice(0, 3))),
  'gives long ones': (response, vectors) => answer(response, vectors.map((vector) => [...vector, 1])),
  'gives numbers that are none': (response, vectors) => answer(response, vectors.map((vector) => [null, ...vector.slice(1)])),
  'gives texts': (response, vectors) => answer(response, vectors.map((vector) => vector.map(String))),
  'gives zeros': (response, vectors) => answer(response, vectors.map((vector) => vector.map(() => 0))),
} satisfies Record<string, (response: ServerResponse, vectors: number[][]) => unknown> // biome-ignore format: a table

export type EmbeddingFault = keyof typeof embeddingFaults

/** An embedding service on loopback that answers as servers do, without a model. */
export async function startEmbeddingServer(): Promise<{
  url: string
  /** The environment variables that name it to the command. */
  env: Record<string, string>
  /** Sets its behaviour from now on; `null` makes it work. */
  behave(fault: EmbeddingFault | null): void
  close(): Promise<void>
}> {
  let fault: EmbeddingFault | null = null
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] }
      const vectors = (await honest.embed(input, 'document')).map((vector) => [...vector])
      if (fault) embeddingFaults[fault](response, vectors)
      else answer(response, vectors)
    })
    // The caller may be killed meanwhile.
    request.on('error', () => {})
    response.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/v1`
  return {
    url,
    env: {
      RECALL_EMBEDDING_URL: url,
      RECALL_EMBEDDING_MODEL: honest.model,
      RECALL_EMBEDDING_DIMENSIONS: String(honest.dimensions),
    },
    behave(next) {
      fault = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
