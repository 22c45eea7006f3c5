import fc from 'fast-check'
import type { Attack } from '../attack.ts'
import { openPlainHub, type PlainHub } from '../plain-hub.ts'
import { isFault } from '../talk.ts'
import { secret } from './http.ts'
import { hostileLine } from './mcp.ts'

/** Callers that use the same id for their requests at the same moment. */
const together = 20

/** The hub's endpoint for agents, as anybody with a key can call it. */
export const mcpHttp: Attack = {
  what: "hostile JSON-RPC to `/mcp` of a hub: no 5xx but 503, nothing of another agent, the next request is answered, and nobody gets another's answer",
  size: 200,
  async round({ seed, size, folder }) {
    const hub = await openPlainHub(folder)
    const violations: string[] = []
    try {
      const [victim, probe] = [await hub.register('victim'), await hub.register('probe')]
      await remember(hub, victim, `private ${secret}`)
      for (const { body, headers, method } of fc.sample(message, { seed, numRuns: size })) {
        const { status, text } = await hub.call(probe, method, '/mcp', body, headers)
        const what = `${method} ${body.slice(0, 200)} ${JSON.stringify(headers)}`
        if (status === 0 || isFault(status)) violations.push(`${what}: ${status} ${text.slice(0, 200)}`)
        if (text.includes(secret)) violations.push(`${what}: reveals another agent's memory`)
      }
      violations.push(...(await mixUp(hub)))
      const { text } = await callTool(hub, victim, 'memory_search', { query: secret })
      if (!text.includes(secret)) violations.push('the memory of the other agent is gone')
      if (!(await hub.isAlive())) violations.push('the hub is not alive')
    } finally {
      await hub.close()
    }
    return { counts: { messages: size, 'callers at once': together }, violations }
  },
}

const good = { Accept: 'application/json, text/event-stream' }
const message = fc.record({
  body: hostileLine,
  method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'GET'),
  headers: fc
    .dictionary(
      fc.constantFrom('Accept', 'Content-Type', 'Mcp-Session-Id', 'MCP-Protocol-Version', 'Last-Event-ID', 'Content-Encoding'),
      fc.constantFrom('text/plain', '*/*', 'x'.repeat(2000), '2026-07-28', '2025-06-18', '1999-01-01', 'gzip', '0', '../..'),
      { maxKeys: 2 },
    )
    .map((odd): Record<string, string> => ({ ...good, ...odd })),
}) // biome-ignore format: a table

const callTool = (hub: PlainHub, key: string, name: string, args: Record<string, unknown>) =>
  hub.call(
    key,
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    good,
  )

const remember = (hub: PlainHub, key: string, text: string) => callTool(hub, key, 'memory_remember', { text })

/** Agents that all call with the same id each get their own answer. */
async function mixUp(hub: PlainHub): Promise<string[]> {
  const agents = await Promise.all(
    Array.from({ length: together }, async (_, i) => {
      const key = await hub.register(`agent-${i}`)
      await remember(hub, key, `the badger of agent${i}x`)
      return { key, own: `agent${i}x` }
    }),
  )
  const found = await Promise.all(
    agents.map(({ key }) => callTool(hub, key, 'memory_search', { query: 'badger' })),
  )
  return found.flatMap(({ text }, i) => {
    const named = new Set(text.match(/agent\d+x/g))
    return named.size === 1 && named.has(agents[i]?.own as string)
      ? []
      : [`agent ${i} was told about ${[...named].join(', ') || `nothing: ${text.slice(0, 200)}`}`]
  })
}
