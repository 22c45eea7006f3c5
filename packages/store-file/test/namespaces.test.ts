import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { keysOf, open } from './memory-in-files.ts'

it('what is in a namespace that no folder can be named after is found, and a copy of its folder is another', async () => {
  const { root, memory, at } = await open({ namespace: 'Team: A/B' })
  await memory.write('long-term', 'note', 'the harbour')
  expect(await keysOf(memory, 'harbour')).toEqual(['note'])
  const [folder = ''] = readdirSync(at('namespaces'))
  cpSync(at('namespaces', folder), join(at('namespaces'), 'copied'), { recursive: true })
  const copied = await openFileMemory({ root, namespace: 'copied' })
  onTestFinished(() => copied.close())
  expect(await keysOf(copied, 'harbour')).toEqual(['note'])
  await copied.delete('long-term', 'note')
  expect(await keysOf(memory, 'harbour')).toEqual(['note'])
})
