import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'tsup'
import { createCorpus } from '../corpus.ts'
import { type PeerName, peers } from '../peers/index.ts'
import type { Built, Input, Phase, Warm } from '../peers/measured-child.ts'
import { bench, installPeer, type Outside } from '../peers/outside.ts'
import type { Peer } from '../peers/peer.ts'
import { isInstalled, type Ran, run } from '../processes.ts'
import { median } from '../statistics.ts'

export interface PeersSettings {
  sizes: number[]
  rounds: number
  seed: number
  /** Peers that take minutes, or a compiler, to install. */
  qmd: boolean
  mem0: boolean
  say(text: string): void
}

export interface PeerFigures extends Built, Warm {
  peer: PeerName
  size: number
  /** Time of a whole process that opens the stored memories and answers one search. */
  coldMs: number
}

export interface PeersResult {
  figures: PeerFigures[]
  /** An empty Node process, measured in turn with the cold starts. */
  emptyMs: number
  leftOut: string[]
}

const warmRounds = 3

/**
 * The same memories stored and searched by Recall and by others, each in separate processes, in turn.
 *
 * @returns the results after each size, including those of earlier sizes
 */
export async function* measurePeers(settings: PeersSettings): AsyncGenerator<PeersResult> {
  const { sizes, say } = settings
  const { names, leftOut } = install(settings)
  await build({
    entry: [join(bench, 'src/peers/measured-child.ts')],
    outDir: join(bench, 'dist'),
    format: 'esm',
    target: 'node20',
    splitting: true,
    skipNodeModulesBundle: true,
    clean: true,
    silent: true,
    config: false,
  })
  const figures: PeerFigures[] = []
  const empty: number[] = []
  for (const size of sizes) {
    const folder = mkdtempSync(join(tmpdir(), 'recall-peers-'))
    const at = size.toLocaleString('en')
    try {
      const fitting: PeerName[] = []
      for (const name of names) {
        const { most = Number.POSITIVE_INFINITY, limit } = await peers[name]()
        if (size <= most) fitting.push(name)
        else leftOut.push(`${name} at ${at}: ${limit}`)
      }
      say(`${at} memories: ${fitting.join(', ')}`)
      const measured = measureSize(folder, fitting, size, settings)
      figures.push(...measured.figures)
      empty.push(measured.emptyMs)
      leftOut.push(...measured.failed.map(([name, why]) => `${name} at ${at}: ${why}`))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    yield { figures, emptyMs: median(empty), leftOut }
  }
}

function install({ qmd, mem0, say }: PeersSettings): { names: PeerName[]; leftOut: string[] } {
  const leftOut: string[] = []
  const names = (Object.keys(peers) as PeerName[]).filter((name) => {
    const why = reasonToLeaveOut(name)
    if (why !== undefined) leftOut.push(`${name}: ${why}`)
    return why === undefined
  })
  return { names, leftOut }

  function reasonToLeaveOut(name: PeerName): string | undefined {
    if (name === 'ripgrep' && !isInstalled('rg')) return 'it is not installed'
    if (name === 'qmd' && !qmd) return 'not asked for; --qmd installs it and Node 22, 900 MB'
    if (name === 'mem0' && !mem0) return 'not asked for; --mem0 installs it and compiles better-sqlite3'
    const outside = packages[name]
    if (outside === undefined) return undefined
    say(`installing ${outside}, unless it is there`)
    return installPeer(outside)
  }
}

/** What must be installed first. */
const packages: Partial<Record<PeerName, Outside>> = {
  vectra: 'vectra',
  'server-memory': '@modelcontextprotocol/server-memory',
  qmd: '@tobilu/qmd',
  mem0: 'mem0ai',
}

interface Measured {
  built: Built
  cold: number[]
  warm: Warm[]
}

/** A peer that breaks off is left out from then on; the others continue. */
function measureSize(
  folder: string,
  names: readonly PeerName[],
  size: number,
  { rounds, seed, say }: PeersSettings,
): { figures: PeerFigures[]; emptyMs: number; failed: [PeerName, string][] } {
  const input: Input = { size, seed, queries: createCorpus(size, seed).queries }
  const inputPath = join(folder, 'input.json')
  writeFileSync(inputPath, JSON.stringify(input))
  const measured = new Map<PeerName, Measured>()
  const failed: [PeerName, string][] = []
  /** Runs one phase of one peer. */
  const child = (name: PeerName, phase: Phase, round = 0): Ran | undefined => {
    const own = join(folder, name)
    mkdirSync(own, { recursive: true })
    const program = join(bench, 'dist/measured-child.js')
    const ran = run(process.execPath, [program, name, phase, own, inputPath, String(round)])
    if (ran.code === 0) return ran
    if (name === 'recall') throw new Error(`measuring ${name} (${phase}) ended with ${ran.code}: ${ran.err}`)
    const error = /^\w*Error: .*$/m.exec(ran.err)?.[0] ?? `it ended with ${ran.code}`
    say(`${name} is left out, ${phase} broke off: ${error}`)
    failed.push([name, `${phase} broke off: ${error}`])
    measured.delete(name)
    return undefined
  }
  for (const name of names) {
    say(`${size} memories: putting them into ${name}`)
    const ran = child(name, 'build')
    if (ran) measured.set(name, { built: JSON.parse(ran.out) as Built, cold: [], warm: [] })
  }
  say(`${size} memories: cold starts`)
  const empty: number[] = []
  for (let round = -1; round < rounds; round++) {
    const started = run(process.execPath, ['-e', '0']).ms
    if (round >= 0) empty.push(started)
    for (const [name, { cold }] of [...measured]) {
      const ran = child(name, 'cold', round + 1)
      if (ran && round >= 0) cold.push(ran.ms)
    }
  }
  for (let round = 0; round < warmRounds; round++) {
    say(`${size} memories: searches, round ${round + 1} of ${warmRounds}`)
    for (const [name, { warm }] of [...measured]) {
      const ran = child(name, 'warm')
      if (ran) warm.push(JSON.parse(ran.out) as Warm)
    }
  }
  const figures = [...measured].map(
    ([peer, { built, cold, warm }]): PeerFigures => ({
      peer,
      size,
      ...built,
      ...medianOf(warm),
      coldMs: median(cold),
    }),
  )
  return { figures, emptyMs: median(empty), failed }
}

/** Medians, figure by figure. */
function medianOf(all: readonly Warm[]): Warm {
  const of = (key: keyof Warm): number => median(all.map((each) => each[key] ?? Number.NaN))
  const orNull = (key: 'megabytes' | 'connections'): number | null =>
    all[0]?.[key] === null ? null : of(key)
  return {
    p50: of('p50'),
    p95: of('p95'),
    found: of('found'),
    asked: of('asked'),
    putMs: of('putMs'),
    putAndFindMs: of('putAndFindMs'),
    megabytes: orNull('megabytes'),
    connections: orNull('connections'),
  }
}

/** The peers that were measured, as the report describes them. */
export async function describePeers(figures: readonly PeerFigures[]): Promise<Map<string, Peer>> {
  const described = new Map<string, Peer>()
  for (const { peer } of figures) described.set(peer, await peers[peer]())
  return described
}
