import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { createMemoryManager, type Embedder } from '@recall/core'
import { localEmbedder, type Runtime } from '@recall/embeddings/local'
import { createMeaningArm, defaultFileSystem, openFileStore, openVectorFile } from '@recall/store-file'
import { getLoadablePath } from 'sqlite-vec'
import { clusteredEmbedder, clusteredVector, dimensions } from '../clustered-vectors.ts'
import { createCorpus, writeCorpus } from '../corpus.ts'
import { run } from '../processes.ts'
import type { Row } from '../report.ts'
import { median, pairedRatio } from '../statistics.ts'

export interface MeaningSettings {
  /** Vectors to search among. */
  size: number
  rounds: number
  say(text: string): void
}

/** What finding by meaning costs: comparing vectors, searching a memory, embedding, starting cold. */
export async function measureMeaning(settings: MeaningSettings): Promise<Row[]> {
  const rows: Row[] = []
  for (const part of [compareVectors, searchMemory, embedTexts, startCold])
    rows.push(...(await part(settings)))
  return rows
}

/** Ours and sqlite-vec compare the same vectors, in turn; both find the ten nearest. */
async function compareVectors({ size, rounds, say }: MeaningSettings): Promise<Row[]> {
  say(`comparing ${size} vectors`)
  const folder = mkdtempSync(join(tmpdir(), 'recall-vectors-'))
  const database = new DatabaseSync(':memory:', { allowExtension: true })
  try {
    database.enableLoadExtension(true)
    database.loadExtension(getLoadablePath())
    database.exec(
      `CREATE VIRTUAL TABLE vectors USING vec0(embedding float[${dimensions}] distance_metric=cosine)`,
    )
    const vectors = Array.from({ length: size }, (_, i) => clusteredVector(`document ${i}`))
    const file = openVectorFile(defaultFileSystem, folder, { model: 'bench', dimensions })
    file.append(vectors.map((vector, i) => ({ hash: Buffer.from(String(i).padStart(16)), vector })))
    const insert = database.prepare('INSERT INTO vectors (rowid, embedding) VALUES (?, ?)')
    database.exec('BEGIN')
    for (const [i, vector] of vectors.entries()) insert.run(BigInt(i), bytesOf(vector))
    database.exec('COMMIT')
    const all = Int32Array.from(vectors, (_, slot) => slot)
    const places = { units: all, slots: all, similarities: new Float32Array(size) }
    const nearest = database.prepare('SELECT rowid AS id FROM vectors WHERE embedding MATCH ? AND k = 10')
    const ours: number[] = []
    const theirs: number[] = []
    let found = 0
    for (let round = -1; round < rounds; round++) {
      const query = clusteredVector(`question ${round}`)
      let started = performance.now()
      const own = createMeaningArm(file, places, query).nearest(10)
      const ownMs = performance.now() - started
      started = performance.now()
      nearest.all(bytesOf(query))
      const theirMs = performance.now() - started
      if (round < 0) continue
      ours.push(ownMs)
      theirs.push(theirMs)
      const exact = exactNearest(vectors, query)
      found += own.filter((slot) => exact.has(slot)).length / 10
    }
    return [
      {
        what: 'ten nearest, ms',
        size,
        ours: median(ours),
        peer: 'sqlite-vec 0.1.9',
        peers: median(theirs),
        ratio: pairedRatio(ours, theirs),
        bound: 0.1,
      },
      {
        what: 'of the ten nearest, found',
        size,
        ours: found / rounds,
        peer: 'exact',
        peers: 1,
        ratio: found / rounds,
        bound: 1,
        atLeast: true,
      },
    ]
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}

/** A whole search of a memory on files, with the query's vector given; no query is asked twice. */
async function searchMemory({ size, say }: MeaningSettings): Promise<Row[]> {
  say(`searching ${size} notes`)
  const root = mkdtempSync(join(tmpdir(), 'recall-meaning-'))
  try {
    const { documents, queries } = createCorpus(size)
    writeCorpus(root, documents)
    const embedder = clusteredEmbedder
    const store = await openFileStore({ root, embedder })
    const memory = createMemoryManager({ stores: store, embedder })
    await store.vectors?.catchUp()
    const searchMs: number[] = []
    for (const [i, { text }] of queries.entries()) {
      let started = performance.now()
      await embedder.embed([text], 'query')
      const embedding = performance.now() - started
      started = performance.now()
      await memory.search('long-term', { text }, { touch: false })
      if (i >= warmUps) searchMs.push(performance.now() - started - embedding)
    }
    await memory.close()
    return [budget('search by words and meaning beyond the embedding, ms', size, median(searchMs), 5)]
  } finally {
    rmSync(root, { recursive: true })
  }
}

/** Searches before counting, until the engine has compiled what they run. */
const warmUps = 40

const runtimes = {
  native: { queryMs: 25, perSecond: 60, coldMs: 700 },
  wasm: { queryMs: 80, perSecond: 25, coldMs: 2000 },
} satisfies Record<Runtime, object>

async function embedTexts({ rounds, say }: MeaningSettings): Promise<Row[]> {
  const rows: Row[] = []
  for (const [runtime, limits] of entriesOf(runtimes)) {
    say(`embedding, ${runtime}`)
    const embedder = localEmbedder({ runtime })
    await embedder.warmUp?.()
    const queryMs: number[] = []
    for (let round = 0; round < rounds; round++) {
      const started = performance.now()
      await embedder.embed([`when did she go to the support group number ${round}`], 'query')
      queryMs.push(performance.now() - started)
    }
    const turns = Array.from({ length: 256 }, (_, i) => turn(i))
    const started = performance.now()
    await embedder.embed(turns, 'document')
    const perSecond = (turns.length * 1000) / (performance.now() - started)
    rows.push(
      budget(`embedding one question, ${runtime}, ms`, 1, median(queryMs), limits.queryMs),
      {
        ...budget(`short turns embedded per second, ${runtime}`, turns.length, perSecond, limits.perSecond),
        bound: 1,
        atLeast: true,
      },
      await embedMixed(embedder, runtime),
    )
    await embedder.close?.()
  }
  return rows
}

/** Passages from one line to a page: what is saved by embedding them together must not be lost to padding. */
async function embedMixed(embedder: Embedder, runtime: Runtime): Promise<Row> {
  const texts = Array.from({ length: 48 }, (_, i) =>
    Array.from({ length: 1 + ((7 * i) % 16) }, (_, j) => turn(i + j)).join(' '),
  )
  const together: number[] = []
  const oneByOne: number[] = []
  for (let round = 0; round < 3; round++) {
    let started = performance.now()
    await embedder.embed(texts, 'document')
    together.push(performance.now() - started)
    started = performance.now()
    for (const text of texts) await embedder.embed([text], 'document')
    oneByOne.push(performance.now() - started)
  }
  return {
    what: `texts of mixed lengths, ${runtime}, ms`,
    size: texts.length,
    ours: median(together),
    peer: 'one by one',
    peers: median(oneByOne),
    ratio: pairedRatio(together, oneByOne),
    bound: 1,
  }
}

/** A process that embeds one question and ends. */
async function startCold({ rounds, say }: MeaningSettings): Promise<Row[]> {
  const module = pathToFileURL(
    join(import.meta.dirname, '../../../packages/embeddings/dist/local/index.js'),
  ).href
  return entriesOf(runtimes).map(([runtime, limits]) => {
    say(`starting cold, ${runtime}`)
    const code = `const { localEmbedder } = await import('${module}'); await localEmbedder({ runtime: '${runtime}' }).embed(['cold'], 'query')`
    const times = Array.from({ length: Math.min(9, rounds) }, () => {
      const { ms, code: exit } = run(process.execPath, ['--input-type=module', '-e', code])
      if (exit !== 0) throw new Error('the cold process failed: build @recall/embeddings first')
      return ms
    })
    return budget(`first question of a cold process, ${runtime}, ms`, 1, median(times), limits.coldMs)
  })
}

const entriesOf = <Key extends string, Value>(record: Record<Key, Value>): [Key, Value][] =>
  Object.entries(record) as [Key, Value][]

/** A figure next to its allowed value. */
const budget = (what: string, size: number, ours: number, allowed: number): Row => ({
  what,
  size,
  ours,
  peer: 'budget',
  peers: allowed,
  ratio: ours / allowed,
  bound: 1,
})

function exactNearest(vectors: readonly Float32Array[], query: Float32Array): Set<number> {
  const scores = vectors.map((vector) => {
    let sum = 0
    for (let i = 0; i < dimensions; i++) sum += (vector[i] as number) * (query[i] as number)
    return sum
  })
  return new Set(
    scores
      .map((_, i) => i)
      .sort((a, b) => (scores[b] as number) - (scores[a] as number))
      .slice(0, 10),
  )
}

const bytesOf = (vector: Float32Array): Uint8Array => new Uint8Array(vector.buffer)

const subjects = ['The deploy', 'Her sister', 'The garden', 'That meeting', 'My old bike', 'The pool']
const events = [
  'went better than we thought',
  'took all of last weekend',
  'needs a new pair of hands',
  'was moved to Friday',
]
const turn = (i: number): string =>
  `${subjects[i % 6]} ${events[i % 4]}, and honestly I did not expect number ${i} to matter that much to anyone.`
