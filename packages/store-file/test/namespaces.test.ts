import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { keysOf, open } from './support/memory-in-files.ts'

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

it('a note in the folder of such a namespace is of it once it says so, and named by the doctor until then', async () => {
  const { root, memory, at } = await open({ namespace: 'Ana' })
  await memory.write('long-term', 'first', 'the harbour')
  const [folder = ''] = readdirSync(at('namespaces'))
  const trip = at('namespaces', folder, 'long-term/trip.md')
  const store = await openFileStore({ root })
  onTestFinished(() => store.close())
  const problems = () =>
    checkUp(defaultFileSystem, store, { deep: false, fix: false }).flatMap(({ ok, message }) =>
      ok ? [] : [message],
    )
  expect(problems()).toEqual([])
  writeFileSync(trip, 'the lighthouse\n')
  expect(await memory.read('long-term', 'trip')).toBeNull()
  expect(await keysOf(memory, 'lighthouse')).toEqual([])
  expect(problems()).toEqual([
    `memory/namespaces/${folder}/long-term/trip.md does not name its namespace in a line 'namespace: "Ana"'`,
  ])
  await expect(memory.write('long-term', 'trip', 'the ferry')).rejects.toMatchObject({
    code: 'MEMORY_CONFLICT',
  })

  writeFileSync(trip, '---\nnamespace: "Ana"\n---\nthe lighthouse\n')
  expect(await memory.read('long-term', 'trip')).toBe('the lighthouse')
  expect(await keysOf(memory, 'lighthouse')).toEqual(['trip'])
  expect(problems()).toEqual([])
  await memory.clear('long-term')
  expect(existsSync(trip)).toBe(false)
})
