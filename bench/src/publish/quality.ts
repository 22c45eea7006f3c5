import type { Runtime } from '@recall/embeddings/local'
import { type Options, say, UsageError } from '../options.ts'
import type { DataSet } from '../quality/data-set.ts'
import { fileName, qualityChart, qualityReport } from '../quality/quality-report.ts'
import type { LeftOut } from '../quality/results.ts'
import { setsOf } from '../quality/sets-of.ts'
import { machineFacts, writeResult } from '../report.ts'
import { leaveOneOut, measureQuality, type QualitySettings, slim } from '../suites/quality.ts'

export async function publishQuality(options: Options): Promise<boolean> {
  const { ablation, stores, postgres } = options
  const runtime = runtimeOf(options)
  if (options.together && options['leave-one-out'])
    throw new UsageError('--leave-one-out needs several collections, and --together makes one of them.')
  const settings: QualitySettings = {
    ...(runtime ? { runtime } : {}),
    ...(postgres ? { postgres } : {}),
    ablation,
    stores,
    // Each question is asked in a memory without its evidence, which takes too long to make from a large one.
    abstention: !stores && !options.together,
    say,
  }
  for (const { set, source } of setsOf(options)) {
    say(`${set.name}: ${set.collections.length} collections`)
    if (set.missingGold) say(`${set.name}: ${missingGold(set)}`)
    const { results, runtime } = await measureQuality(set, settings)
    const facts = { 'data set': source, ...factsOf(set, options, runtime), ...machineFacts() }
    const named = stores ? { ...set, name: `${set.name}-stores` } : set
    const publish = (leftOut: readonly LeftOut[]): void => {
      writeResult(fileName(named.name, 'svg'), qualityChart(results))
      writeResult(fileName(named.name, 'json'), `${JSON.stringify({ facts, results: results.map(slim) })}\n`)
      say(`see ${writeResult(fileName(named.name, 'md'), qualityReport(named, results, facts, leftOut))}`)
    }
    publish([])
    if (leavesOneOut(set, options, say)) publish(await leaveOneOut(set, settings))
  }
  return true
}

/**
 * A single collection has no others to choose by; that is not an error, as `all` passes this option to every data set.
 */
export function leavesOneOut(
  { name, collections }: DataSet,
  options: Pick<Options, 'leave-one-out' | 'stores'>,
  say: (text: string) => void,
): boolean {
  if (!options['leave-one-out'] || options.stores) return false
  if (collections.length < 2) say(`${name}: --leave-one-out is left out, as there is but one collection`)
  return collections.length > 1
}

/** @throws UsageError when there is no such runtime */
export function runtimeOf({ runtime }: Pick<Options, 'runtime'>): Runtime | undefined {
  if (runtime === undefined || runtime === 'wasm' || runtime === 'native') return runtime
  throw new UsageError(`--runtime is "native" or "wasm", not "${runtime}".`)
}

/** What the figures depend on other than the data and the machine. */
export function factsOf(
  set: DataSet,
  options: Pick<Options, 'facts' | 'together' | 'ablation' | 'stores'>,
  runtime: Runtime | undefined,
): Record<string, string> {
  const given = (['facts', 'together', 'stores', 'ablation'] as const).filter((name) => options[name])
  return {
    ...(given.length > 0 ? { options: given.map((name) => `--${name}`).join(' ') } : {}),
    ...(runtime ? { runtime } : {}),
    ...(set.missingGold ? { 'left out': missingGold(set) } : {}),
  }
}

const missingGold = ({ missingGold = 0 }: DataSet): string =>
  `evidence that is not a document: ${missingGold.toLocaleString('en')}`
