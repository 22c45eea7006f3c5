import { format } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { filesIn, read } from './workspace.ts'

/** Every heading of the specification, in its order. It has two "Batch Operations": the second one is renamed. */
const specification = [
  'Overview',
  'Memory Architecture',
  'Memory Scopes',
  'Working Memory',
  'Short-term Memory',
  'Long-term Memory',
  'Episodic Memory',
  'Memory Operations API',
  'Core Operations',
  'Type Definitions',
  'Read/Write Patterns',
  'Basic Operations',
  'Search Patterns',
  'Batch Operations',
  'Search & Retrieval Patterns',
  'Retrieval-Augmented Generation (RAG)',
  'Pattern Matching',
  'Learning Retrieval',
  'Cleanup & Garbage Collection',
  'TTL-Based Expiration',
  'LRU Eviction',
  'Archive Policy',
  'Scheduled Cleanup',
  'Memory Lifecycle',
  'Integration with Execution Loop',
  'Memory Operations per State',
  'Example Integration',
  'Error Handling',
  'Memory Errors',
  'Fallback Strategies',
  'Performance Considerations',
  'Caching Strategy',
  'Batch Reads and Writes',
  'Version History',
]

const document = read('docs/protocol.md')
const sections = new Map(
  document
    .split(/^#{2,3} /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
)
const codeOf = (heading: string): string | undefined =>
  /^```ts\n([\s\S]*?)^```$/m.exec(sections.get(heading) ?? '')?.[1]

/** What an example says that it prints: its comments, one for each line that prints. */
const promisedBy = (code: string): string[] =>
  [...code.matchAll(/(?:^|\s)\/\/ (.+)$/gm)].map(([, comment]) => comment as string)

const nameOf = (heading: string): string => {
  const words = heading
    .replace(/\(.*\)/, '')
    .replaceAll('&', 'and')
    .toLowerCase()
  return words.trim().replace(/[^a-z]+/g, '-')
}
const fileOf = (heading: string): string => `house/examples/protocol/${nameOf(heading)}.ts`

it('docs/protocol.md has every heading of the specification, in its order', () => {
  expect([...sections.keys()]).toEqual(specification)
  const examples = specification.filter((heading) => codeOf(heading) !== undefined).map(fileOf)
  expect(filesIn('house/examples/protocol', '.ts')).toEqual(examples.sort())
})

describe('the protocol', () => {
  afterEach(() => void vi.restoreAllMocks())

  const withCode = specification.filter((heading) => heading !== 'Version History')

  it.each(withCode)('has an example under %s that prints what it says', async (heading) => {
    const code = codeOf(heading) ?? ''
    expect(code).toBe(read(fileOf(heading)))
    const printed: string[] = []
    vi.spyOn(console, 'log').mockImplementation((...values) => {
      printed.push(format(...values).replace(/\s+/g, ' '))
    })
    await import(`../examples/protocol/${nameOf(heading)}.ts`)
    expect(printed).toEqual(promisedBy(code))
    expect(printed).not.toEqual([])
  })

  it('names its version, and since when it is, in its history', () => {
    expect(document).toContain('ECHOMEN Memory Protocol 1.0.0')
    expect(sections.get('Version History')).toMatch(/\| 1\.0\.0 +\| 2026-03-01/)
  })
})
