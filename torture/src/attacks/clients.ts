import fc from 'fast-check'
import type { Attack } from '../attack.ts'
import { openPlainHub, type PlainHub } from '../plain-hub.ts'
import { heldBy, megabytes } from '../processes.ts'
import { head, isFault, statusOf, talk } from '../talk.ts'

/** Callers that send a byte a second while the others make requests. */
const slowCallers = 40
/**
 * How long a slow caller may be listened to: half a minute for a request, and the interval at which the server checks.
 */
const longestSlowMs = 40_000
const longestAnswerMs = 5000
const tenMegabytes = 10 * 1024 * 1024
/** How much memory may stay uncollected, in bytes, however much was sent. */
const mostGrowth = 250 * 1024 * 1024

/** What a caller does that wants a hub to stop, grow or lie. */
export const clients: Attack = {
  what: 'slow callers, 10 MB and deep bodies, header injection and tricks with Unicode: refused or kept exactly, slow ones are cut, the others are answered meanwhile, memory stays',
  size: 200,
  async round({ seed, size, folder }) {
    const hub = await openPlainHub(folder)
    const violations: string[] = []
    let [tried, kept] = [0, 0]
    try {
      const key = await hub.register('ada')
      const before = heldBy(hub.pid)
      const slow = Promise.all(Array.from({ length: slowCallers }, (_, i) => callSlowly(hub, key, i)))
      for (const input of fc.sample(hostile, { seed, numRuns: size })) {
        const attempt = tries[input.kind] as (...given: [PlainHub, string, Hostile]) => Promise<string[]>
        const found = await attempt(hub, key, input)
        violations.push(
          ...found.map((what) => `${input.kind} ${JSON.stringify(input).slice(0, 200)}: ${what}`),
        )
        tried++
        if (tried % 10 === 0) violations.push(...(await isWell(hub, key)))
      }
      const longest = Math.max(...(await slow))
      if (longest > longestSlowMs)
        violations.push(`a slow caller was listened to for ${Math.round(longest)} ms`)
      const after = heldBy(hub.pid)
      if (after.bytes > before.bytes + mostGrowth)
        violations.push(`the hub grew from ${megabytes(before.bytes)} to ${megabytes(after.bytes)} MB`)
      violations.push(...(await isWell(hub, key)))
      const { text } = await hub.call(key, 'POST', '/api/v1/private/long-term/stats', {})
      kept = (JSON.parse(text) as { entries: number }).entries
    } finally {
      await hub.close()
    }
    return {
      counts: { 'hostile requests': tried, 'texts kept exactly': kept, 'slow callers': slowCallers },
      violations,
    }
  },
}

const posts = ['/api/v1/memory', '/api/v1/agents/register', '/api/v1/private/long-term/put', '/api/v1/private/long-term/find', '/mcp'] // biome-ignore format: a list

/** Parts of texts that are not what they look like. */
const trickster = fc.constantFrom(
  '\ud800', '\udfff', '\u0000', '\u202e', '\u2066', '\u200b', '\ufeff', '\u0085', '\u2028', 'e\u0301', '\u00e9', '\ufb01', 'ß', 'İ', '\u{e0041}', '\u{1f468}\u200d\u{1f469}', 'ﷺ', '\uffff', '%00', '\\u0000', '\u0430\u0440\u0456', '\u3000', '\u001b[2J',
) // biome-ignore format: a list
const trickyText = fc
  .array(fc.oneof(trickster, fc.string({ unit: 'binary', maxLength: 20 }), fc.lorem({ maxCount: 5 })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(''))

const hostile = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('huge' as const), path: fc.constantFrom(...posts), isChunked: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('deep' as const), path: fc.constantFrom(...posts), depth: fc.integer({ min: 10, max: 200_000 }), open: fc.constantFrom('[', '{"a":', '[{"a":') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('injection' as const), at: fc.constantFrom('/api/v1/memory/search?q=', '/api/v1/memory/', '/', '/api/v1/private/', '/openapi.json?'), text: fc.constantFrom('%0d%0aX-Injected:%20yes', '%0aX-Injected:yes', '%E5%98%8D%E5%98%8AX-Injected:yes', '%0d%0a%0d%0aHTTP/1.1 200 OK%0d%0aX-Injected: yes'), header: fc.constantFrom('Idempotency-Key', 'X-Request-Id', 'Origin', 'Accept', 'User-Agent', 'X-Forwarded-For', 'traceparent') }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('unicode' as const), key: trickyText, value: trickyText }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('lesson' as const), content: trickyText, tag: trickyText }) },
) // biome-ignore format: a table

type Hostile = typeof hostile extends fc.Arbitrary<infer T> ? T : never
type Of<Kind> = Extract<Hostile, { kind: Kind }>

const tries: {
  [Kind in Hostile['kind']]: (hub: PlainHub, key: string, input: Of<Kind>) => Promise<string[]>
} = {
  async huge(hub, key, { path, isChunked }) {
    const chunk = 'x'.repeat(tenMegabytes / 10)
    const sent = isChunked
      ? `${start(path, key, 'Transfer-Encoding: chunked')}${`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(10)}0\r\n\r\n`
      : `${start(path, key, `Content-Length: ${tenMegabytes}`)}${chunk.repeat(10)}`
    const status = statusOf((await talk(hub.url, sent, { more: true })).answer)
    return status === 413 || status === 0 || status === 401 ? [] : [`answered ${status}`]
  },
  async deep(hub, key, { path, depth, open }) {
    const text = open.repeat(depth)
    const { status } = await hub.call(key, 'POST', path, text)
    const closed = await hub.call(key, 'POST', path, `${text}1${closing(open).repeat(depth)}`)
    // A search ignores members that it does not know, however deep they are.
    const isFine = (each: number): boolean => (each >= 400 && each < 500) || (each === 200 && path.endsWith('/find'))
    return [status, closed.status].flatMap((each) => (isFine(each) ? [] : [`answered ${each}`]))
  },
  async injection(hub, key, { at, text, header }) {
    const sent = head('GET', `${at}${text}`, `Authorization: Bearer ${key}`, `${header}: a${text}`)
    const { answer } = await talk(hub.url, sent, { more: true })
    const headers = answer.slice(0, answer.indexOf('\r\n\r\n'))
    return [
      ...(isFault(statusOf(answer)) || statusOf(answer) === 0 ? [`answered ${statusOf(answer)}`] : []),
      ...(/^x-injected/im.test(headers) || /\nHTTP\/1/.test(headers) ? ['the answer has a header of its own'] : []),
    ]
  },
  async unicode(hub, key, { key: name, value }) {
    const put = await hub.call(key, 'POST', '/api/v1/private/long-term/put', { entry: { key: name, value } })
    if (put.status >= 400 && put.status < 500) return []
    if (put.status !== 200) return [`put was answered ${put.status}`]
    const got = await hub.call(key, 'POST', '/api/v1/private/long-term/get', { key: name })
    const kept = (JSON.parse(got.text) as { entry?: { value?: unknown } | null }).entry?.value
    return kept === value ? [] : [`${JSON.stringify(value)} was kept as ${JSON.stringify(kept)}`]
  },
  async lesson(hub, key, { content, tag }) {
    const text = content.padEnd(100, ' and so on')
    const { status } = await hub.call(key, 'POST', '/api/v1/memory', { content: text, tags: [tag, 'unicode'] })
    const search = await hub.call(key, 'GET', `/api/v1/memory/search?q=${encodeURIComponent(wellFormed(content).slice(0, 300))}`)
    return [status, search.status].flatMap((each) => (each === 0 || isFault(each) ? [`answered ${each}`] : []))
  },
} // biome-ignore format: long lines

const wellFormed = (text: string): string => Buffer.from(text).toString()
const closing = (open: string): string => [...open].reverse().join('').replace(/[^[{]/g, '').replaceAll('[', ']').replaceAll('{', '}') // biome-ignore format: short

const start = (path: string, key: string, line: string): string =>
  head('POST', path, `Authorization: Bearer ${key}`, 'Content-Type: application/json', line)

/** Sends something now and then and never finishes. @returns milliseconds until the connection was closed */
async function callSlowly(hub: PlainHub, key: string, i: number): Promise<number> {
  const beginnings = ['GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', 'POST /api/v1/memory HTTP/1.1\r\n', `${start('/api/v1/memory', key, 'Content-Length: 5000')}{"content": "`] // biome-ignore format: a list
  const beginning = beginnings[i % beginnings.length] as string
  const { tookMs } = await talk(hub.url, beginning, { more: true, drip: 'a' })
  return tookMs
}

/** A caller that means no harm is answered, and soon. */
async function isWell(hub: PlainHub, key: string): Promise<string[]> {
  const started = performance.now()
  const { status } = await hub.call(key, 'GET', '/api/v1/agents/me')
  const took = performance.now() - started
  return [
    ...(status === 200 ? [] : [`an honest caller was answered ${status}`]),
    ...(took > longestAnswerMs ? [`an honest caller waited ${Math.round(took)} ms`] : []),
  ]
}
