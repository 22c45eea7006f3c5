import { createMemoryManager } from '@recall/core'
import { describeMemory } from '@recall/core/conformance'
import { expect, it } from 'vitest'
import { createTextStore } from '../examples/own-store.ts'
import { read } from './workspace.ts'

it('the store of docs/contract.md is the one that is tested', () => {
  expect(read('docs/contract.md')).toContain(`\`\`\`ts\n${read('house/examples/own-store.ts')}\`\`\`\n`)
})

let texts = new Map<string, string>()

describeMemory('the store of docs/contract.md', {
  open: async (options) => {
    texts = new Map()
    return createMemoryManager({ stores: createTextStore(texts), ...options })
  },
  reopen: async (options) => createMemoryManager({ stores: createTextStore(texts), ...options }),
})
