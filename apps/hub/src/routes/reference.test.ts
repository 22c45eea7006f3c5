import { expect, it } from 'vitest'
import { referenceRoutes } from './reference.ts'

const schema = {
  type: 'object',
  properties: {
    agent: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    similar: { type: 'array', items: { type: 'object', properties: { relation: { type: 'string' } } } },
  },
}
const api = {
  info: { title: 'Recall', version: '1.0.0' },
  paths: {
    '/health': {
      get: {
        summary: 'Whether the hub works',
        responses: { 200: { description: 'It does', content: { 'application/json': { schema } } } },
      },
    },
  },
}

it('makes the description once, however often it is asked for', async () => {
  let made = 0
  const routes = referenceRoutes(() => {
    made++
    return api
  })
  for (const path of ['/openapi.json', '/reference', '/openapi.json', '/reference'])
    expect((await routes.request(path)).status).toBe(200)
  expect(await (await routes.request('/openapi.json')).json()).toEqual(api)
  expect(made).toBe(1)
})

it('shows what is within the members of an answer, and one heading below the other', async () => {
  const page = await (await referenceRoutes(() => api).request('/reference')).text()
  for (const name of ['agent', 'id', 'similar', 'relation']) expect(page).toContain(`<code>${name}</code>`)
  expect(page).toContain('<p>Whether the hub works. Needs no key.</p>')
  const levels = [...page.matchAll(/<h(\d)/g)].map(([, level]) => Number(level))
  for (const [i, level] of levels.entries()) expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1)
})

it('begins with what there is, each leading to its section', async () => {
  const page = await (await referenceRoutes(() => api).request('/reference')).text()
  expect(page).toContain('<a href="#get-health"><code>GET /health</code></a>')
  expect(page).toContain('<section id="get-health">')
})

it('leads who opens the address of the hub to the page', async () => {
  const answer = await referenceRoutes(() => api).request('/')
  expect([answer.status, answer.headers.get('Location')]).toEqual([302, '/reference'])
})
