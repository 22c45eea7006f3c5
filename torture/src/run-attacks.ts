import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Attack, Round } from './attack.ts'

/** What was done so far; kept between runs, so that a night goes on where an hour ended. */
export interface Progress {
  seed: number
  attacks: Record<string, { rounds: number; seconds: number; counts: Record<string, number> }>
}

export interface Failure {
  attack: string
  /** The smallest round that was seen to fail. */
  seed: number
  size: number
  violations: string[]
}

export interface RunOptions {
  attacks: Readonly<Record<string, Attack>>
  progress: Progress
  /** Seconds that may pass; the round that is under way is finished. */
  seconds: number
  /** Instead of each attack's own. */
  size?: number
  now: () => number
  /** Called after each round, with what there is to keep. */
  onRound: (attack: string, round: Round, progress: Progress) => void
}

/** Attacks in turn, the one that had the least time first, until the time is over or something broke. */
export async function runAttacks(options: RunOptions): Promise<Failure | null> {
  const { attacks, progress, now } = options
  const deadline = now() + options.seconds * 1000
  do {
    const name = leastTime(Object.keys(attacks), progress)
    const attack = attacks[name] as Attack
    const done = progress.attacks[name] ?? { rounds: 0, seconds: 0, counts: {} }
    progress.attacks[name] = done
    const seed = progress.seed + done.rounds
    const size = options.size ?? attack.size
    const started = now()
    const round = await oneRound(attack, seed, size)
    done.rounds++
    done.seconds += (now() - started) / 1000
    for (const [what, count] of Object.entries(round.counts)) {
      done.counts[what] = (done.counts[what] ?? 0) + count
    }
    options.onRound(name, round, progress)
    if (round.violations.length > 0) return smallest(name, attack, seed, size, round)
  } while (now() < deadline)
  return null
}

function leastTime(names: readonly string[], { attacks }: Progress): string {
  const secondsOf = (name: string): number => attacks[name]?.seconds ?? 0
  return [...names].sort((a, b) => secondsOf(a) - secondsOf(b))[0] as string
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
