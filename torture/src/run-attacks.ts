import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Attack, Round } from './attack.ts'

/** What was done so far; kept between runs, so that a night's run continues where an hour's ended. */
export interface Progress {
  seed: number
  /** What was attacked. */
  commit?: string
  attacks: Record<string, Done>
  /** What broke, each with the smallest round known to fail. */
  failures?: Failure[]
}

export interface Done {
  rounds: number
  seconds: number
  counts: Record<string, number>
  /** What the last round measured. */
  measured?: string
}

/** How much of an attack a campaign requires. */
export interface Goal {
  /** The name of the count that measures it. */
  count: string
  total: number
  /** Size of a round, instead of the attack's own. */
  size?: number
}

export interface Failure {
  attack: string
  /** The smallest round known to fail. */
  seed: number
  size: number
  violations: string[]
}

export interface RunOptions {
  attacks: Readonly<Record<string, Attack>>
  progress: Progress
  /** Seconds that may pass; the current round is finished. */
  seconds: number
  /** How much of each attack is required; without goals, as much as the time allows. */
  goals?: Readonly<Record<string, Goal>>
  /** Instead of each attack's own. */
  size?: number
  now: () => number
  /** Called after each round, with the progress to keep. */
  onRound: (attack: string, round: Round, progress: Progress) => void
}

/**
 * Attacks in turn until the time is over, the goals are reached or something broke: first the one that had the least
 * time, or that is farthest from its goal.
 */
export async function runAttacks(options: RunOptions): Promise<Failure | null> {
  const { attacks, progress, now, goals } = options
  const deadline = now() + options.seconds * 1000
  do {
    const name = goals
      ? farthest(Object.keys(attacks), progress, goals)
      : leastTime(Object.keys(attacks), progress)
    if (name === null) return null
    const attack = attacks[name] as Attack
    const done = progress.attacks[name] ?? { rounds: 0, seconds: 0, counts: {} }
    progress.attacks[name] = done
    const seed = progress.seed + done.rounds
    const size = options.size ?? goals?.[name]?.size ?? attack.size
    const started = now()
    const round = await oneRound(attack, seed, size)
    done.rounds++
    done.seconds += (now() - started) / 1000
    for (const [what, count] of Object.entries(round.counts)) {
      done.counts[what] = (done.counts[what] ?? 0) + count
    }
    if (round.measured !== undefined) done.measured = round.measured
    options.onRound(name, round, progress)
    if (round.violations.length > 0) {
      const failure = await smallest(name, attack, seed, size, round)
      progress.failures = [...(progress.failures ?? []), failure]
      return failure
    }
  } while (now() < deadline)
  return null
}

function leastTime(names: readonly string[], { attacks }: Progress): string {
  const secondsOf = (name: string): number => attacks[name]?.seconds ?? 0
  return [...names].sort((a, b) => secondsOf(a) - secondsOf(b))[0] as string
}

/** `null` when all are reached. */
function farthest(
  names: readonly string[],
  { attacks }: Progress,
  goals: Readonly<Record<string, Goal>>,
): string | null {
  const shareOf = (name: string): number => {
    const goal = goals[name]
    return goal ? (attacks[name]?.counts[goal.count] ?? 0) / goal.total : 1
  }
  const [first] = [...names].sort((a, b) => shareOf(a) - shareOf(b))
  return first !== undefined && shareOf(first) < 1 ? first : null
}

async function oneRound(attack: Attack, seed: number, size: number): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), 'recall-torture-'))
  try {
    return await attack.round({ seed, size, folder })
  } catch (error) {
    return { counts: {}, violations: [`the round itself failed: ${(error as Error).stack}`] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Halves the round for as long as it still fails: a short one is easier to follow. */
async function smallest(
  name: string,
  attack: Attack,
  seed: number,
  size: number,
  round: Round,
): Promise<Failure> {
  let found = { size, violations: round.violations }
  for (let next = size >> 1; next > 0; next >>= 1) {
    const { violations } = await oneRound(attack, seed, next)
    if (violations.length === 0) break
    found = { size: next, violations }
  }
  return { attack: name, seed, ...found }
}
