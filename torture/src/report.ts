import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import type { Attack } from './attack.ts'
import type { Goal, Progress } from './run-attacks.ts'

type Attacks = Readonly<Record<string, Attack>>

/** What was tried, as a table; the same on the screen and in the published report. */
export function tableOf({ seed, attacks: done }: Progress, attacks: Attacks): string {
  const rows = Object.entries(done).map(([name, { rounds, seconds, counts }]) => {
    const seeds = rounds > 1 ? `${seed}–${seed + rounds - 1}` : `${seed}`
    return `| ${name} | ${attacks[name]?.what ?? ''} | ${rounds} | ${seeds} | ${Math.round(seconds)} | ${describe(counts)} |`
  })
  return `| attack | what must hold | rounds | seeds | seconds | tried |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`
}

export const describe = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    .join(', ')

/** Combines runs of different attacks on one commit. */
export function mergeProgress(parts: readonly Progress[]): Progress {
  const [first] = parts
  if (!first || parts.some(({ commit, seed }) => commit !== first.commit || seed !== first.seed))
    throw new Error('only runs on the same commit, from the same seed, make one report')
  return {
    ...first,
    attacks: Object.assign({}, ...parts.map(({ attacks }) => attacks)),
    failures: parts.flatMap(({ failures = [] }) => failures),
  }
}

export const commitOf = (): string =>
  execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()

function totalKills({ attacks }: Progress): string[] {
  const kills = Object.values(attacks).flatMap(({ counts }) =>
    Object.entries(counts).flatMap(([what, count]) => (/^(?:hub |Redis )?kills$/.test(what) ? count : [])),
  )
  const total = kills.reduce((sum, count) => sum + count, 0)
  return total > 0 ? [`Processes killed with SIGKILL, in all: ${total.toLocaleString('en')}.`] : []
}

/** The progress of attacks that have not reached a campaign's total. */
function unreached({ attacks }: Progress, goals: Readonly<Record<string, Goal>>): string[] {
  const lines = Object.entries(goals).flatMap(([name, { count, total }]) => {
    const done = attacks[name]?.counts[count] ?? 0
    return done < total
      ? `- ${name}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${count}`
      : []
  })
  return lines.length > 0 ? [`Totals that were not reached:\n\n${lines.join('\n')}`] : []
}

/** Where it was tried, what was tried and the outcome, in the form of the other results. */
export function reportOf(
  progress: Progress,
  attacks: Attacks,
  shut: Readonly<Record<string, string>>,
  goals: Readonly<Record<string, Goal>> = {},
): string {
  const facts: Record<string, string | number> = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${type().toLowerCase()} ${release()}`,
    node: process.version,
    commit: progress.commit ?? commitOf(),
    date: new Date().toISOString().slice(0, 10),
  }
  const measured = Object.entries(progress.attacks).flatMap(([name, done]) =>
    done.measured === undefined ? [] : `- ${name}: ${done.measured}`,
  )
  const failures = (progress.failures ?? []).map(
    ({ attack, seed, size, violations }) =>
      `- ${attack}, seed ${seed}, size ${size} failed: ${violations[0]}`,
  )
  const closed = Object.entries(shut).map(([name, why]) => `- ${name} stayed shut: ${why}`)
  return [
    '# torture',
    Object.entries(facts)
      .map(([name, value]) => `- ${name}: ${value}`)
      .join('\n'),
    'Each round takes the next seed: `pnpm torture --minutes 0 --only <attack> --seed <seed>` does it again. What a seed decides is what is done; when a process is killed depends on the machine as well.',
    tableOf(progress, attacks).trimEnd(),
    ...(measured.length > 0 ? [measured.join('\n')] : []),
    ...totalKills(progress),
    ...(closed.length > 0 ? [closed.join('\n')] : []),
    ...unreached(progress, goals),
    failures.length > 0 ? failures.join('\n') : 'Violations: 0.',
  ]
    .join('\n\n')
    .concat('\n')
}
