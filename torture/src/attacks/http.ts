import fc from 'fast-check'
import type { Attack } from '../attack.ts'
import { openPlainHub } from '../plain-hub.ts'
import { isFault, statusOf, talk } from '../talk.ts'

/** A word of a memory that nobody but its owner may ever see. */
export const secret = 'quokkaquartz'

/** Requests that are nearly valid, and bytes that are hardly requests. */
export const http: Attack = {
  what: 'hostile HTTP, as JSON nearly fit for each route and as raw bytes: never a 5xx but 503, never a crash, nothing of another agent',
  size: 400,
  async round({ seed, size, folder }) {
    const hub = await openPlainHub(folder)
    const counts = { requests: 0, 'raw requests': 0 }
    const violations: string[] = []
    try {
      const [victim, probe] = [await hub.register('victim'), await hub.register('probe')]
      await hub.call(victim, 'POST', '/api/v1/private/long-term/put', {
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
        const { status, text } = await hub.call(probe, method, at, body)
        const what = `${method} ${at} ${JSON.stringify(body)?.slice(0, 200)}`
        if (status === 0 || isFault(status)) violations.push(`${what}: ${status} ${text.slice(0, 200)}`)
        if (text.includes(secret)) violations.push(`${what}: reveals another agent's memory`)
      }
      for (const bytes of fc.sample(rawRequest, options)) {
        counts['raw requests']++
        const status = statusOf((await talk(hub.url, bytes)).answer)
        if (isFault(status) && status !== 505)
          violations.push(`${JSON.stringify(bytes).slice(0, 200)}: ${status}`)
      }
      const { text } = await hub.call(victim, 'POST', '/api/v1/private/long-term/get', { key: 'key' })
      if (!text.includes(secret)) violations.push('the memory of the other agent is gone')
      if (!(await hub.isAlive())) violations.push('the hub is not alive')
    } finally {
      await hub.close()
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

/** A value that fits a schema, with something else here and there. */
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
