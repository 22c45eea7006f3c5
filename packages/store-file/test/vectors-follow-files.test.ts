import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFileStore } from '../src/index.ts'
import { keys, memoryAt } from './support/memory-with-vectors.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('vectors of files', () => {
  it('follow what people edit and delete by hand', async () => {
    const root = temporaryRoot()
    const { memory } = await memoryAt(root)
    await memory.write('long-term', 'a', 'The automobile would not start')
    expect(await keys(memory, 'car')).toEqual(['a'])
    const path = join(root, 'memory/long-term/a.md')
    writeFileSync(path, readFileSync(path, 'utf8').replace('automobile', 'hound'))
    expect(await keys(memory, 'puppy')).toEqual(['a'])
    expect(await keys(memory, 'vehicle')).toEqual([])
    rmSync(path)
    expect(await keys(memory, 'puppy')).toEqual([])
  })

  it('are made of texts without the secrets that people typed', async () => {
    const root = temporaryRoot()
    const { memory, store, embedder } = await memoryAt(root)
    await memory.write('long-term', 'a', { password: '', car: 'an automobile' })
    const path = join(root, 'memory/long-term/a.md')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"password": ""', '"password": "hunter2hunter2"'))
    expect(await keys(memory, 'vehicle')).toEqual(['a'])
    await store.vectors?.catchUp()
    expect(embedder.asked.join()).toContain('[redacted:password]')
    expect(embedder.asked.join()).not.toContain('hunter2')
  })

  it('are all known to an index that was made anew, before the first search answers', async () => {
    const root = temporaryRoot()
    const { memory, store, embedder } = await memoryAt(root)
    const storms = Array.from({ length: 300 }, (_, i) => ({ key: `s${i}`, value: `A storm, number ${i}` }))
    await memory.batchWrite('long-term', storms)
    await store.vectors?.catchUp()
    embedder.asked.length = 0
    store.reindex({ full: true })
    await memory.write('long-term', 'new', 'A puppy')
    expect(await keys(memory, 'hound')).toEqual(['new'])
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 301, total: 301 })
    expect(embedder.asked).toEqual(['A puppy'])
  })

  it('of texts that were rewritten go with a reindex once they are more than those in use', async () => {
    const root = temporaryRoot()
    const { memory, store, embedder } = await memoryAt(root)
    const count = (): number => readFileSync(join(root, 'memory/.recall/vectors.f32')).length / 16
    await memory.write('long-term', 'dog', 'A puppy')
    for (const draft of [1, 2, 3]) {
      const storms = Array.from({ length: 120 }, (_, i) => ({
        key: `s${i}`,
        value: `A storm, ${i}, ${draft}`,
      }))
      await memory.batchWrite('long-term', storms)
      await store.vectors?.catchUp()
      store.reindex({ full: false })
      expect(count()).toBe([121, 241, 121][draft - 1])
    }
    embedder.asked.length = 0
    expect(await keys(memory, 'hound')).toEqual(['dog'])
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 121, total: 121 })
    expect(embedder.asked).toEqual([])
  })

  it('of texts that are gone go with a full rebuild, also without the model that made them', async () => {
    const root = temporaryRoot()
    const { memory, store } = await memoryAt(root)
    await memory.write('long-term', 'a', 'A storm')
    await memory.write('long-term', 'b', 'A puppy')
    await memory.write('long-term', 'c', 'The vehicle')
    await store.vectors?.catchUp()
    await memory.delete('long-term', 'b')
    const vectors = (): number[] => {
      const bytes = readFileSync(join(root, 'memory/.recall/vectors.f32'))
      return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4))
    }
    expect(vectors()).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0])

    const wordsOnly = await openFileStore({ root })
    wordsOnly.reindex({ full: true })
    await wordsOnly.close()

    expect(vectors()).toEqual([0, 0, 1, 0, 1, 0, 0, 0])
    // Whoever has them open takes the new ones.
    expect(await keys(memory, 'rain')).toEqual(['a'])
    expect(await keys(memory, 'car')).toEqual(['c'])
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 2, total: 2 })
  })

  it('are seen by another handle on the same files', async () => {
    const root = temporaryRoot()
    const one = await memoryAt(root)
    const other = await memoryAt(root)
    await one.memory.write('long-term', 'a', 'A storm')
    expect(await keys(one.memory, 'rain')).toEqual(['a'])
    await other.memory.write('long-term', 'b', 'A puppy')
    expect(await keys(other.memory, 'hound')).toEqual(['b'])
    expect(await keys(one.memory, 'hound')).toEqual(['b'])
    expect(await keys(other.memory, 'rain')).toEqual(['a'])
  })

  it('belong to the right texts after another handle has built the index anew, however often', async () => {
    const root = temporaryRoot()
    const reader = await memoryAt(root)
    const writer = await memoryAt(root)
    const texts = ['An automobile', 'A puppy', 'A storm', 'Bread rises overnight', 'Ink dries slowly']
    for (const [i, text] of texts.entries()) await writer.memory.write('long-term', `k${i}`, text)
    for (let round = 0; round < 4; round++) {
      const found = await reader.memory.search('long-term', { text: 'vehicle' }, { touch: false })
      expect(found.map(({ value }) => value)).toEqual(['An automobile'])
      // Its place in the index changes with its name.
      const folder = join(root, 'memory/long-term')
      const [name = ''] = readdirSync(folder).filter((each) =>
        readFileSync(join(folder, each), 'utf8').includes('automobile'),
      )
      renameSync(join(folder, name), join(folder, `${'zaz'[round % 2]}${round}.md`))
      writer.store.reindex({ full: true })
    }
  })
})
