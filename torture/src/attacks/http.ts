import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { startHub } from '../../../apps/hub/test/processes.ts'
import { noLimits } from '../../../apps/hub/test/support.ts'
import type { Attack } from '../attack.ts'

const secret = 'quokkaquartz'

/** Requests that nearly are right, and bytes that hardly are requests. */
export const http: Attack = {
  what: 'hostile HTTP, as JSON nearly fit for each route and as raw bytes: never a 5xx but 503, never a crash, nothing of another agent',
  size: 400,
  async round({ seed, size, folder }) {
    const config = join(folder, 'hub.json')
    writeFileSync(config, JSON.stringify(noLimits))
    const hub = await startHub({
      DATA: join(folder, 'data'),
      EMBEDDING_PROVIDER: 'fake',
      CONFIG: config,
    })
    const counts = { requests: 0, 'raw requests': 0 }
    const violations: string[] = []
    try {
      const [victim, probe] = [await register(hub.url, 'victim'), await register(hub.url, 'probe')]
      await call(hub.url, victim, 'POST', '/api/v1/private/long-term/put', {
        entry: { key: 'key', value: `private ${secret}` },
      })
      const routes = await routesOf(hub.url)
      const request = fc
        .constantFrom(...routes)
        .chain((route) => fc.tuple(fc.constant(route), bodyOf(route.schema), fc.constantFrom(...parts)))
      const options = { seed, numRuns: Math.max(1, size >> 1) }
      for (const [{ method, path }, body, part] of fc.sample(request, options)) {
        counts.requests++
        const at = path.replace(/\{\w+\}/g, encodeURIComponent(part))
        const { status, text } = await call(hub.url, probe, method, at, body)
        const what = `${method} ${at} ${JSON.stringify(body)?.slice(0, 200)}`
        if (status === 0 || (status >= 500 && status !== 503))
          violations.push(`${what}: ${status} ${text.slice(0, 200)}`)
        if (text.includes(secret)) violations.push(`${what}: tells of another agent`)
      }
      for (const bytes of fc.sample(rawRequest, options)) {
        counts['raw requests']++
        const status = await talk(hub.url, bytes)
        if (status >= 500 && status !== 503 && status !== 505)
          violations.push(`${JSON.stringify(bytes).slice(0, 200)}: ${status}`)
      }
      const { text } = await call(hub.url, victim, 'POST', '/api/v1/private/long-term/get', { key: 'key' })
      if (!text.includes(secret)) violations.push('the memory of the other agent is gone')
      if (!(await fetch(`${hub.url}/livez`)).ok) violations.push('the hub is not alive')
    } finally {
      await hub.stop('SIGKILL')
    }
    return { counts, violations }
  },
}

const parts = [
  'key',
  'long-term',
  'working',
  '..',
  '%',
  '\u0000',
  'RCL-00000000',
  "' or 1=1 --",
  '',
  '__proto__',
  'x'.repeat(3000),
]

interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  enum?: unknown[]
  anyOf?: Schema[]
}

interface Route {
  method: string
  path: string
  schema: Schema | undefined
}

async function routesOf(url: string): Promise<Route[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      schema: requestBody?.content['application/json']?.schema,
    })),
  )
}

const anything = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(...parts, null, -1, 1e308, 2 ** 53, `<script>${secret.slice(0, 3)}`),
  fc.string({ unit: 'binary' }),
)

/** A value that a schema describes, with something else here and there. */
function fitting(schema: Schema | undefined, depth = 0): fc.Arbitrary<unknown> {
  const fits = (): fc.Arbitrary<unknown> => {
    if (!schema || depth > 4) return anything
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => fitting(each, depth + 1)))
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
    if (type === 'array') return fc.array(fitting(schema.items, depth + 1), { maxLength: 4 })
    if (type === 'integer' || type === 'number') return fc.oneof(fc.integer(), fc.double())
    if (type === 'boolean') return fc.boolean()
    if (type === 'string') return fc.oneof(fc.lorem({ maxCount: 30 }), fc.constantFrom(...parts))
    const members = Object.entries(schema.properties ?? {}).map(([name, each]) => [
      name,
      fitting(each, depth + 1),
    ])
    return members.length > 0 ? fc.record(Object.fromEntries(members), { requiredKeys: [] }) : anything
  }
  return fc.oneof({ weight: 6, arbitrary: fits() }, { weight: 1, arbitrary: anything })
}

const bodyOf = (schema: Schema | undefined): fc.Arbitrary<unknown> =>
  schema ? fitting(schema) : fc.constant(undefined)

const line = fc.oneof(
  fc.string({ unit: 'binary-ascii' }),
  fc.constantFrom(
    'Host: localhost',
    'Content-Length: 3',
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
  ),
)
const rawRequest = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'PATCH', 'TRACE', 'BREW', 'CONNECT'),
    fc.oneof(fc.webPath(), fc.string()),
    fc.array(line, { maxLength: 6 }),
  )
  .map(([method, path, lines]) =>
    [`${method} ${path || '/'} HTTP/1.1`, 'Connection: close', ...lines, '', 'xxx', '', ''].join('\r\n'),
  )

async function register(url: string, name: string): Promise<string> {
  const { text } = await call(url, undefined, 'POST', '/api/v1/agents/register', { name })
  return (JSON.parse(text) as { api_key: string }).api_key
}

async function call(url: string, key: string | undefined, method: string, path: string, body?: unknown) {
  const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD'
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...(key ? { Authorization: `Bearer ${key}` } : {}), 'Content-Type': 'application/json' },
      ...(hasBody ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(20_000),
    })
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

/** The status of whatever comes back for some bytes; 0 where nothing does. */
const talk = (url: string, bytes: string): Promise<number> =>
  new Promise((resolve) => {
    let answer = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.end(bytes))
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text
    })
    // A reset is an answer too.
    socket.on('error', () => {})
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)))
  })
