import { memories } from '@recall/store-postgres'
import { beforeEach, describe, expect, it } from 'vitest'
import { engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const publicUrl = 'http://localhost'
const body = {
  content:
    'The orders pool leaked connections under load until the retry path released its client in the end.',
  tags: ['pool', 'leak'],
}

describe.each(engines)('what programs expect of any service, on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  const now = Date.UTC(2026, 0, 1)
  beforeEach(async () => {
    hub = await openHub(
      database(),
      { ...noLimits, publicUrl, contact: 'mailto:hub@example.org' },
      { clock: () => now },
    )
  })
  const get = (path: string, key?: string) => hub.request('GET', path, key ? { key } : {})

  it('tells crawlers and finders of holes where to go', async () => {
    expect(await (await get('/robots.txt')).text()).toContain('Disallow: /api/')
    const security = await (await get('/.well-known/security.txt')).text()
    expect(security).toContain('Contact: mailto:hub@example.org\n')
    expect(security).toContain('Expires: 2026-06-30T00:00:00.000Z\n')
    expect(await (await get('/skill.md')).text()).toContain('contest a quarantine: mailto:hub@example.org')
    const slashed = await openHub(database(), {
      ...noLimits,
      publicUrl: `${publicUrl}/`,
      contact: 'mailto:a@b.c',
    })
    expect(await (await slashed.request('GET', '/.well-known/security.txt')).text()).toContain(
      `Canonical: ${publicUrl}/.well-known/security.txt\n`,
    )
    const anonymous = await openHub(database(), noLimits)
    expect((await anonymous.request('GET', '/.well-known/security.txt')).status).toBe(404)
  })

  it('teaches agents its own limits', async () => {
    const thresholds = { minContent: 120, minTags: 1, maxTags: 3 }
    const own = await openHub(database(), { ...noLimits, thresholds })
    const skill = await (await own.request('GET', '/skill.md')).text()
    expect(skill).toContain('120 characters or more')
    expect(skill).toContain('1 to 3 tags')
  })

  it('is where a request found it when it listens everywhere without a name, and nowhere else', async () => {
    const skillAt = async (settings: object): Promise<string> => {
      const open = await openHub(database(), { ...noLimits, ...settings })
      return (await open.fetch(new Request('http://hub.internal:8080/skill.md'))).text()
    }
    expect(await skillAt({ host: '0.0.0.0' })).toContain('"api_base":"http://hub.internal:8080/api/v1"')
    const named = { host: '0.0.0.0', publicUrl: 'https://hub.example.org' }
    expect(await skillAt(named)).not.toContain('hub.internal:8080/api')
    expect(await skillAt({})).not.toContain('hub.internal:8080/api')
  })

  it('points from a catalog to what it has, and all of it is there', async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await hub.request(method, '/.well-known/api-catalog')
      expect([answer.status, answer.headers.get('Link')]).toEqual([
        200,
        '</.well-known/api-catalog>; rel="api-catalog"',
      ])
      expect(answer.headers.get('Content-Type')).toMatch(/^application\/linkset\+json/)
    }
    const links = [...(await (await get('/.well-known/api-catalog')).text()).matchAll(/"href":"([^"]+)"/g)]
    expect(links).toHaveLength(4)
    for (const [, link = ''] of links) {
      const answer = await get(link.slice(publicUrl.length))
      expect([answer.status, link], link).toEqual([200, expect.stringMatching(publicUrl)])
    }
  })

  it('lists its pages for language models under a heading', async () => {
    const text = await (await get('/llms.txt')).text()
    expect(text).toMatch(/^# Recall\n\n> .+\n\n## .+\n\n- \[Skill\]\(http:\/\/localhost\/skill\.md\): /)
  })

  it('names a problem of no type of its own by the phrase of its status', async () => {
    const { key } = await hub.agent('ada')
    const post = (path: string, given: object) => hub.request('POST', `/api/v1/${path}`, { key, ...given })
    const titles = [
      await get('/api/v1/agents/me'),
      await get('/api/v1/memory/RCL-00000000', key),
      await post('memory', { body: {} }),
      await post('memory', { body: 'x'.repeat(9_000_000) }),
      await post('admin/heartbeat', {}),
    ].map(async (answer) => {
      const problem = (await answer.json()) as { type: string; title: string; status: number }
      return [answer.status, problem.status, problem.type, problem.title]
    })
    expect(await Promise.all(titles)).toEqual([
      [401, 401, 'about:blank', 'Unauthorized'],
      [404, 404, 'about:blank', 'Not Found'],
      [400, 400, 'about:blank', 'Bad Request'],
      [413, 413, 'about:blank', 'Content Too Large'],
      [403, 403, 'about:blank', 'Forbidden'],
    ])
  })

  it('takes the scheme of a key in any case and with any blanks after it, and says that answers depend on it', async () => {
    const { key } = await hub.agent('ada')
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer ']) {
      const headers = { Authorization: `${scheme} ${key}`, Accept: 'application/json, text/event-stream' }
      const answer = await hub.request('GET', '/api/v1/agents/me', { headers })
      expect([answer.status, answer.headers.get('Vary')]).toEqual([200, 'Authorization'])
      expect(answer.headers.get('Cache-Control')).toBe('private, no-store')
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
      // Over MCP a call goes through the routes again, with the same key.
      const call = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'memory_search', arguments: { query: 'pool' } },
      }
      const spoken = await hub.request('POST', '/mcp', { headers, body: call })
      expect([spoken.status, spoken.headers.get('Vary')]).toEqual([200, 'Authorization'])
      expect(spoken.headers.get('Cache-Control')).toContain('private, no-store')
      expect(await spoken.text()).toContain('results')
    }
  })

  it('answers the health check of a proxy that sends HEAD, and nothing else without a key', async () => {
    expect((await hub.request('HEAD', '/api/v1/health')).status).toBe(200)
    expect((await hub.request('HEAD', '/api/v1/agents/me')).status).toBe(401)
  })

  it('refuses an Idempotency-Key that is empty, and publishes how long and by what one is known', async () => {
    const { key } = await hub.agent('ada', 1)
    for (const empty of ['', '""']) {
      const headers = { 'Idempotency-Key': empty }
      const answer = await hub.request('POST', '/api/v1/memory', { key, body, headers })
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('idempotency-key')])
    }
    expect(await database().$count(memories)).toBe(0)
    for (const path of ['/openapi.json', '/reference'])
      expect(await (await get(path)).text(), path).toMatch(/For 24 hours .*SHA-256/)
  })
})
