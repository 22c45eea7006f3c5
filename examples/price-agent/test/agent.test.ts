import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findPrice } from '../src/agent.ts'
import { openSite } from '../src/site.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'price-agent-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** The whole program in a process of its own. */
function runProgram(): number[] {
  const tsx = fileURLToPath(import.meta.resolve('tsx/cli'))
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const printed = execFileSync(process.execPath, [tsx, '-C', '@recall/source', main, root], {
    encoding: 'utf8',
  })
  expect(printed).toMatch(/^run 1: a kettle costs 39\.90 [\s\S]*run 3: a toaster costs 24\.50 /)
  return [...printed.matchAll(/\((\d+) pages?\)/g)].map(([, pages]) => Number(pages))
}

it('needs one page where it needed nine, because it remembers, also in another process', () => {
  expect(runProgram()).toEqual([9, 1, 1])
  expect(runProgram()).toEqual([1, 1, 1])
})

it('finds what it has never seen, and says so when there is none', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await findPrice(memory, openSite(), 'kettle')
  expect(await findPrice(memory, openSite(), 'rake')).toMatchObject({ price: '18.00' })
  expect(await findPrice(memory, openSite(), 'unicorn')).toMatchObject({ price: null })
  expect(await memory.read('long-term', 'statistic:tool:browser')).toMatchObject({ uses: 3 })
})
