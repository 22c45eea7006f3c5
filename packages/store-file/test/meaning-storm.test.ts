import { setTimeout as pause } from 'node:timers/promises'
import { createMemoryManager } from '@recall/core'
import { createConceptEmbedder } from '@recall/core/conformance'
import { expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/open-file-memory.ts'
import { bundleScript, type Child, startChild } from './support/child-process.ts'
import { seededRandom } from './support/random.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

const kills = 12

it('finds by meaning what each namespace holds, while processes build it anew and are killed', async () => {
  const root = temporaryRoot()
  const script = await bundleScript('meaning-storm-child.ts')
  const random = seededRandom(1)
  const told: unknown[] = []
  let seed = 0
  const start = async (namespace: string): Promise<Child> => {
    const child = startChild(script, [root, namespace, String(++seed)])
    expect(await child.message()).toBe('begun')
    child.process.on('message', (message) => told.push(message))
    return child
  }
  const namespaces = ['default', 'other', 'default']
  const children = await Promise.all(namespaces.map(start))
  for (let n = 0; n < kills; n++) {
    await pause(100 + random() * 600)
    const i = n % children.length
    children[i]?.process.kill('SIGKILL')
    await children[i]?.ended
    children[i] = await start(namespaces[i] as string)
  }
  for (const child of children) child.process.kill('SIGKILL')
  await Promise.all(children.map(({ ended }) => ended))
  expect(told).toEqual([])

  const embedder = createConceptEmbedder()
  const store = await openFileStore({ root, embedder })
  await store.vectors?.catchUp()
  const { embedded, total } = store.vectors?.coverage() ?? {}
  expect(embedded).toBe(total)
  const everything = { limit: 1000, touch: false }
  for (const namespace of ['default', 'other']) {
    const memory = createMemoryManager({ stores: store, embedder, namespace })
    const all = await memory.search('long-term', {}, everything)
    expect(all.length).toBeGreaterThan(10)
    for (const { key, value } of all) {
      const found = await memory.search('long-term', { text: String(value) }, everything)
      expect(found.map((match) => match.key)).toContain(key)
    }
  }
  expect(checkUp(defaultFileSystem, store, { deep: true, fix: false }).filter(({ ok }) => !ok)).toEqual([])
  await store.close()
})
