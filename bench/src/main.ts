import { measureAll } from './all.ts'
import { type Suite, suites } from './all-suites.ts'
import { type Options, parseOptions, say, UsageError } from './options.ts'
import { publishSummary } from './summary.ts'

const usage = `Usage: pnpm bench all [--postgres url] [--data path] [--qmd] [--mem0]
       pnpm bench summary
       pnpm bench <suite> [options]

Measures Recall against other tools and against what the machine can do, and writes what it finds to bench/results/.

  all       every suite, one after the other, then the summary; those that need --postgres or --data are
            left out without them; other options go on to each suite
  summary   writes bench/results/README.md again, from the latest measurements

Suites:
${Object.entries(suites)
  .map(([name, { summary, usage: own }]) => `  ${name}  ${own}\n      ${summary}`)
  .join('\n')}
`

try {
  const { positionals, values } = parseOptions()
  const [name = 'help', extra] = positionals
  if (extra !== undefined)
    throw new UsageError(`One suite at a time, or all of them: "${extra}" is too many.`)
  process.exitCode = await bench(name, values)
} catch (error) {
  if (!isUsageError(error)) throw error
  say(`${error.message}\nSee pnpm bench --help.`)
  process.exitCode = 2
}

async function bench(name: string, options: Options): Promise<number> {
  if (options.help || name === 'help') console.log(usage)
  else if (name === 'all') return measureAll(options) ? 0 : 1
  else if (name === 'summary') say(`see ${publishSummary()}`)
  else if (Object.hasOwn(suites, name)) return measure(name, suites[name] as Suite, options)
  // The servers that the hub's suite starts in separate processes.
  else if (name.startsWith('serve-')) {
    const { serve } = await import('./hub-servers.ts')
    console.log(await serve(name, options))
  } else throw new UsageError(`There is no suite "${name}".`)
  return 0
}

async function measure(name: string, { needs, run }: Suite, options: Options): Promise<number> {
  if (needs && !options[needs]) {
    const what = needs === 'postgres' ? 'a server, for example postgres://localhost/recall' : 'a data set'
    throw new UsageError(`${name} needs --${needs}: ${what}.`)
  }
  return (await run(options)) ? 0 : 1
}

/** Our usage errors, and those of Node's argument parser. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
  )
}
