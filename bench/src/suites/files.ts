import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMemoryManager, type MemoryManager } from '@recall/core'
import { type FileStore, openFileStore } from '@recall/store-file'
import { buildBareIndex, openBareIndex, writeBareScript } from '../bare-index.ts'
import { type CorpusQuery, createCorpus, writeCorpus } from '../corpus.ts'
import { writeDurably } from '../durable-file.ts'
import { callQmd } from '../peers/commands.ts'
import { installPeer } from '../peers/outside.ts'
import { interleave, isInstalled, run, runMeasuringMemory } from '../processes.ts'
import type { Row } from '../report.ts'
import { median, pairedRatio, quantile } from '../statistics.ts'

const cli = fileURLToPath(new URL('../../../apps/cli/dist/recall.cjs', import.meta.url))
const node = process.execPath

export interface FilesOptions {
  sizes: number[]
  rounds: number
  seed: number
  /** Compare with qmd as well: downloads it and Node 22 with npx, and indexes for minutes. */
  qmd: boolean
  say: (text: string) => void
}

/** The file store and the command line against the machine's limits and against other tools. */
export async function measureFiles(options: FilesOptions): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of options.sizes) {
    const folder = mkdtempSync(join(tmpdir(), 'recall-bench-'))
    const root = join(folder, 'root')
    try {
      options.say(`${size} documents: writing the corpus`)
      const { documents, queries } = createCorpus(size, options.seed)
      writeCorpus(root, documents)
      const textBytes = documents.reduce(
        (sum, { key }) => sum + statSync(join(root, 'memory/long-term', `${key}.md`)).size,
        0,
      )
      const setting: Setting = {
        ...options,
        size,
        folder,
        root,
        queries,
        textBytes,
        bare: join(folder, 'bare.db'),
      }
      options.say(`${size} documents: rebuilding`)
      rows.push(...(await measureRebuild(setting)))
      options.say(`${size} documents: cold queries`)
      rows.push(...measureCold(setting))
      options.say(`${size} documents: in one process`)
      rows.push(...(await measureWarm(setting)))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return rows
}

interface Setting extends FilesOptions {
  size: number
  folder: string
  root: string
  queries: CorpusQuery[]
  textBytes: number
  /** A bare FTS5 index of the same files. */
  bare: string
}

async function measureRebuild({ size, root, bare, textBytes, folder, qmd, say }: Setting): Promise<Row[]> {
  const rebuild = ['reindex', '--full', '--root', root]
  const memory = runMeasuringMemory([cli, ...rebuild])
  const ours: number[] = []
  const floor: number[] = []
  const store = await openFileStore({ root })
  for (let round = 0; round < 3; round++) {
    ours.push(timed(() => store.reindex({ full: true })))
    floor.push(timed(() => buildBareIndex(root, bare)))
  }
  await store.close()
  const indexBytes = statSync(join(root, 'memory/.recall/index.db')).size
  const rows: Row[] = [
    {
      what: 'rebuild, ms',
      size,
      ours: median(ours),
      peer: 'bare read + FTS5 insert',
      peers: median(floor),
      ratio: pairedRatio(ours, floor),
      bound: 1.5,
    },
    {
      what: 'rebuild, peak MB',
      size,
      ours: memory.peakMb ?? Number.NaN,
      peer: 'limit',
      peers: 250,
      ratio: (memory.peakMb ?? Number.NaN) / 250,
      bound: 1,
    },
    {
      what: 'index, MB',
      size,
      ours: indexBytes / 1e6,
      peer: 'markdown',
      peers: textBytes / 1e6,
      ratio: indexBytes / textBytes,
      bound: 0.75,
    },
  ]
  if (qmd) {
    say(`${size} documents: indexing with qmd`)
    const refused = installPeer('@tobilu/qmd')
    const notes = join(root, 'memory/long-term')
    const theirs = callQmd(join(folder, 'qmd'), 'collection', 'add', notes, '--name', 'bench')
    const commandMs = median([1, 2, 3].map(() => run(node, [cli, ...rebuild]).ms))
    if (refused === undefined && theirs.code === 0)
      rows.push({
        what: 'recall reindex --full, documents/s',
        size,
        ours: size / (commandMs / 1000),
        peer: 'qmd',
        peers: size / (theirs.ms / 1000),
        ratio: theirs.ms / commandMs,
        bound: 25,
        atLeast: true,
      })
    else say(`qmd did not run: ${refused ?? theirs.err.slice(-200)}`)
  }
  return rows
}

function timed(call: () => void): number {
  const started = performance.now()
  call()
  return performance.now() - started
}

function measureCold({ size, root, bare, folder, queries, rounds }: Setting): Row[] {
  const words = (round: number): string[] => (queries[round % queries.length] as CorpusQuery).text.split(' ')
  const searchFor = (round: number): string[] => [cli, 'search', '--ranked', ...words(round), '--root', root]
  const script = writeBareScript(folder, root, bare)
  const notes = join(root, 'memory/long-term')
  const hasRipgrep = isInstalled('rg')
  /** As when a file was added or removed: the next search looks at every file. */
  const seemChanged = (): void => utimesSync(notes, new Date(), new Date())
  const figures = interleave<string>(rounds, {
    empty: () => run(node, ['-e', '0']),
    ours: (round) => run(node, searchFor(round)),
    bare: (round) => run(node, [script, ...words(round)]),
    version: () => run(node, [cli, '--version']),
    status: () => run(node, [cli, 'status', '--root', root]),
    changed: (round) => {
      seemChanged()
      return run(node, searchFor(round))
    },
    ...(hasRipgrep
      ? {
          ripgrep: (round: number) =>
            run('rg', ['-c', '-i', '-F', ...words(round).flatMap((word) => ['-e', word]), notes]),
        }
      : {}),
  })
  const row = (what: string, ours: string, peer: string, label: string, bound?: number): Row => ({
    what,
    size,
    ours: median(figures[ours] ?? []),
    peer: label,
    peers: median(figures[peer] ?? []),
    ratio: pairedRatio(figures[ours] ?? [], figures[peer] ?? []),
    ...(bound === undefined ? {} : { bound }),
  })
  const limits = {
    node: size >= 100_000 ? 2 : 1.8,
    ripgrep: size >= 100_000 ? 0.12 : size >= 10_000 ? 0.8 : 2,
  }
  const peak = (what: string): Row => {
    const peakMb = runMeasuringMemory(searchFor(0)).peakMb ?? Number.NaN
    return { what, size, ours: peakMb, peer: 'limit', peers: 75, ratio: peakMb / 75, bound: 1 }
  }
  // Looks at every file when that is due, so that the next one need not.
  run(node, searchFor(0))
  const peaks = [peak('cold query, peak MB')]
  seemChanged()
  peaks.push(peak('cold query after a file changed, peak MB'))
  return [
    row('cold query, ms', 'ours', 'empty', 'empty Node process', size >= 10_000 ? limits.node : undefined),
    row('cold query, ms', 'ours', 'bare', 'bare FTS5 process'),
    ...(hasRipgrep ? [row('cold query, ms', 'ours', 'ripgrep', 'ripgrep', limits.ripgrep)] : []),
    row('cold query after a file changed, ms', 'changed', 'empty', 'empty Node process'),
    ...peaks,
    row('recall --version, ms', 'version', 'empty', 'empty Node process', 1.6),
    row('recall status, ms', 'status', 'empty', 'empty Node process', 1.6),
  ]
}

async function measureWarm({ size, root, bare, queries }: Setting): Promise<Row[]> {
  const store = await openFileStore({ root })
  const memory = createMemoryManager({ stores: store })
  const theirs = openBareIndex(root, bare)
  const ours: number[] = []
  const floor: number[] = []
  const ask = async (text: string): Promise<void> => {
    const started = performance.now()
    await memory.search('long-term', { text }, { touch: false })
    ours.push(performance.now() - started)
    const restarted = performance.now()
    theirs.find(text)
    floor.push(performance.now() - restarted)
  }
  for (const { text } of queries.slice(0, 20)) await ask(text)
  ours.length = 0
  floor.length = 0
  for (const { text } of queries) await ask(text)
  const rows: Row[] = [0.5, 0.95].map((q) => ({
    what: `warm query p${q * 100}, ms`,
    size,
    ours: quantile(ours, q),
    peer: 'bare FTS5, same plan',
    peers: quantile(floor, q),
    ratio: quantile(ours, q) / quantile(floor, q),
    bound: 1.3,
  }))
  rows.push(measureFreshness(store, root, size), await measureWrites(memory, root, size))
  await memory.close()
  return rows
}

/** Finding that nothing changed, against looking at every file and nothing else. */
function measureFreshness(store: FileStore, root: string, size: number): Row {
  const folder = join(root, 'memory/long-term')
  const ours: number[] = []
  const floor: number[] = []
  for (let round = 0; round < 9; round++) {
    let started = performance.now()
    store.index.update()
    ours.push(performance.now() - started)
    started = performance.now()
    let bytes = 0
    for (const name of readdirSync(folder)) bytes += lstatSync(join(folder, name)).size
    floor.push(performance.now() - started)
    if (bytes === 0) throw new Error('the corpus is empty')
  }
  return {
    what: 'nothing-changed check, ms',
    size,
    ours: median(ours),
    peer: 'bare lstat walk',
    peers: median(floor),
    ratio: pairedRatio(ours, floor),
    bound: 1.5,
  }
}

/** A durable note through the front, against the bare file protocol. */
async function measureWrites(memory: MemoryManager, root: string, size: number): Promise<Row> {
  const folder = join(root, 'bare-notes')
  mkdirSync(folder, { recursive: true })
  const text = 'A note of two kilobytes. '.repeat(80)
  const ours: number[] = []
  const floor: number[] = []
  for (let round = -100; round < 300; round++) {
    let started = performance.now()
    await memory.write('long-term', `bench-${round}`, text)
    const own = performance.now() - started
    started = performance.now()
    writeDurably(join(folder, `bench-${round}.md`), text)
    const bare = performance.now() - started
    // The first ones wait for the engine to compile, on both sides.
    if (round < 0) continue
    ours.push(own)
    floor.push(bare)
  }
  return {
    what: 'durable note, ms',
    size,
    ours: median(ours),
    peer: 'bare write + fsync + rename + fsync(dir)',
    peers: median(floor),
    ratio: pairedRatio(ours, floor),
    bound: 1.5,
  }
}
