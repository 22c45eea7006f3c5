import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Attack } from './attack.ts'
import { attacks } from './attacks/index.ts'
import { describe, reportOf, tableOf } from './report.ts'
import { type Progress, runAttacks } from './run-attacks.ts'

const usage = `Usage: pnpm torture [--minutes 60] [--only kills,parsers] [--seed 1] [--size 100] [--resume file]
                    [--report file]

Tries to break Recall until the time is over, or until something broke: then it prints the command that does so
again, and ends with 1.

  --only    some attacks: ${Object.keys(attacks).join(', ')}
  --seed    where to begin; each round takes the next one
  --size    kills, inputs or writes in a round, instead of each attack's own
  --resume  a file that keeps what was done, to go on with it
  --report  a file for the results, for example bench/results/torture.md
`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    size: { type: 'string' },
    resume: { type: 'string' },
    report: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const chosen = values.only?.split(',') ?? Object.keys(attacks)
const unknown = chosen.filter((name) => !(name in attacks))

if (values.help) process.stdout.write(usage)
else if (unknown.length > 0) {
  process.stderr.write(`There is no attack called ${unknown.join(', ')}.\n\n${usage}`)
  process.exitCode = 2
} else process.exitCode = await torture()

async function torture(): Promise<number> {
  const { resume } = values
  const all: Readonly<Record<string, Attack>> = attacks
  const shut: Record<string, string> = {}
  for (const name of chosen) {
    const reason = all[name]?.closed?.()
    if (reason) shut[name] = reason
  }
  for (const [name, reason] of Object.entries(shut)) process.stderr.write(`${name} stays shut: ${reason}\n`)
  const open = chosen.filter((name) => !(name in shut))
  if (open.length === 0) return 2
  const progress: Progress =
    resume !== undefined && existsSync(resume)
      ? (JSON.parse(readFileSync(resume, 'utf8')) as Progress)
      : { seed: Number(values.seed), attacks: {} }
  const failure = await runAttacks({
    attacks: Object.fromEntries(open.map((name) => [name, all[name] as Attack])),
    progress,
    seconds: Number(values.minutes) * 60,
    ...(values.size === undefined ? {} : { size: Number(values.size) }),
    now: Date.now,
    onRound(name, { violations }, soFar) {
      const done = soFar.attacks[name]
      process.stderr.write(
        `${name}: ${done?.rounds} rounds, ${describe(done?.counts ?? {})}, ${violations.length} violations\n`,
      )
      if (resume !== undefined) writeFileSync(resume, JSON.stringify(soFar, null, 2))
    },
  })
  if (values.report !== undefined) writeFileSync(values.report, reportOf(progress, attacks, shut, failure))
  process.stdout.write(`${tableOf(progress, attacks)}\n`)
  for (const [name, reason] of Object.entries(shut)) process.stdout.write(`${name} stayed shut: ${reason}\n`)
  if (!failure) {
    process.stdout.write('Nothing broke.\n')
    return 0
  }
  const { attack, seed, size, violations } = failure
  process.stdout.write(
    `${violations.slice(0, 20).join('\n')}\n\nAgain: pnpm torture --minutes 0 --only ${attack} --seed ${seed} --size ${size}\n`,
  )
  return 1
}
