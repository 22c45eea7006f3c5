import { beforeEach, describe, expect, it } from 'vitest'
import { hashOfKey } from '../src/access/keys.ts'
import { parseConfig } from '../src/config/config.ts'
import { engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

describe.each(engines)('who calls the hub on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    hub = await openHub(database())
  })

  it('counts the addresses of an IPv6 network together', async () => {
    const settings = {
      ...noLimits,
      behindProxy: true,
      limits: { ...noLimits.limits, register: [{ requests: 1, seconds: 60 }] },
    }
    const proxied = await openHub(database(), settings)
    const register = async (address: string): Promise<number> => {
      const headers = { 'X-Forwarded-For': address }
      return (await proxied.request('POST', '/api/v1/agents/register', { body: { name: 'eve' }, headers }))
        .status
    }
    const statuses = [
      await register('2001:db8:1:2::1'),
      await register('2001:db8:1:2:3::'),
      await register('2001:db8:1:3::1'),
    ]
    expect(statuses).toEqual([201, 429, 201])
  })

  it('counts each call by the limit of its kind, and tells it', async () => {
    const limit = (requests: number) => [{ requests, seconds: 60 }]
    const kinds = { write: limit(101), search: limit(102), get: limit(103) }
    const { tiers } = noLimits.limits
    const others = { register: limit(104), private: limit(105), mcp: limit(106) }
    const limited = await openHub(database(), {
      limits: { tiers: { ...tiers, unverified: kinds }, ...others },
    })
    const { key } = await limited.agent('ada')
    const content = 'The pool of the orders service was too small under load; twice its size held for days.'
    const calls: [number, string, string, unknown?][] = [
      [101, 'POST', '/api/v1/memory', { content, tags: ['pool', 'orders'] }],
      [102, 'GET', '/api/v1/memory/search?q=pool'],
      [103, 'GET', '/api/v1/memory/RCL-00000000'],
      [103, 'POST', '/api/v1/memory/RCL-00000000/cite'],
      [103, 'DELETE', '/api/v1/memory/RCL-00000000'],
      [103, 'GET', '/api/v1/agents/me'],
      [103, 'POST', '/api/v1/agents/me/rotate-key'],
      [104, 'POST', '/api/v1/agents/register', { name: 'eve' }],
      [105, 'POST', '/api/v1/private/working/stats', {}],
      [106, 'POST', '/mcp', {}],
    ]
    for (const [quota, method, path, body] of calls) {
      const { headers } = await limited.request(method, path, { key, body })
      expect(headers.get('RateLimit-Policy'), path).toBe(`"minute";q=${quota};w=60`)
    }
  })

  it('counts a registration that it refuses', async () => {
    const settings = {
      ...noLimits,
      limits: { ...noLimits.limits, register: [{ requests: 2, seconds: 60 }] },
    }
    const limited = await openHub(database(), settings)
    const register = async (body: unknown): Promise<number> =>
      (await limited.request('POST', '/api/v1/agents/register', { body })).status
    const statuses = [
      await register({ name: '' }),
      await register('{"name": '),
      await register({ name: '' }),
      await register({ name: 'eve' }),
    ]
    expect(statuses).toEqual([400, 400, 429, 429])
  })

  it('looks the same to every key that is not known, and learns none from how long it took', async () => {
    const { key } = await hub.agent('ada')
    const wrongFirst = `recall_${key.at(7) === 'A' ? 'B' : 'A'}${key.slice(8)}`
    const wrongLast = `${key.slice(0, -1)}${key.endsWith('A') ? 'E' : 'A'}`
    const answers = await Promise.all(
      [undefined, 'x', wrongFirst, wrongLast, `${key} `, `${key}\t`, `${key}x`, `${key}, x`].map(
        async (sent) => {
          const answer = await hub.request(
            'GET',
            '/api/v1/agents/me',
            sent === undefined ? {} : { key: sent },
          )
          return [answer.status, await answer.text()]
        },
      ),
    )
    // Surrounding blanks are no part of a header's value.
    const unknown = answers.filter(([status]) => status !== 200)
    expect(new Set(unknown.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(unknown.length).toBeGreaterThanOrEqual(6)
    // Keys are looked up by their hash: those of near keys have nothing in common that a comparison could show.
    const common = [...hashOfKey(wrongLast)].findIndex((digit, i) => digit !== hashOfKey(key)[i])
    expect(common).toBeLessThan(16)
    for (const [scheme, status] of [
      ['Basic', 401],
      ['Basic Bearer', 401],
      ['bearer', 200],
    ]) {
      const answer = await hub.request('GET', '/api/v1/agents/me', {
        headers: { Authorization: `${scheme} ${key}` },
      })
      expect([scheme, answer.status]).toEqual([scheme, status])
    }
  })

  it('answers under its own name only, and to no page of another origin', async () => {
    const { key } = await hub.agent('ada')
    const ask = async (url: string, headers: Record<string, string> = {}, of = hub): Promise<number> => {
      const request = new Request(`${url}/api/v1/agents/me`, {
        headers: { Authorization: `Bearer ${key}`, ...headers },
      })
      return (await of.fetch(request)).status
    }
    expect(await ask('http://localhost')).toBe(200)
    expect(await ask('http://127.0.0.1:8787')).toBe(200)
    expect(await ask('http://[::1]:8787')).toBe(200)
    for (const url of [
      'http://evil.example',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil.example',
      'http://0.0.0.0',
    ])
      expect([url, await ask(url)]).toEqual([url, 403])
    expect(await ask('http://localhost:8787', { Origin: 'http://localhost:8787' })).toBe(200)
    for (const origin of [
      'http://evil.example',
      'null',
      'file://',
      'http://localhost.evil.example',
      'http://localhost:3000',
    ])
      expect([origin, await ask('http://localhost', { Origin: origin })]).toEqual([origin, 403])
    const refusal = async (url: string, headers: Record<string, string> = {}): Promise<string> => {
      const answer = await hub.fetch(new Request(`${url}/api/v1/health`, { headers }))
      return ((await answer.json()) as { detail: string }).detail
    }
    expect(await refusal('http://evil.example')).toContain('set RECALL_HUB_PUBLIC_URL')
    const fromElsewhere = await refusal('http://localhost', { Origin: 'http://localhost:3000' })
    expect(fromElsewhere).toContain('RECALL_HUB_ALLOWED_ORIGINS')
    // Its proxy may call it by another name than agents do.
    const named = await openHub(database(), { ...noLimits, publicUrl: 'https://hub.example.org' })
    const Origin = 'https://hub.example.org'
    expect([await ask(Origin, { Origin }, named), await ask('http://localhost', { Origin }, named)]).toEqual([
      200, 200,
    ])
    const preflight = new Request('http://localhost/api/v1/memory', {
      method: 'OPTIONS',
      headers: { Origin: 'http://evil.example', 'Access-Control-Request-Method': 'POST' },
    })
    const answer = await hub.fetch(preflight)
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull()
    expect(answer.status).toBeGreaterThanOrEqual(400)
  })

  it('answers pages of the origins that the operator allows, and of no others', async () => {
    const pages = 'https://app.example.com'
    const open = await openHub(database(), { ...noLimits, allowedOrigins: `${pages}, https://other.example` })
    const { key } = await open.agent('ada')
    const ask = (method: string, headers: Record<string, string>) =>
      open.fetch(new Request('http://localhost/api/v1/agents/me', { method, headers }))
    const asked = {
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization',
    }
    const preflight = await ask('OPTIONS', { Origin: pages, ...asked })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe(pages)
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toBe('authorization')
    const answer = await ask('GET', { Origin: pages, Authorization: `Bearer ${key}` })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(pages)
    expect(answer.headers.get('Access-Control-Expose-Headers')).toBe(
      'Retry-After,RateLimit,RateLimit-Policy,WWW-Authenticate',
    )
    const refused = await ask('GET', { Origin: pages })
    expect([refused.status, refused.headers.get('Access-Control-Allow-Origin')]).toEqual([401, pages])
    for (const Origin of ['https://app.example.com.evil.example', 'http://app.example.com', 'null']) {
      const foreign = await ask('OPTIONS', { Origin, ...asked })
      expect(foreign.headers.get('Access-Control-Allow-Origin')).toBeNull()
      expect((await ask('GET', { Origin, Authorization: `Bearer ${key}` })).status).toBe(403)
    }
    expect(() => parseConfig({ allowedOrigins: ['https://app.example.com/'] })).toThrow('must be an origin')
  })

  it('tells a page as well which limit is reached', async () => {
    const write = [{ requests: 1, seconds: 3600 }]
    const { tiers } = noLimits.limits
    const limits = { ...noLimits.limits, tiers: { ...tiers, trusted: { ...tiers.trusted, write } } }
    const Origin = 'https://app.example.com'
    const limited = await openHub(database(), { limits, allowedOrigins: Origin })
    const { key } = await limited.agent('ada', 1)
    const body = {
      content: 'The pool of the orders service was too small under load; twice its size held for days.',
      tags: ['pool', 'orders'],
    }
    const save = () => limited.request('POST', '/api/v1/memory', { key, body, headers: { Origin } })
    await save()
    const { status, headers } = await save()
    expect([status, headers.get('RateLimit')]).toEqual([429, '"hour";r=0;t=3600'])
  })

  it('says which methods a path takes', async () => {
    const { key } = await hub.agent('ada')
    const answer = await hub.request('PUT', '/api/v1/memory', { key, body: {} })
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST'])
    expect(await answer.json()).toMatchObject({ status: 405, detail: '/api/v1/memory takes POST' })
    const nowhere = await hub.request('PUT', '/api/v1/nothing', { key })
    expect([nowhere.status, nowhere.headers.get('Allow')]).toEqual([404, null])
    // The path of a memory that is not there takes the method.
    expect((await hub.request('GET', '/api/v1/memory/RCL-00000000', { key })).status).toBe(404)
  })

  it('takes the address of a caller from a proxy only when it is told that there is one', async () => {
    const limited = { ...noLimits, limits: { ...noLimits.limits, register: [{ requests: 1, seconds: 60 }] } }
    const register = async (from: TestHub, address: string): Promise<number> => {
      const headers = { 'X-Forwarded-For': address, 'X-Real-IP': address, Forwarded: `for=${address}` }
      const answer = await from.request('POST', '/api/v1/agents/register', { body: { name: 'eve' }, headers })
      return answer.status
    }
    const bare = await openHub(database(), limited)
    expect([await register(bare, '10.0.0.1'), await register(bare, '10.0.0.2')]).toEqual([201, 429])
    const proxied = await openHub(database(), { ...limited, behindProxy: true })
    // What a caller claims stands before what the proxy adds.
    expect([
      await register(proxied, '1.1.1.1, 10.0.0.1'),
      await register(proxied, '2.2.2.2, 10.0.0.1'),
      await register(proxied, '1.1.1.1, 10.0.0.2'),
      await register(proxied, '10.0.0.2'),
    ]).toEqual([201, 429, 201, 429])
  })
})
