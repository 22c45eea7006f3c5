import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/index.ts'
import { VectorsReplaced } from '../src/vectors/vectors-replaced.ts'
import { conceptEmbedder, keys, memoryAt } from './support/memory-with-vectors.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('vectors of files', () => {
  it('are missed by the doctor when nobody can tell whose they are', async () => {
    const root = temporaryRoot()
    const { memory, store } = await memoryAt(root)
    await memory.write('long-term', 'a', 'A storm')
    await store.vectors?.catchUp()
    await memory.close()
    const opened = await openFileStore({ root })
    opened.index.fresh()
    const bad = () => checkUp(defaultFileSystem, opened, { deep: false, fix: false }).filter(({ ok }) => !ok)
    expect(bad()).toEqual([])
    const rows = join(root, 'memory/.recall/vectors.i8')
    writeFileSync(rows, readFileSync(rows).fill(0, 0, 20))
    expect(bad()).toMatchObject([{ check: 'vectors', message: 'they cannot be read' }])
    rmSync(rows)
    expect(bad()).toMatchObject([{ check: 'vectors' }])
    await opened.close()
  })

  it('are made anew when they are deleted or torn', async () => {
    const root = temporaryRoot()
    const first = await memoryAt(root)
    for (let i = 0; i < 5; i++) await first.memory.write('long-term', `n${i}`, `A storm, number ${i}`)
    await keys(first.memory, 'rain')
    await first.memory.close()
    const rows = join(root, 'memory/.recall/vectors.i8')
    truncateSync(rows, statSync(rows).size - 3)
    const second = await memoryAt(root)
    expect((await keys(second.memory, 'rain')).sort()).toEqual(['n0', 'n1', 'n2', 'n3', 'n4'])
    await second.memory.close()
    rmSync(rows)
    const third = await memoryAt(root)
    expect((await keys(third.memory, 'rain')).sort()).toEqual(['n0', 'n1', 'n2', 'n3', 'n4'])
  })

  it.each([
    ['deleted', (folder: string) => ['vectors.i8', 'vectors.f32'].map((name) => rmSync(join(folder, name)))],
    ['deleted but for the rows', (folder: string) => rmSync(join(folder, 'vectors.f32'))],
    ['deleted but for the exact ones', (folder: string) => rmSync(join(folder, 'vectors.i8'))],
    ['cut off', (folder: string) => truncateSync(join(folder, 'vectors.f32'), 17)],
    ['cut off in the rows', (folder: string) => truncateSync(join(folder, 'vectors.i8'), 300)],
    ['without a header', (folder: string) => writeFileSync(join(folder, 'vectors.i8'), Buffer.alloc(999))],
  ])('are made anew under an open handle when they are %s', async (_, damage) => {
    const root = temporaryRoot()
    const { memory, store } = await memoryAt(root)
    await memory.write('long-term', 'a', 'The automobile would not start')
    await memory.write('long-term', 'b', 'The hound barks')
    const asked = async () =>
      (await memory.search('long-term', { text: 'car' })).map(({ key, mode }) => `${key} ${mode}`)
    expect(await asked()).toEqual(['a hybrid'])
    damage(join(root, 'memory/.recall'))
    expect(await asked()).toEqual(['a hybrid'])
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 2, total: 2 })
    expect(statSync(join(root, 'memory/.recall/vectors.i8')).size).toBe(256 + 2 * 36)
  })

  it('are made anew when a disk gives back zeros for one of many', async () => {
    const root = temporaryRoot()
    const first = await memoryAt(root)
    const texts = Array.from({ length: 100 }, (_, i) => ({ key: `${i}`, value: `dog ${i}` }))
    await first.memory.batchWrite('long-term', texts)
    await first.store.vectors?.catchUp()
    await first.memory.close()
    const path = join(root, 'memory/.recall/vectors.i8')
    writeFileSync(path, readFileSync(path).fill(0, 256 + 36, 256 + 2 * 36))
    const { store, embedder } = await memoryAt(root)
    await store.vectors?.catchUp()
    expect(embedder.asked).toHaveLength(100)
  })

  it.each(['vectors.f32', 'vectors.i8'])(
    'are made anew when a disk gives back zeros for %s',
    async (name) => {
      const root = temporaryRoot()
      const first = await memoryAt(root)
      await first.memory.write('long-term', 'a', 'The automobile would not start')
      await first.memory.write('long-term', 'b', 'The hound barks')
      expect(await keys(first.memory, 'car')).toEqual(['a'])
      await first.memory.close()
      const path = join(root, 'memory/.recall', name)
      writeFileSync(path, readFileSync(path).fill(0, name === 'vectors.i8' ? 256 : 0))
      const notices: string[] = []
      const { memory, embedder } = await memoryAt(root, conceptEmbedder(), {
        onNotice: (text) => notices.push(text),
      })
      expect(await keys(memory, 'car')).toEqual(['a'])
      expect(embedder.asked).toHaveLength(2)
      expect(notices).toEqual([expect.stringContaining('are damaged')])
    },
  )

  it('are made anew when the name of their model is damaged: they are of no other model', async () => {
    const root = temporaryRoot()
    const first = await memoryAt(root)
    await first.memory.write('long-term', 'a', 'The automobile would not start')
    expect(await keys(first.memory, 'car')).toEqual(['a'])
    await first.memory.close()
    const path = join(root, 'memory/.recall/vectors.i8')
    const bytes = readFileSync(path)
    const letter = bytes.indexOf('"model":"') + 9
    bytes[letter] = (bytes[letter] as number) ^ 1
    writeFileSync(path, bytes)
    const { memory, embedder } = await memoryAt(root)
    expect(await keys(memory, 'car')).toEqual(['a'])
    expect(embedder.asked).toHaveLength(1)
  })

  it('are compared by no index that refers to others by now', async () => {
    const { memory, store } = await memoryAt(temporaryRoot())
    await memory.write('long-term', 'a', 'The automobile would not start')
    await store.vectors?.catchUp()
    const place = { namespace: 'default', scope: 'long-term' } as const
    const ask = () =>
      store.index.query((current) => store.vectors?.arm(current, place, Float32Array.of(1, 0, 0, 0)))
    expect(ask()?.nearest(1)).toHaveLength(1)
    store.index.query((current) => current.beginVectors('of others'))
    expect(ask).toThrow(VectorsReplaced)
  })
})
