import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Attack } from './attack.ts'
import { attacks } from './attacks/index.ts'
import { goals } from './campaign.ts'
import { useBuiltPrograms } from './programs.ts'
import { commitOf, describe, mergeProgress, reportOf, tableOf } from './report.ts'
import { type Progress, runAttacks } from './run-attacks.ts'

const usage = `Usage: pnpm torture [--minutes 60] [--only kills,parsers] [--seed 1] [--size 100] [--resume file]
                    [--report file]
       pnpm torture --campaign [--only …] [--resume file] [--report file]
       pnpm torture --merge file,file [--report file]

Tries to break Recall until the time is over, or until something broke: then it prints the command that does so
again, and ends with 1.

  --campaign  until each attack has reached its total, on what \`pnpm build\` made
  --only      some attacks: ${Object.keys(attacks).join(', ')}
  --seed      where to begin; each round takes the next one
  --size      kills, inputs or writes in a round, instead of each attack's own
  --resume    a file that keeps what was done, to go on with it
  --report    a file for the results, for example bench/results/torture.md
  --merge     files of --resume, of runs that did different attacks on the same commit, for one report
`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    campaign: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    size: { type: 'string' },
    resume: { type: 'string' },
    report: { type: 'string' },
    merge: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const all: Readonly<Record<string, Attack>> = attacks
const chosen = values.only?.split(',') ?? Object.keys(attacks)
const unknown = chosen.filter((name) => !(name in attacks))

if (values.help) process.stdout.write(usage)
else if (unknown.length > 0) {
  process.stderr.write(`There is no attack called ${unknown.join(', ')}.\n\n${usage}`)
  process.exitCode = 2
} else if (values.merge !== undefined) {
  const merged = reportOf(mergeProgress(values.merge.split(',').map(readProgress)), all, {}, goals)
  if (values.report === undefined) process.stdout.write(merged)
  else writeFileSync(values.report, merged)
} else process.exitCode = await torture()

async function torture(): Promise<number> {
  const { resume, campaign } = values
  if (campaign) useBuiltPrograms()
  const shut: Record<string, string> = {}
  for (const name of chosen) {
    const reason = all[name]?.closed?.()
    if (reason) shut[name] = reason
  }
  for (const [name, reason] of Object.entries(shut)) process.stderr.write(`${name} stays shut: ${reason}\n`)
  const open = chosen.filter((name) => !(name in shut))
  if (open.length === 0) return 2
  const commit = commitOf()
  const progress: Progress =
    resume !== undefined && existsSync(resume)
      ? readProgress(resume)
      : { seed: Number(values.seed), commit, attacks: {} }
  if (progress.commit !== commit) {
    process.stderr.write(`${resume} is of ${progress.commit}, and this is ${commit}: begin anew\n`)
    return 2
  }
  const minutes =
    values.minutes === undefined ? (campaign ? Number.POSITIVE_INFINITY : 60) : Number(values.minutes)
  const failure = await runAttacks({
    attacks: Object.fromEntries(open.map((name) => [name, all[name] as Attack])),
    progress,
    seconds: minutes * 60,
    ...(campaign ? { goals } : {}),
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
  if (resume !== undefined) writeFileSync(resume, JSON.stringify(progress, null, 2))
  if (values.report !== undefined)
    writeFileSync(values.report, reportOf(progress, all, shut, campaign ? goals : {}))
  process.stdout.write(`${tableOf(progress, all)}\n`)
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

function readProgress(path: string): Progress {
  return JSON.parse(readFileSync(path, 'utf8')) as Progress
}
