import { parseArgs } from 'node:util'
import type { Runtime } from '@recall/embeddings/local'
import { serveForLoad, serveNothing } from '../../apps/hub/test/load-server.ts'
import { clusteredEmbedder } from './clustered-vectors.ts'
import { run } from './processes.ts'
import { readDataSet } from './quality/data-set.ts'
import { chartName, qualityChart, qualityReport } from './quality/quality-report.ts'
import { holds, machineFacts, type Row, writeReport, writeResult } from './report.ts'
import { measureCrashes, storms } from './suites/crash.ts'
import { layersChart, measureEchoes } from './suites/echoes.ts'
import { measureFiles } from './suites/files.ts'
import { measureHub } from './suites/hub.ts'
import { measureMeaning } from './suites/meaning.ts'
import { measureProtocol } from './suites/protocol.ts'
import { hashOf, leaveOneOut, measureQuality, type QualitySettings, slim } from './suites/quality.ts'
import { heldOff, measureSpam, spamReport } from './suites/spam.ts'

const usage = `Usage: pnpm bench files [--sizes 1000,10000] [--rounds 25] [--seed 1] [--qmd]
       pnpm bench crash [--kills 1000] [--seed 1]
       pnpm bench crash-protocol [--kills 500] [--seed 1]
       pnpm bench protocol [--rounds 25] [--postgres url]
       pnpm bench meaning [--sizes 100000] [--rounds 25]
       pnpm bench echoes [--findings 2000] [--seed 1]
       pnpm bench hub --postgres url [--sizes 100000] [--rounds 5]
       pnpm bench spam --postgres url [--local] [--seed 1]
       pnpm bench quality --data <path>[,<path>] [--runtime wasm] [--ablation] [--leave-one-out]
                         [--stores] [--postgres url]

  files   the file store and the command line: rebuild, cold and warm queries, freshness, durable writes
  crash   writers killed at random moments: every acknowledged write must be there
  crash-protocol   the same while they archive, evict, drain a queue and rotate keys
  protocol   reads, writes, searches and batches of each store against a Map, lru-cache and raw SQLite
  meaning    what finding by meaning costs: comparing vectors, searching, embedding, starting cold
  echoes   a year of what five roles find: limits, what survives, and a plot of the layers
  quality    what is found, on data sets that you bring: our own form, LoCoMo, LongMemEval, a BEIR folder
`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    rounds: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
    findings: { type: 'string', default: '2000' },
    qmd: { type: 'boolean', default: false },
    kills: { type: 'string' },
    postgres: { type: 'string' },
    local: { type: 'boolean', default: false },
    data: { type: 'string' },
    runtime: { type: 'string' },
    ablation: { type: 'boolean', default: false },
    stores: { type: 'boolean', default: false },
    'leave-one-out': { type: 'boolean', default: false },
  },
})

const say = (text: string): void => void process.stderr.write(`${text}\n`)

if (positionals[0] === 'files') await files()
else if (positionals[0] === 'crash') await crash('crash', 1000)
else if (positionals[0] === 'crash-protocol') await crash('crash-protocol', 500)
else if (positionals[0] === 'protocol') await protocol()
else if (positionals[0] === 'meaning') await meaning()
else if (positionals[0] === 'echoes') await echoes()
else if (positionals[0] === 'hub' && values.postgres) await hub(values.postgres)
else if (positionals[0] === 'serve-hub' && values.postgres)
  console.log(await serveForLoad(values.postgres, clusteredEmbedder, 10))
else if (positionals[0] === 'serve-nothing') console.log(await serveNothing())
else if (positionals[0] === 'spam' && values.postgres) await spam(values.postgres)
else if (positionals[0] === 'quality' && values.data) await quality(values.data.split(','))
else {
  process.stderr.write(usage)
  process.exitCode = 2
}

async function files(): Promise<void> {
  say('building the command line')
  const built = run('npx', ['--yes', 'pnpm@10.34.9', '--filter', '@recall/cli...', 'run', 'build'])
  if (built.code !== 0) throw new Error(`the build failed:\n${built.out}`)
  const settings = {
    sizes: values.sizes.split(',').map(Number),
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    qmd: values.qmd,
  }
  const rows = await measureFiles({ ...settings, say })
  const path = writeReport('files', rows, settings)
  const missed = rows.filter((row) => !holds(row))
  for (const { what, size, ratio, bound, peer } of missed) {
    say(`missed: ${what} at ${size}: ${ratio.toFixed(2)} of ${peer}, bound ${bound}`)
  }
  say(`${rows.length - missed.length} of ${rows.length} bounds hold; see ${path}`)
}

async function protocol(): Promise<void> {
  const settings = { rounds: Number(values.rounds) }
  const rows = await measureProtocol({
    ...settings,
    ...(values.postgres ? { postgres: values.postgres } : {}),
    say,
  })
  const path = writeReport('protocol', rows, settings)
  const missed = rows.filter((row) => !holds(row))
  for (const { what, ratio, bound, peer } of missed)
    say(`missed: ${what}: ${ratio.toFixed(2)} of ${peer}, bound ${bound}`)
  say(`see ${path}`)
}

async function meaning(): Promise<void> {
  const size = Math.max(...values.sizes.split(',').map(Number))
  const rows = await measureMeaning({ size, rounds: Number(values.rounds), say })
  const path = writeReport('meaning', rows, { size, rounds: Number(values.rounds) })
  for (const { what, ours, peers, peer } of rows.filter((row) => !holds(row))) {
    say(`missed: ${what}: ${ours.toFixed(2)}, ${peer} ${peers.toFixed(2)}`)
  }
  say(`see ${path}`)
}

async function echoes(): Promise<void> {
  const settings = { findings: Number(values.findings), seed: Number(values.seed) }
  const { rows, weeks } = await measureEchoes({ ...settings, say })
  writeResult('echoes.svg', layersChart(weeks))
  const path = writeReport('echoes', rows, settings)
  const missed = rows.filter((row) => !holds(row))
  for (const { what, ours, peer, peers } of missed) say(`missed: ${what}: ${ours}, ${peer} ${peers}`)
  say(`see ${path} and echoes.svg`)
  if (missed.length > 0) process.exitCode = 1
}

async function hub(postgres: string): Promise<void> {
  const settings = { sizes: values.sizes.split(',').map(Number), rounds: Math.min(5, Number(values.rounds)) }
  const rows: Row[] = []
  for (const size of settings.sizes) {
    rows.push(...(await measureHub({ postgres, size, rounds: settings.rounds, say })))
  }
  const path = writeReport('hub', rows, settings)
  const missed = rows.filter((row) => !holds(row))
  for (const { what, ratio, bound, peer } of missed)
    say(`missed: ${what}: ${ratio.toFixed(2)} of ${peer}, aim ${bound}`)
  say(`see ${path}`)
}

async function spam(postgres: string): Promise<void> {
  const sizes = { lessons: 300, queries: 200, sybils: 1000, postsEach: 20, ring: 50, concurrency: 8 }
  const settings = {
    ...sizes,
    seed: Number(values.seed),
    embedder: values.local ? ('local' as const) : ('fake' as const),
  }
  const started = performance.now()
  const figures = await measureSpam({ ...settings, postgres })
  const seconds = Math.round((performance.now() - started) / 1000)
  const report = spamReport(figures, { ...machineFacts(), ...settings, seconds })
  say(report)
  const name = values.local ? 'spam-local' : 'spam'
  writeResult(`${name}.json`, `${JSON.stringify({ machine: machineFacts(), settings, figures }, null, 2)}\n`)
  say(`see ${writeResult(`${name}.md`, report)}`)
  if (!heldOff(figures)) process.exitCode = 1
}

async function quality(paths: readonly string[]): Promise<void> {
  const runtime: Runtime | undefined =
    values.runtime === 'wasm' || values.runtime === 'native' ? values.runtime : undefined
  for (const path of paths) {
    const set = readDataSet(path)
    say(`${set.name}: ${set.collections.length} collections`)
    const { ablation, stores, postgres } = values
    const settings: QualitySettings = {
      ...(runtime ? { runtime } : {}),
      ...(postgres ? { postgres } : {}),
      ablation,
      stores,
      say,
    }
    const results = await measureQuality(set, settings)
    const leftOut = values['leave-one-out'] ? await leaveOneOut(set, settings) : []
    const facts = { 'data set': `${set.name}, sha256 ${hashOf(path)}`, ...machineFacts() }
    writeResult(chartName(set.name), qualityChart(results))
    writeResult(`quality-${set.name}.json`, `${JSON.stringify({ facts, results: results.map(slim) })}\n`)
    say(`see ${writeResult(`quality-${set.name}.md`, qualityReport(set, results, facts, leftOut))}`)
  }
}

async function crash(suite: keyof typeof storms, usual: number): Promise<void> {
  const settings = { kills: Number(values.kills ?? usual), seed: Number(values.seed) }
  const { rows, violations } = await measureCrashes(storms[suite], settings.kills, settings.seed, say)
  const path = writeReport(suite, rows, settings)
  for (const violation of violations) say(violation)
  say(`see ${path}`)
  if (violations.length > 0) process.exitCode = 1
}
