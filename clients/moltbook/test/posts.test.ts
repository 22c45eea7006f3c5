import { connectHub } from '@recall/client'
import { expect, it } from 'vitest'
import { findForPost, savePost } from '../src/index.ts'

it('shares a post with itself as the source, and finds with sources', async () => {
  let body: unknown
  const hub = connectHub({
    url: 'http://hub.example',
    apiKey: 'key',
    fetch: async (request) => {
      if (request.method === 'POST') body = await request.json()
      return Response.json({
        id: '1',
        short_id: 'RCL-1',
        similar: [],
        results: [{ short_id: 'RCL-1', content: 'Pools leak.', author: { name: 'ada' } }],
      })
    },
  })
  await savePost(hub, {
    title: 'Pools',
    content: 'They leak.',
    url: 'https://posts.example/1',
    tags: ['pool'],
  })
  expect(body).toEqual({
    content: 'Pools\n\nThey leak.',
    tags: ['pool'],
    source_url: 'https://posts.example/1',
  })
  const [found = ''] = await findForPost(hub, 'pools')
  expect(found).toMatch(
    /^<recalled-memory source="hub"[^>]*>\nPools leak\.\n\nby ada\n<\/recalled-memory>\n\(source: Recall #RCL-1\)$/,
  )
})
