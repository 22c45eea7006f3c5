import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  createMemoryManager,
  type Embedder,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  wordsOf,
} from '@recall/core'
import { afterEach, describe, expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { type FileStore, type FileStoreSettings, openFileStore } from '../src/index.ts'
import { openVectorFile } from '../src/vectors/vector-file.ts'
import { readOnlyFileSystem } from './faulty-file-system.ts'
import { temporaryRoot } from './temporary-root.ts'

const concepts = [
  ['car', 'automobile', 'vehicle'],
  ['dog', 'puppy', 'hound'],
  ['rain', 'storm', 'weather'],
].map((words) => new Set(words))

/** Knows three concepts, and counts what it was asked. */
function conceptEmbedder(model = 'concepts'): Embedder & { asked: string[] } {
  const asked: string[] = []
  return {
    model,
    dimensions: 4,
    asked,
    async embed(texts, mode) {
      if (mode === 'document') asked.push(...texts)
      return texts.map((text) => {
        const words = wordsOf(text).map(({ start, end }) => text.slice(start, end).toLowerCase())
        const vector = concepts.map((concept) => words.filter((word) => concept.has(word)).length)
        vector.push(vector.some((count) => count > 0) ? 0 : 1)
        const length = Math.hypot(...vector)
        return Float32Array.from(vector, (count) => count / length)
      })
    },
  }
}

const conversation = (body: string) => ({
  date: '2026-03-05T10:00:00Z',
  sessionId: 's',
  messageCount: 150,
  duration: '1m',
  source: 'session',
  topics: [],
  body,
})

const open: MemoryManager[] = []

async function memoryAt(
  root: string,
  embedder = conceptEmbedder(),
  settings: Partial<FileStoreSettings> = {},
): Promise<{ memory: MemoryManager; store: FileStore; embedder: ReturnType<typeof conceptEmbedder> }> {
  const store = await openFileStore({ root, create: true, embedder, ...settings })
  const memory = createMemoryManager({ stores: store, embedder })
  open.push(memory)
  return { memory, store, embedder }
}

afterEach(async () => {
  for (const memory of open.splice(0)) await memory.close()
})

const keys = async (memory: MemoryManager, text: string): Promise<string[]> =>
  (await memory.search('long-term', { text })).map(({ key }) => key)

describe('vectors of files', () => {
  it('find what shares the meaning and none of the words, and say so', async () => {
    const { memory } = await memoryAt(temporaryRoot())
    await memory.write('long-term', 'a', 'The automobile would not start')
    await memory.write('long-term', 'b', 'Bread rises overnight')
    const [match] = await memory.search('long-term', { text: 'car' }, { explain: true })
    expect(match).toMatchObject({ key: 'a', mode: 'hybrid' })
    expect(match?.signals?.meaning).toBeGreaterThan(0)
  })

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

  it('embed no text twice, not even when the index is gone', async () => {
    const root = temporaryRoot()
    const first = await memoryAt(root)
    await first.memory.write('long-term', 'a', 'A storm')
    await first.memory.write('long-term', 'b', 'A storm')
    await keys(first.memory, 'rain')
    expect(first.embedder.asked).toEqual(['A storm'])
    await first.memory.close()
    for (const name of ['index.db', 'index.seal']) rmSync(join(root, 'memory/.recall', name), { force: true })
    const second = await memoryAt(root)
    expect((await keys(second.memory, 'rain')).sort()).toEqual(['a', 'b'])
    expect(second.embedder.asked).toEqual([])
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

  it('are seen by the doctor, who has no model, in a copy of the memory', async () => {
    const root = temporaryRoot()
    const { memory, store } = await memoryAt(root)
    await memory.write('long-term', 'a', 'A storm')
    await memory.write('long-term', 'b', 'A puppy')
    await store.vectors?.catchUp()
    await memory.write('long-term', 'c', 'The vehicle')
    await memory.close()
    const copy = temporaryRoot()
    cpSync(root, copy, { recursive: true })
    const opened = await openFileStore({ root: copy })
    opened.index.fresh()
    const vectors = checkUp(defaultFileSystem, opened, { deep: false, fix: false }).find(
      ({ check }) => check === 'vectors',
    )
    expect(vectors?.message).toBe('1 of 3 passages have no vector of concepts yet')
    await opened.close()
  })

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

  it.each(['EROFS', 'EACCES', 'ENOSPC'])(
    'that cannot be kept (%s) leave the search by words, and it says so',
    async (code) => {
      const root = temporaryRoot()
      const writer = await openFileStore({ root, create: true })
      const filled = createMemoryManager({ stores: writer })
      await filled.write('long-term', 'a', 'The automobile would not start')
      await filled.search('long-term', { text: 'automobile' })
      await filled.close()
      const notices: string[] = []
      const { memory, embedder } = await memoryAt(root, conceptEmbedder(), {
        fileSystem: readOnlyFileSystem(code).fileSystem,
        onNotice: (text) => notices.push(text),
      })
      for (let i = 0; i < 2; i++) {
        const found = await memory.search('long-term', { text: 'automobile' })
        expect(found.map(({ key, mode }) => [key, mode])).toEqual([['a', 'lexical']])
      }
      expect(notices.filter((text) => text.includes('by words, not by meaning'))).toHaveLength(1)
      expect(embedder.asked.length).toBeLessThan(2)
      const { fileSystem } = readOnlyFileSystem(code)
      const store = await openFileStore({ root, embedder: conceptEmbedder(), fileSystem })
      await expect(store.embedRecent(Date.now())).resolves.toBe(0)
      await store.close()
    },
  )

  it('that the model does not make for one text leave the search by words and by the others, and it says so', async () => {
    const notices: string[] = []
    const model = conceptEmbedder()
    let refused = 0
    const embedder: Embedder & { asked: string[] } = {
      ...model,
      async embed(texts, mode) {
        const isRefused = mode === 'document' && texts.some((text) => text.includes('unspeakable'))
        if (!isRefused) return model.embed(texts, mode)
        refused++
        throw new MemoryError('the embedding server answered 400', MemoryErrorCode.UNAVAILABLE)
      },
    }
    const store = await openFileStore({
      root: temporaryRoot(),
      embedder,
      onNotice: (text) => notices.push(text),
    })
    let now = Date.now()
    const memory = createMemoryManager({ stores: store, embedder, clock: () => now })
    open.push(memory)
    await memory.write('long-term', 'a', 'The automobile would not start')
    expect(await keys(memory, 'car')).toEqual(['a'])
    await memory.write('short-term', 'b', 'something unspeakable')
    await memory.write('long-term', 'c', 'a puppy of the harbour')
    expect(await keys(memory, 'car')).toEqual(['a'])
    expect(await keys(memory, 'harbour')).toEqual(['c'])
    expect(notices).toEqual([
      expect.stringContaining('answered 400: what has no vector there is found by words'),
    ])
    expect(refused).toBe(1)
    await memory.delete('short-term', 'b')
    now += 60_000
    expect(await keys(memory, 'hound')).toEqual(['c'])
    await expect(store.vectors?.catchUp()).resolves.toMatchObject({ done: 0 })
  })

  it('are made before a search for so much of what is new as it can wait for, the newest first', async () => {
    const embedder = conceptEmbedder()
    const { memory, store } = await memoryAt(temporaryRoot(), embedder)
    const long = 'and so on and on '.repeat(60)
    for (let i = 0; i < 12; i++) await memory.write('long-term', `${i}`, `The automobile ${i} ${long}`)
    expect((await keys(memory, 'vehicle')).sort()).toEqual(['10', '11', '7', '8', '9'])
    expect(embedder.asked).toHaveLength(5)
    expect(await store.embedRecent(Date.now())).toBe(2)
    // A text that is longer than that has its turn as well.
    await memory.write('long-term', 'longest', `The automobile ${'x'.repeat(10_000)}`)
    for (let left = 1; left > 0; ) left = await store.embedRecent(Date.now())
    expect(await keys(memory, 'vehicle')).toContain('longest')
    expect(new Set(embedder.asked).size).toBe(embedder.asked.length)
  })

  it('find the beginning of a long conversation, the rest of which has none yet', async () => {
    const { memory, store } = await memoryAt(temporaryRoot())
    const long = 'and so on and on '.repeat(60)
    const turns = ['puppy', ...Array.from({ length: 9 }, () => ''), 'storm'].map(
      (word, i) => `### User\n\n${word} ${i} ${long}\n`,
    )
    await memory.write('episodic', 'conversation:s', conversation(turns.join('\n')), { type: 'conversation' })
    const found = async (text: string) => (await memory.search('episodic', { text })).length
    expect(await found('hound')).toBe(1)
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 5, total: 11 })
    expect(await found('weather')).toBe(0)
    await store.vectors?.catchUp()
    expect(await found('weather')).toBe(1)
  })

  it('tell of progress within a long conversation', async () => {
    const { memory, store } = await memoryAt(temporaryRoot())
    const turns = Array.from({ length: 150 }, (_, i) => `### User\n\nturn ${i} of the storm\n`)
    await memory.write('episodic', 'conversation:s', conversation(turns.join('\n')), { type: 'conversation' })
    const told: number[] = []
    await store.vectors?.catchUp({ onProgress: ({ done }) => told.push(done) })
    expect(told).toEqual([0, 64, 128, 150, 150])
  })

  it('of a model with an endless name are refused, not made anew for ever', async () => {
    const { memory } = await memoryAt(temporaryRoot(), conceptEmbedder('m'.repeat(300)))
    await memory.write('long-term', 'a', 'The automobile would not start')
    await expect(keys(memory, 'car')).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
  })

  it('of another model are refused until they are made anew', async () => {
    const root = temporaryRoot()
    const first = await memoryAt(root)
    await first.memory.write('long-term', 'a', 'A storm')
    await keys(first.memory, 'rain')
    await first.memory.close()
    const second = await memoryAt(root, conceptEmbedder('others'))
    await expect(keys(second.memory, 'rain')).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
    second.store.vectors?.reset()
    expect(await keys(second.memory, 'rain')).toEqual(['a'])
    expect(second.store.vectors?.coverage()).toEqual({ model: 'others', embedded: 1, total: 1 })
  })

  it('made anew by another handle, with another model, are not mixed with those of before', async () => {
    const root = temporaryRoot()
    const one = await memoryAt(root)
    await one.memory.write('long-term', 'a', 'A storm')
    expect(await keys(one.memory, 'rain')).toEqual(['a'])
    const other = await memoryAt(root, conceptEmbedder('others'))
    other.store.vectors?.reset()
    expect(await keys(other.memory, 'rain')).toEqual(['a'])
    await one.memory.write('long-term', 'b', 'A puppy')
    await expect(keys(one.memory, 'rain')).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
    expect(await keys(other.memory, 'hound')).toEqual(['b'])
    expect(other.store.vectors?.coverage()).toEqual({ model: 'others', embedded: 2, total: 2 })
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

  it('keep what was embedded before an interruption', async () => {
    const root = temporaryRoot()
    const { memory, embedder } = await memoryAt(root)
    const texts = Array.from({ length: 200 }, (_, i) => `A storm, number ${i}`)
    await memory.batchWrite(
      'long-term',
      texts.map((value, i) => ({ key: `n${i}`, value })),
    )
    await memory.close()
    const stop = new AbortController()
    const failing: Embedder = {
      ...embedder,
      async embed(some, mode, options) {
        options?.signal?.throwIfAborted()
        if (embedder.asked.length > 64) stop.abort(new Error('enough'))
        return embedder.embed(some, mode)
      },
    }
    const first = await openFileStore({ root, embedder: failing })
    await expect(first.vectors?.catchUp({ signal: stop.signal })).rejects.toThrow('enough')
    const kept = first.vectors?.coverage().embedded ?? 0
    expect(kept).toBeGreaterThan(0)
    expect(kept).toBeLessThan(200)
    await first.close()
    const steps: number[] = []
    const last = await openFileStore({ root, embedder })
    await last.vectors?.catchUp({ onProgress: ({ done }) => steps.push(done) })
    expect(steps[0]).toBe(0)
    expect(steps.at(-1)).toBe(200 - kept)
    expect(embedder.asked.sort()).toEqual(texts.sort())
    await last.close()
  })
})

describe('the vector file', () => {
  it('tells how near each vector is, roughly and exactly', () => {
    const folder = join(temporaryRoot(), 'v')
    const dimensions = 40
    const unit = (seed: number): Float32Array => {
      // Clustered, as texts are: random vectors are all equally far from each other.
      const vector = Float32Array.from(
        { length: dimensions },
        (_, i) => Math.sin((seed % 7) * 12.9898 + i * 78.233) + 0.3 * Math.sin(seed * 3.7 + i * 1.3),
      )
      const length = Math.hypot(...vector)
      return vector.map((value) => value / length)
    }
    const vectors = Array.from({ length: 500 }, (_, i) => unit(i))
    const file = openVectorFile(defaultFileSystem, folder, { model: 'm', dimensions })
    const hash = (i: number): Uint8Array => Buffer.from(i.toString(16).padStart(32, '0'), 'hex')
    expect(file.append(vectors.map((vector, i) => ({ hash: hash(i), vector })))).toEqual(
      vectors.map((_, i) => i),
    )
    const query = unit(1234)
    const dot = (vector: Float32Array): number =>
      vector.reduce((sum, value, i) => sum + value * (query[i] as number), 0)
    const near = file.ask(query).similarities(Int32Array.from(vectors, (_, slot) => slot))
    const exact = file.exact(
      query,
      vectors.map((_, i) => i),
    )
    vectors.forEach((vector, i) => {
      expect(near[i]).toBeCloseTo(dot(vector), 1.9)
      expect(exact[i]).toBeCloseTo(dot(vector), 5)
    })
    expect(openVectorFile(defaultFileSystem, folder, { model: 'm', dimensions }).slots()).toEqual(
      file.slots(),
    )
    expect(existsSync(join(folder, 'vectors.f32'))).toBe(true)
  })
})
