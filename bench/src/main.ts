import { parseArgs } from 'node:util'
import { run } from './processes.ts'
import { holds, writeReport } from './report.ts'
import { measureFiles } from './suites/files.ts'

const usage = `Usage: pnpm bench files [--sizes 1000,10000] [--rounds 25] [--seed 1] [--qmd]

  files   the file store and the command line: rebuild, cold and warm queries, freshness, durable writes
`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    rounds: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
    qmd: { type: 'boolean', default: false },
  },
})

if (positionals[0] !== 'files') {
  process.stderr.write(usage)
  process.exitCode = 2
} else {
  const say = (text: string): void => void process.stderr.write(`${text}\n`)
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
  for (const { what, size, ratio, bound, peer } of missed)
    say(`missed: ${what} at ${size}: ${ratio.toFixed(2)} of ${peer}, bound ${bound}`)
  say(`${rows.length - missed.length} of ${rows.length} bounds hold; see ${path}`)
}
