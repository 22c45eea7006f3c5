import { connectHub } from '@recall/client'
import { expect, it } from 'vitest'
import { recallTools } from '../src/index.ts'

it('turns each tool into one call of the hub, as the agent that the key belongs to', async () => {
  const seen: string[] = []
  let saved: unknown
  const hub = connectHub({
    url: 'http://hub.example',
    apiKey: 'key',
    fetch: async (request) => {
      if (request.url.endsWith('/memory')) saved = await request.clone().json()
      seen.push(`${request.method} ${new URL(request.url).pathname} ${request.headers.get('authorization')}`)
      return Response.json({
        ...{ results: [], id: '1', short_id: '1', similar: [] },
        ...{ citation: 'Recall #1', citations: 1 },
      })
    },
  })
  const [search, save, cite] = recallTools(hub)
  expect(await search?.execute({ question: 'pool' })).toMatch(
    /^<recalled-memory source="hub"[^>]*>\n\[\]\n<\/recalled-memory>$/,
  )
  const lesson = { content: 'x'.repeat(90), tags: ['pool', 'postgres'], source_url: 'https://example.com/1' }
  await save?.execute(lesson)
  expect(saved).toEqual(lesson)
  expect(await cite?.execute({ id: '1' })).toBe('Recall #1')
  expect(seen).toEqual([
    'GET /api/v1/memory/search Bearer key',
    'POST /api/v1/memory Bearer key',
    'POST /api/v1/memory/1/cite Bearer key',
  ])
})
