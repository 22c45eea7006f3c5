import type { Runtime } from '@recall/embeddings/local'
import { type Options, say } from '../options.ts'
import { readDataSet } from '../quality/data-set.ts'
import { fileName, qualityChart, qualityReport } from '../quality/quality-report.ts'
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
    say,
  }
  for (const path of data.split(',')) {
    const set = readDataSet(path)
    say(`${set.name}: ${set.collections.length} collections`)
    const results = await measureQuality(set, settings)
    const facts = { 'data set': `${set.name}, sha256 ${hashOf(path, set)}`, ...machineFacts() }
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
