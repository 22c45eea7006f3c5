import { measureAll } from './all.ts'
import { parseOptions, say } from './options.ts'
import { type Suite, suites } from './suites.ts'
import { publishSummary } from './summary.ts'

const usage = `Usage: pnpm bench all [--postgres url] [--qmd] [--mem0]
       pnpm bench summary
       pnpm bench <suite> [options]

Measures Recall against other tools and against what the machine can do, and writes what it finds to bench/results/.

  all       every suite that needs no data to be brought, one after the other, then the summary
  summary   bench/results/README.md anew, from what was measured last

Suites:
${Object.entries(suites)
  .map(([name, { summary, usage: own }]) => `  ${name}  ${own}\n      ${summary}`)
  .join('\n')}
`

const { positionals, values } = parseOptions()
const [name = 'help'] = positionals

if (values.help || name === 'help') console.log(usage)
else if (name === 'all') process.exitCode = measureAll(values) ? 0 : 1
else if (name === 'summary') say(`see ${publishSummary()}`)
else if (Object.hasOwn(suites, name)) process.exitCode = (await measure(suites[name] as Suite)) ? 0 : 1
// What the suite of the hub starts in processes of their own.
else if (name.startsWith('serve-')) {
  const { serve } = await import('./hub-servers.ts')
  console.log(await serve(name, values))
} else {
  say(`There is no suite "${name}".\n\n${usage}`)
  process.exitCode = 2
}

async function measure(suite: Suite): Promise<boolean> {
  const { needs } = suite
  if (needs && !values[needs]) {
    const what = needs === 'postgres' ? 'a server, for example postgres://localhost/recall' : 'a data set'
    say(`${name} needs --${needs}: ${what}.`)
    return false
  }
  return suite.run(values)
}
