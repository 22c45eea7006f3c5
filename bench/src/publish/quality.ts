import type { Runtime } from '@recall/embeddings/local'
import { type Options, say } from '../options.ts'
import { together } from '../quality/data-set.ts'
import { fileName, qualityChart, qualityReport } from '../quality/quality-report.ts'
import { readDataSet } from '../quality/read-data-set.ts'
import type { LeftOut } from '../quality/results.ts'
import { machineFacts, writeResult } from '../report.ts'
import { hashOf, leaveOneOut, measureQuality, type QualitySettings, slim } from '../suites/quality.ts'

export async function publishQuality(options: Options): Promise<boolean> {
  const { data = '', ablation, stores, postgres } = options
  const runtime: Runtime | undefined =
    options.runtime === 'wasm' || options.runtime === 'native' ? options.runtime : undefined
  const settings: QualitySettings = {
    ...(runtime ? { runtime } : {}),
    ...(postgres ? { postgres } : {}),
    ablation,
    stores,
    // Each question is asked of a memory without its evidence, which takes too long to make of a large one.
    abstention: !stores && !options.together,
    say,
  }
  const read = data.split(',').map((path) => {
    const set = readDataSet(path, { facts: options.facts })
    return { set, hash: `${set.name}, sha256 ${hashOf(path, set)}` }
  })
  const measured = options.together
    ? [{ set: together(read.map(({ set }) => set)), hash: read.map(({ hash }) => hash).join('; ') }]
    : read
  for (const { set, hash } of measured) {
    say(`${set.name}: ${set.collections.length} collections`)
    const results = await measureQuality(set, settings)
    const facts = { 'data set': hash, ...machineFacts() }
    const named = stores ? { ...set, name: `${set.name}-stores` } : set
    const publish = (leftOut: readonly LeftOut[]): void => {
      writeResult(fileName(named.name, 'svg'), qualityChart(results))
      writeResult(fileName(named.name, 'json'), `${JSON.stringify({ facts, results: results.map(slim) })}\n`)
      say(`see ${writeResult(fileName(named.name, 'md'), qualityReport(named, results, facts, leftOut))}`)
    }
    publish([])
    if (options['leave-one-out'] && !stores) publish(await leaveOneOut(set, settings))
  }
  return true
}
