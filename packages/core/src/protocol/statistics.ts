import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { parseInput } from '../parse-input.ts'
import { outcomeSchema } from './inputs.ts'
import type { Outcome } from './types.ts'
import { updateEntry } from './update-entry.ts'

/** Members that `recordOutcome` keeps up to date. */
export interface SuccessStatistics {
  /** 0..1: the mean of all outcomes; a partial one counts half. */
  successRate: number
  /** Outcomes that were recorded. */
  uses: number
}

const scoreOf: Record<Outcome, number> = { success: 1, partial: 0.5, failure: 0 }

/**
 * Records an outcome in the long-term entry that was used: a playbook, a pattern, a tool. The entry's value gets
 * `successRate` and `uses`, which filters can use; an absent key becomes a `statistic`. Concurrent outcomes of several
 * processes are all counted. A rate that the value came with, without `uses`, counts as one outcome.
 *
 * @throws MemoryError INVALID_INPUT for an unknown outcome, and when the value cannot hold a rate, because it is not an
 * object or its schema drops unknown members; CONFLICT when others keep writing the entry
 */
export async function recordOutcome(
  memory: MemoryManager,
  key: string,
  outcome: Outcome,
): Promise<SuccessStatistics> {
  const score = scoreOf[parseInput(outcomeSchema, outcome, 'outcome')]
  const value = await updateEntry<JsonObject>(memory, 'long-term', key, (present) => {
    if (present !== null && !isJsonObject(present)) throw noObject(key)
    const { uses, successRate } = statisticsOf(present)
    const rate = (successRate * uses + score) / (uses + 1)
    return {
      value: { ...(present ?? { type: 'statistic' }), successRate: rate, uses: uses + 1 },
    }
  })
  if (dropsRate(await memory.read('long-term', key))) throw noRoom(key)
  return statisticsOf(value)
}

/** The effect of a schema shows only in the stored value. */
const dropsRate = (kept: unknown): boolean => isJsonObject(kept) && kept.uses === undefined

function statisticsOf(value: JsonObject | null): SuccessStatistics {
  const { uses, successRate: rate } = value ?? {}
  const isRated = typeof rate === 'number'
  return { uses: typeof uses === 'number' ? uses : isRated ? 1 : 0, successRate: isRated ? rate : 0 }
}

const noRoom = (key: string): MemoryError =>
  new MemoryError(
    `the schema of '${key}' drops successRate and uses: let it keep them, or record the outcome under another key`,
    MemoryErrorCode.INVALID_INPUT,
    { scope: 'long-term', key },
  )

const noObject = (key: string): MemoryError =>
  new MemoryError(
    `the value of '${key}' is not an object and cannot carry a success rate: record the outcome under another key`,
    MemoryErrorCode.INVALID_INPUT,
    { scope: 'long-term', key },
  )
