import { type Options, UsageError } from '../options.ts'
import { hashOf } from '../suites/quality.ts'
import { type DataSet, together } from './data-set.ts'
import { fileName } from './quality-report.ts'
import { readDataSet } from './read-data-set.ts'

/** A data set with the name that its results are published under. */
export interface NamedSet {
  set: DataSet
  /** What was read, and which version of it. */
  source: string
}

/**
 * Reads the data sets that `--data` names, according to the other options.
 *
 * @throws UsageError when the options or the data cannot be measured
 */
export function setsOf(options: Pick<Options, 'data' | 'facts' | 'together' | 'stores'>): NamedSet[] {
  const paths = (options.data ?? '').split(',')
  if (paths.includes(''))
    throw new UsageError('--data takes paths with commas between them: one has no name.')
  const read = paths.map((path) => {
    const set = readDataSet(path, { facts: options.facts })
    return { set, source: `${set.name}, sha256 ${hashOf(path, set)}` }
  })
  const names = read.map(({ set }) => fileName(set.name, 'md'))
  const twice = names.findIndex((name, i) => names.indexOf(name) !== i)
  if (twice !== -1) {
    const [first, second] = [paths[names.indexOf(names[twice] as string)], paths[twice]]
    throw new UsageError(
      `${first} and ${second} have one name, and would both be ${names[twice]}: rename one.`,
    )
  }
  if (!options.together) return read
  return [{ set: together(read.map(({ set }) => set)), source: read.map(({ source }) => source).join('; ') }]
}
