import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, type Embedder, isMemoryError, type MemoryManager } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { type FileStore, openFileStore } from '@recall/store-file'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import type { Attack } from '../attack.ts'

const words = ['harbour', 'lighthouse', 'ferry', 'storm', 'anchor', 'sail', 'island', 'tide']
const keys = 40

/** What an embedder does instead of its work, given the vectors that it should have returned. */
const faults: Record<string, (vectors: Float32Array[]) => unknown> = {
  throws: () => {
    throw new Error('the model has crashed')
  },
  'throws no error': () => {
    throw 'the model has crashed'
  },
  slow: async (vectors) => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    return vectors
  },
  'gives nothing': () => undefined,
  'gives no vectors': () => [],
  'gives too few': (vectors) => vectors.slice(1),
  'gives too many': (vectors) => [...vectors, ...vectors],
  'gives holes': (vectors) => vectors.map(() => undefined),
  'gives short ones': (vectors) => vectors.map((vector) => vector.slice(0, 3)),
  'gives long ones': (vectors) => vectors.map((vector) => Float32Array.from([...vector, 1])),
  'gives empty ones': (vectors) => vectors.map(() => new Float32Array(0)),
  'gives one number that is none': (vectors) =>
    vectors.map((vector) => vector.map((x, i) => (i === 5 ? Number.NaN : x))),
  'gives infinities': (vectors) => vectors.map((vector) => vector.map(() => Number.POSITIVE_INFINITY)),
  'gives zeros': (vectors) => vectors.map((vector) => new Float32Array(vector.length)),
  'gives texts': (vectors) => vectors.map((vector) => [...vector].map(String)),
  'gives lists a thousand times as long': (vectors) => vectors.map((vector) => [...vector].map((x) => x * 1000)),
} // biome-ignore format: a table

/** A model that lies, crashes or dawdles, for a memory in files that must not suffer from that. */
export const embedder: Attack = {
  what: 'the embedder is slow, crashes or lies: nothing is lost, searches answer or say why not, no invalid vector is kept',
  size: 60,
  async round({ seed, size, folder }) {
    const random = seededRandom(seed)
    const root = join(folder, 'root')
    mkdirSync(root)
    const honest = fakeEmbedder()
    let fault: string | null = null
    let lies = 0
    const liar: Embedder = {
      ...honest,
      async embed(texts, mode, options) {
        const vectors = await honest.embed(texts, mode, options)
        if (fault === null) return vectors
        lies++
        return (await faults[fault]?.(vectors)) as Float32Array[]
      },
    }
    const { memory, store } = await openAt(root, liar)
    const kept = new Map<string, string>()
    const violations: string[] = []
    for (let i = 0; i < size; i++) {
      fault = random() < 0.8 ? (pick(Object.keys(faults), random) as string) : null
      const key = `key-${Math.floor(random() * keys)}`
      const value = `${pick(words, random)} ${pick(words, random)} number${i}`
      await memory.write('long-term', key, value)
      kept.set(key, value)
      const asked = pick([...kept], random) as [string, string]
      for (const problem of await search(memory, asked)) violations.push(`step ${i}, it ${fault}: ${problem}`)
    }
    fault = null
    violations.push(...(await lookAt(memory, store, kept)))
    violations.push(...(await compareWithHonest(root, join(folder, 'honest'), store, honest)))
    await memory.close()
    return { counts: { steps: size, 'answers that were lies': lies }, violations }
  },
}

const pick = <T>(list: readonly T[], random: () => number): T | undefined =>
  list[Math.floor(random() * list.length)]

async function openAt(root: string, model: Embedder): Promise<{ memory: MemoryManager; store: FileStore }> {
  const store = await openFileStore({ root, embedder: model })
  return { memory: createMemoryManager({ stores: store, embedder: model }), store }
}

/** A search returns what is there, or says clearly why it does not. */
async function search(memory: MemoryManager, [key, value]: [string, string]): Promise<string[]> {
  try {
    const found = await memory.search('long-term', { text: value }, { limit: 100, touch: false })
    return [
      ...(found.some((match) => match.key === key) ? [] : [`${key} is not found by its words`]),
      ...found.flatMap(({ key: other, score }) =>
        score >= 0 && score <= 1 ? [] : [`the score of ${other} is ${score}`],
      ),
    ]
  } catch (error) {
    if (!isMemoryError(error)) return [`an error that is not one of ours: ${(error as Error).stack}`]
    return error.message.length > 10 ? [] : [`it fails and says only '${error.message}'`]
  }
}

async function lookAt(
  memory: MemoryManager,
  store: FileStore,
  kept: ReadonlyMap<string, string>,
): Promise<string[]> {
  const violations: string[] = []
  for (const [key, value] of kept) {
    const read = await memory.read('long-term', key)
    if (read !== value) violations.push(`${key} reads ${JSON.stringify(read)}`)
  }
  await store.vectors?.catchUp()
  const { embedded, total } = store.vectors?.coverage() ?? { embedded: 0, total: 1 }
  if (embedded < total) violations.push(`${total - embedded} of ${total} units stay without a vector`)
  return violations
}

/** A model that never lied gives the same answers: no vector from a lie is left. */
async function compareWithHonest(
  root: string,
  copy: string,
  store: FileStore,
  honest: Embedder,
): Promise<string[]> {
  cpSync(root, copy, { recursive: true, preserveTimestamps: true })
  rmSync(join(copy, 'memory/.recall'), { recursive: true, force: true })
  const other = await openAt(copy, honest)
  const violations: string[] = []
  const vectors = await honest.embed(words, 'query')
  for (const [i, vector] of vectors.entries()) {
    const ask = async (one: FileStore): Promise<string> => {
      const found = await one.find({
        scope: 'long-term',
        namespace: 'default',
        embedding: { model: honest.model, vector: [...vector] },
        limit: 100,
        offset: 0,
        sortBy: 'relevance',
        sortOrder: 'desc',
        minScore: 0,
        now: 0,
      })
      return JSON.stringify(found.map(({ entry, score }) => [entry.key, Number(score.toFixed(5))]))
    }
    const [answer, wanted] = [await ask(store), await ask(other.store)]
    if (answer !== wanted) {
      violations.push(`near '${words[i]}' is ${answer.slice(0, 200)}, not ${wanted.slice(0, 200)}`)
    }
  }
  await other.memory.close()
  return violations
}
