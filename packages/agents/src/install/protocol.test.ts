import { expect, it } from 'vitest'
import { type ProtocolOptions, protocolText } from './protocol.ts'

const wiring = {
  command: ['recall'],
  version: '1.2.3',
  root: '/home/dev/.recall',
  files: {
    curated: '/home/dev/.recall/memory/MEMORY.md',
    window: '/home/dev/.recall/memory/EPHEMERAL.md',
    archives: '/home/dev/.recall/memory/conversations',
  },
  recallPrompts: true,
  consume: false,
}

const flags = [true, false]
const everyOption: ProtocolOptions[] = flags.flatMap((injects) =>
  flags.flatMap((archives) => flags.map((tools) => ({ injects, archives, tools }))),
)

it.each(everyOption)('has eight parts and under 4,000 characters: %o', (options) => {
  const text = protocolText(wiring, options)
  expect(text.match(/^## \d/gm)).toEqual(['## 1', '## 2', '## 3', '## 4', '## 5', '## 6', '## 7', '## 8'])
  expect(text.length).toBeLessThan(4000)
})

it('names a tool only where the agent may call it', () => {
  const options = { injects: false, archives: false }
  expect(protocolText(wiring, options).match(/memory_\w+/g)).toEqual([
    'memory_remember',
    'memory_remember',
    'memory_remember',
    'memory_search',
  ])
  const without = protocolText(wiring, { ...options, tools: false })
  expect(without).not.toContain('memory_')
  expect(without).not.toContain('server')
  expect(without).toContain('Save what must not be lost in the curated memory.')
})
