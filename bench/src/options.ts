import { parseArgs } from 'node:util'

/** The arguments of the bench, each with its default. */
export const parseOptions = (args = process.argv.slice(2)) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      sizes: { type: 'string' },
      rounds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      findings: { type: 'string', default: '2000' },
      minutes: { type: 'string', default: '15' },
      kills: { type: 'string' },
      qmd: { type: 'boolean', default: false },
      mem0: { type: 'boolean', default: false },
      postgres: { type: 'string' },
      fake: { type: 'boolean', default: false },
      data: { type: 'string' },
      runtime: { type: 'string' },
      ablation: { type: 'boolean', default: false },
      stores: { type: 'boolean', default: false },
      together: { type: 'boolean', default: false },
      facts: { type: 'boolean', default: false },
      'leave-one-out': { type: 'boolean', default: false },
    },
  })

export type Options = ReturnType<typeof parseOptions>['values']

/** `--sizes 1000,10000`, or the usual sizes of a suite. */
export const sizesOf = ({ sizes }: Options, usual: readonly number[]): number[] =>
  sizes ? sizes.split(',').map((size) => wholeNumber('sizes', size)) : [...usual]

export const roundsOf = ({ rounds }: Options, usual: number): number =>
  rounds ? wholeNumber('rounds', rounds) : usual

/** What is wrong with the arguments, for the person who typed them. */
export class UsageError extends Error {}

export function wholeNumber(option: string, text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new UsageError(`--${option} takes whole numbers above 0, not "${text}"`)
}

/** Progress, on the standard error stream. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`)
