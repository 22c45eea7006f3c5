import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryManager, type MemoryManager } from '@recall/core'
import { createPostgresStore } from '@recall/store-postgres'
import { openPgliteMemory } from '@recall/store-postgres/pglite'
import { createCorpus } from '../corpus.ts'
import { textOf } from '../peers/peer.ts'
import { withDatabase } from '../postgres-database.ts'
import type { Row } from '../report.ts'
import { median, pairedRatio } from '../statistics.ts'

export interface EmbeddedSettings {
  /** URL of a Postgres server. */
  postgres: string
  size: number
  rounds: number
  seed: number
  say(text: string): void
}

/** The same store of entries on PGlite in a folder and on a Postgres server, one connection each, in turn. */
export async function measureEmbedded(settings: EmbeddedSettings): Promise<Row[]> {
  const { postgres, say } = settings
  const folder = mkdtempSync(join(tmpdir(), 'recall-embedded-'))
  try {
    return await withDatabase(
      postgres,
      async ({ database }) => {
        const server = createMemoryManager({ stores: createPostgresStore(database) })
        say('starting PGlite in a new folder')
        const started = performance.now()
        let embedded = await openPgliteMemory({ folder: join(folder, 'data') })
        const firstMs = performance.now() - started
        await embedded.close()
        const restarted = performance.now()
        embedded = await openPgliteMemory({ folder: join(folder, 'data') })
        const againMs = performance.now() - restarted
        const rows = await compare(embedded, server, settings)
        await embedded.close()
        say('searching for a misspelled word')
        const misspelled = await searchMisspelled(join(folder, 'long'), settings)
        const start = {
          size: settings.size,
          peer: 'opened again, ms',
          peers: againMs,
          ratio: firstMs / againMs,
        }
        return [...rows, misspelled, { what: 'PGlite: opening a new folder, ms', ours: firstMs, ...start }]
      },
      1,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(
  embedded: MemoryManager,
  server: MemoryManager,
  { size, rounds, seed, say }: EmbeddedSettings,
): Promise<Row[]> {
  const { documents, queries } = createCorpus(size, seed)
  const entries = documents.map((document) => ({ key: document.key, value: textOf(document) }))
  say(`putting ${size} memories into both`)
  for (let i = 0; i < entries.length; i += 1000) {
    for (const memory of [embedded, server]) await memory.batchWrite('long-term', entries.slice(i, i + 1000))
  }
  const entryOf = (i: number) => entries[i % entries.length] as (typeof entries)[number]
  const batch = entries.slice(0, 100)
  const operations: Record<string, (memory: MemoryManager, i: number) => Promise<unknown>> = {
    read: (memory, i) => memory.read('long-term', entryOf(i * 7).key),
    write: (memory, i) => memory.write('long-term', `written-${i}`, entryOf(i).value),
    search: (memory, i) =>
      memory.search('long-term', { text: queries[i % queries.length]?.text ?? '' }, { touch: false }),
    'batchWrite of 100': (memory) => memory.batchWrite('long-term', batch),
    'batchRead of 100': (memory) =>
      memory.batchRead(
        'long-term',
        batch.map(({ key }) => key),
      ),
  }
  const rows: Row[] = []
  for (const [name, call] of Object.entries(operations)) {
    say(name)
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let i = -2; i < rounds; i++) {
      for (const [memory, times] of [
        [embedded, ours],
        [server, theirs],
      ] as const) {
        const started = performance.now()
        await call(memory, Math.abs(i))
        if (i >= 0) times.push(performance.now() - started)
      }
    }
    rows.push({
      what: `PGlite: ${name}, ms`,
      size,
      ours: median(ours),
      peer: 'Postgres server',
      peers: median(theirs),
      ratio: pairedRatio(ours, theirs),
    })
  }
  return rows
}

/** A word that stands nowhere is compared with the words there are: ten texts of together almost four megabytes. */
async function searchMisspelled(folder: string, { rounds }: EmbeddedSettings): Promise<Row> {
  const memory = await openPgliteMemory({ folder })
  for (let i = 0; i < texts; i++) {
    const words = Array.from({ length: 25_000 }, (_, j) => `harbour${(i * 7919 + j * 104_729) % 5000} of`)
    await memory.write('long-term', `log${i}`, `${words.join(' ')} lighthouse`)
  }
  const search = async (text: string): Promise<number> => {
    const started = performance.now()
    const found = await memory.search('long-term', { text }, { touch: false })
    if (found.length < texts) throw new Error(`${text} finds ${found.length} of ${texts} texts`)
    return performance.now() - started
  }
  const [misspelled, correct]: [number[], number[]] = [[], []]
  for (let i = -2; i < rounds; i++) {
    const pair = [await search('ligthhouse'), await search('lighthouse')] as const
    if (i < 0) continue
    misspelled.push(pair[0])
    correct.push(pair[1])
  }
  await memory.close()
  return {
    what: 'PGlite: search for a misspelled word in long texts, ms',
    size: texts,
    ours: median(misspelled),
    peer: 'spelled correctly',
    peers: median(correct),
    ratio: pairedRatio(misspelled, correct),
    bound: 10,
  }
}

const texts = 10
