import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMemoryManager } from '@recall/core'
import { openFileStore } from '@recall/store-file'
import { createCorpus, writeCorpus } from '../corpus.ts'
import { run, runMeasuringMemory } from '../processes.ts'
import { median } from '../statistics.ts'

const cli = fileURLToPath(new URL('../../../apps/cli/dist/recall.cjs', import.meta.url))

export interface GrowthSettings {
  sizes: number[]
  seed: number
  /** A size is not begun if it would not fit into the rest of these minutes. */
  minutes: number
  say(text: string): void
}

/** What the file store costs at one size. */
export interface GrowthPoint {
  size: number
  searchMs: number
  coldSearchMs: number
  putMs: number
  rebuildMs: number
  rebuildMb: number
  searchMb: number
  indexMb: number
  textMb: number
  unchangedMs: number
}

export interface GrowthResult {
  points: GrowthPoint[]
  /** Sizes that were not begun, and why. */
  leftOut: string[]
}

/** The same measurements at sizes that grow tenfold. */
export async function measureGrowth({ sizes, seed, minutes, say }: GrowthSettings): Promise<GrowthResult> {
  const points: GrowthPoint[] = []
  const leftOut: string[] = []
  const until = performance.now() + minutes * 60_000
  let last: { size: number; ms: number } | undefined
  for (const size of sizes) {
    const expected = last ? (last.ms * size) / last.size : 0
    const left = until - performance.now()
    if (expected > left) {
      const [needed, remaining] = [expected, left].map((ms) => Math.max(0, ms / 60_000).toFixed(1))
      leftOut.push(
        `${size.toLocaleString('en')}: needs about ${needed} minutes, of ${minutes} there are ${remaining} left`,
      )
      continue
    }
    const started = performance.now()
    points.push(await measureAt(size, seed, say))
    last = { size, ms: performance.now() - started }
  }
  return { points, leftOut }
}

async function measureAt(size: number, seed: number, say: (text: string) => void): Promise<GrowthPoint> {
  const folder = mkdtempSync(join(tmpdir(), 'recall-growth-'))
  try {
    const root = join(folder, 'root')
    mkdirSync(root)
    say(`${size} memories: writing their files`)
    const { documents, queries } = createCorpus(size, seed)
    writeCorpus(root, documents)
    const textBytes = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    documents.length = 0
    const rounds = size > 10_000 ? 1 : 3
    say(`${size} memories: building the index`)
    const rebuilds = Array.from({ length: rounds }, () => {
      const started = performance.now()
      const ran = runMeasuringMemory([cli, 'reindex', '--full', '--root', root])
      if (ran.code !== 0) throw new Error(`recall reindex ended with ${ran.code}: ${ran.err}`)
      return { ms: performance.now() - started, mb: ran.peakMb ?? Number.NaN }
    })
    say(`${size} memories: searching and writing`)
    const words = (i: number): string[] => (queries[i % queries.length]?.text ?? '').split(' ')
    const ask = (i: number): string[] => [cli, 'search', '--ranked', ...words(i), '--root', root]
    const cold = Array.from({ length: 12 }, (_, i) => run(process.execPath, ask(i)).ms)
    const store = await openFileStore({ root })
    // A million memories are more than one memory holds by default.
    const memory = createMemoryManager({
      stores: store,
      policies: { quotas: { 'long-term': 16 * 1024 ** 3 } },
    })
    const timed = async (call: () => unknown): Promise<number> => {
      const started = performance.now()
      await call()
      return performance.now() - started
    }
    const unchanged: number[] = []
    for (let i = 0; i < 5; i++) unchanged.push(await timed(() => store.index.update()))
    const searches: number[] = []
    for (const { text } of queries)
      searches.push(await timed(() => memory.search('long-term', { text }, { touch: false })))
    const puts: number[] = []
    for (let i = 0; i < 100; i++)
      puts.push(
        await timed(() => memory.write('long-term', `grown-${i}`, 'A note of two kilobytes. '.repeat(80))),
      )
    await memory.close()
    return {
      size,
      // The first ones warm up.
      searchMs: median(searches.slice(20)),
      coldSearchMs: median(cold.slice(1)),
      putMs: median(puts),
      rebuildMs: median(rebuilds.map(({ ms }) => ms)),
      rebuildMb: median(rebuilds.map(({ mb }) => mb)),
      searchMb: runMeasuringMemory(ask(0)).peakMb ?? Number.NaN,
      indexMb: statSync(join(root, 'memory/.recall/index.db')).size / 1e6,
      textMb: textBytes / 1e6,
      unchangedMs: median(unchanged),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
