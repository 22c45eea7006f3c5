import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Attack } from '../attack.ts'
import { runRecall } from '../recall-process.ts'

/** A host that has gone wrong, or a model that writes to its pipe. */
export const mcp: Attack = {
  what: 'hostile JSON-RPC to `recall mcp`: whatever came before, the next request is answered, and nothing but JSON-RPC is printed',
  size: 200,
  async round({ seed, size, folder }) {
    const root = join(folder, 'root')
    mkdirSync(join(root, 'memory'), { recursive: true })
    const lines = fc.sample(hostileLine, { seed, numRuns: size })
    const input = [initialize, ...lines, JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'tools/list' })]
    const { by, out, err } = await runRecall(['mcp', '--root', root], {
      cwd: folder,
      input: `${input.join('\n')}\n`,
    })
    const violations = by === 0 ? [] : [`it ended with ${by}: ${err.slice(-500)}`]
    const answers = out.split('\n').filter((line) => line !== '')
    for (const answer of answers) {
      if (!isAnswer(answer)) violations.push(`it printed ${answer.slice(0, 200)}`)
    }
    if (!answers.some((answer) => answer.includes('"last"') && answer.includes('memory_search'))) {
      violations.push('the last request was not answered')
    }
    return { counts: { lines: lines.length, answers: answers.length }, violations }
  },
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
})

const names = [
  'memory_search',
  'memory_remember',
  'memory_read',
  'memory_forget',
  'session_context',
  'nothing',
]
const call = fc.record({
  jsonrpc: fc.constantFrom('2.0', '2.0', '1.0', 2),
  id: fc.oneof(fc.integer(), fc.jsonValue()),
  method: fc.constantFrom('tools/call', 'tools/call', 'tools/list', 'ping', 'resources/read', '__proto__', ''),
  params: fc.oneof(
    fc.record({
      name: fc.constantFrom(...names),
      arguments: fc.dictionary(
        fc.constantFrom('query', 'key', 'scope', 'text', 'limit', 'offset', 'tags', '__proto__'),
        fc.oneof(fc.jsonValue(), fc.constantFrom('long-term', '../../etc', '\u0000', 1e308, 'x'.repeat(20_000))),
      ),
    }),
    fc.jsonValue(),
  ),
}) // biome-ignore format: a table

export const hostileLine = fc.oneof(
  { weight: 5, arbitrary: call.map((each) => JSON.stringify(each)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')) },
  { weight: 1, arbitrary: fc.constantFrom('{', '[]', 'null', '[{}]', '{}', '[['.repeat(5000), '\u0000') },
)

function isAnswer(line: string): boolean {
  try {
    const answer = JSON.parse(line) as { jsonrpc?: unknown } | null
    return answer?.jsonrpc === '2.0'
  } catch {
    return false
  }
}
