import { type MemoryScope, termStrength } from '@recall/core'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { Postings, UnitRow } from '../search-index/word-rows.ts'
import { highest } from '../vectors/highest.ts'
import { isNearlyEverywhere, rarityInTables, type WordFacts } from './word-facts.ts'

/** Returns the best of the units that match, at most so many, best first. */
type Find = (limit: number) => UnitRow[] | undefined

/** Finds units by lists of where words stand: each method is there if these tell enough. */
export interface WordLists {
  /** Those that hold all words. */
  findAll?: Find
  /** Those that hold any; `undefined` if there are fewer than the limit, and others hold a word that is not listed. */
  findAny?: Find
}

/**
 * Finds the units that FTS5 would, in the same order. Its `bm25()` takes several times as long, because it looks up the
 * length of every unit; where the words stand tells which units cannot be among the best.
 */
export function createWordLists(
  index: SearchIndex,
  scope: MemoryScope,
  facts: readonly WordFacts[],
): WordLists {
  const postings = facts.flatMap((each) => each.postings ?? [])
  if (postings.length === 0) return {}
  const isComplete = postings.length === facts.length
  if (!isComplete && !facts.every((each) => each.postings || isNearlyEverywhere(each))) return {}
  const once = (every: boolean): ((limit: number) => UnitRow[]) => {
    let find: ((limit: number) => UnitRow[]) | undefined
    return (limit) => {
      find ??= rankUnits(index, scope, postings, every ? unitsInAll(postings) : unitsInAny(postings))
      return find(limit)
    }
  }
  const findAny = once(false)
  return {
    ...(isComplete ? { findAll: once(true) } : {}),
    findAny(limit) {
      const found = findAny(limit)
      return isComplete || found.length === limit ? found : undefined
    },
  }
}

/** Ranks some units by the BM25 of words, as FTS5's `bm25()` would. */
function rankUnits(
  index: SearchIndex,
  scope: MemoryScope,
  postings: readonly Postings[],
  units: Int32Array,
): (limit: number) => UnitRow[] {
  const totals = index.totals(scope)
  const averageLength = totals.words / totals.units
  const words = postings.map((each) => ({
    rarity: rarityInTables(each.units.length, totals.units),
    times: timesIn(units, each),
  }))
  /** The most that each unit can have: as if it held no other words. */
  const bounds = new Float64Array(units.length)
  for (const { rarity, times } of words) {
    for (let at = 0; at < units.length; at++)
      bounds[at] = (bounds[at] as number) + termStrength(rarity, times[at] as number, 0)
  }
  const strengths = new Float64Array(units.length).fill(Number.NaN)

  /** Computes the strength of the units at some positions, if it is not known yet. */
  const measure = (positions: readonly number[]): void => {
    const unknown = positions.filter((at) => Number.isNaN(strengths[at]))
    const lengths = index.lengths(
      scope,
      unknown.map((at) => units[at] as number),
    )
    unknown.forEach((at, i) => {
      const length = (lengths[i] as number) / averageLength
      let sum = 0
      for (const { rarity, times } of words) sum += termStrength(rarity, times[at] as number, length)
      strengths[at] = sum
    })
  }

  return (limit) => {
    const likely = highest(bounds, limit, 0)
    measure(likely)
    const weakest = (sum: number, at: number): number => Math.min(sum, strengths[at] as number)
    const least = likely.length < limit ? 0 : likely.reduce(weakest, Number.POSITIVE_INFINITY)
    const possible: number[] = []
    for (let at = 0; at < bounds.length; at++) if ((bounds[at] as number) >= least) possible.push(at)
    measure(possible)
    return possible
      .map((at) => ({ id: units[at] as number, bm25: strengths[at] as number }))
      .sort((a, b) => b.bm25 - a.bm25 || a.id - b.id)
      .slice(0, limit)
  }
}

function unitsInAny(postings: readonly Postings[]): Int32Array {
  const all = new Int32Array(postings.reduce((sum, { units }) => sum + units.length, 0))
  let length = 0
  for (const { units } of postings) {
    all.set(units, length)
    length += units.length
  }
  all.sort()
  let count = 0
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[count++] = all[i] as number
  return all.subarray(0, count)
}

function unitsInAll(postings: readonly Postings[]): Int32Array {
  const [rarest, ...others] = postings.toSorted((a, b) => a.units.length - b.units.length)
  return others.reduce((units, other) => {
    const times = timesIn(units, other)
    return units.filter((_, at) => times[at] !== 0)
  }, rarest?.units ?? new Int32Array(0))
}

/** How often each of some ascending units holds a word. */
function timesIn(units: Int32Array, postings: Postings): Int32Array {
  const times = new Int32Array(units.length)
  let place = 0
  for (let at = 0; at < units.length; at++) {
    while ((postings.units[place] as number) < (units[at] as number)) place++
    if (postings.units[place] === units[at]) times[at] = postings.times[place] as number
  }
  return times
}
