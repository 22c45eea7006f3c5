import { describe, expect, it } from 'vitest'
import { createMcpFetch } from '../src/index.ts'
import { modern, sampleOptions } from './support.ts'

it('each request sees the memory of who asks', async () => {
  const [ana, bo] = [await sampleOptions(), await sampleOptions()]
  await ana.memory.write('long-term', 'secret', 'the walrus sleeps')
  const server = createMcpFetch({ optionsFor: (principal) => (principal === 'ana' ? ana : bo) })
  const count = async (principal: string): Promise<number> => {
    const request = modern(
      'tools/call',
      { name: 'memory_search', arguments: { query: 'walrus' } },
      'memory_search',
    )
    const answer = (await (await server.fetch(request, principal)).json()) as {
      result: { structuredContent: { results: unknown[] } }
    }
    return answer.result.structuredContent.results.length
  }
  expect([await count('ana'), await count('bo')]).toEqual([1, 0])
})

describe('foreign requests', () => {
  it.each([
    ['a foreign host', { host: 'evil.example' }],
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['an origin that is none', { origin: 'null' }],
  ])('%s gets 403', async (_, headers) => {
    const options = await sampleOptions()
    const server = createMcpFetch({ optionsFor: () => options })
    const answer = await server.fetch(modern('tools/list', {}, undefined, headers))
    expect(answer.status).toBe(403)
  })

  it('only POST is answered, and a body over 4 MiB is not', async () => {
    const options = await sampleOptions()
    const server = createMcpFetch({ optionsFor: () => options })
    expect(
      (await server.fetch(new Request('http://localhost/mcp', { headers: { host: 'localhost' } }))).status,
    ).toBe(405)
    const large = modern(
      'tools/call',
      { name: 'memory_search', arguments: { query: 'x'.repeat(5 << 20) } },
      'memory_search',
    )
    expect((await server.fetch(large)).status).toBe(413)
  })
})
