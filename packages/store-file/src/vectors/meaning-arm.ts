import { type Spread, spreadOf } from '@recall/core/ranking'
import { highest } from './highest.ts'
import type { VectorFile } from './vector-file.ts'

/** The vectors of a place, compared with one query. */
export interface MeaningArm {
  spread: Spread
  /** Row ids of the `count` units nearest to the query, nearest first; fewer if there are not that many. */
  nearest(count: number): number[]
  /** Cosine of a unit, by its row id, if it has a vector. */
  similarity(id: number): number | undefined
}

/** Where the units of a place have their vectors. */
export interface VectorPlaces {
  /** Row ids, ascending, and the slot of each. */
  units: Int32Array
  slots: Int32Array
  /** Reused by every search: allocating a new one costs more in garbage collection than filling it. */
  similarities: Float32Array
}

/**
 * Units to choose from: those whose sketches are nearest to the query's. The ten nearest were among 1,650 of these in
 * each of 300 queries, over 3,000 as well as over 13,000 texts.
 */
const shortlistLength = 4096

/** From this many units on, sketches save more than they cost. */
export const manyUnits = 8 * shortlistLength

/** Number of units sampled to estimate the spread of many similarities. */
const sampleLength = 2048

/** Extra candidates to re-score exactly, because eight bits order near-equal vectors at random. */
const extraCandidates = 32

/** A unit has to be at least this many standard deviations above the mean to be a candidate. */
const leastDeviations = 1.5

/**
 * Similarities of the units of a place to one query; valid until the next call for these vectors. If there are many
 * units, only those that are likely to be near are compared by their integers.
 *
 * @param places of at least one unit
 * @param unrelated mean and deviation of the cosine of unrelated texts, if known for the model
 */
export function createMeaningArm(
  file: VectorFile,
  { units, slots, similarities }: VectorPlaces,
  query: Float32Array,
  unrelated?: { mean: number; deviation: number },
): MeaningArm {
  const question = file.ask(query)
  const rescored = new Map<number, number>()
  /** The units to choose from, by their positions; all units if there is none. */
  let shortlist: { positions: Int32Array; similarities: Float32Array } | undefined

  const slotsAt = (positions: Int32Array): Int32Array => {
    const some = new Int32Array(positions.length)
    for (let i = 0; i < positions.length; i++) some[i] = slots[positions[i] as number] as number
    return some
  }

  const compare = (positions: Int32Array): Float32Array => {
    const found = question.similarities(slotsAt(positions))
    for (let i = 0; i < positions.length; i++) similarities[positions[i] as number] = found[i] as number
    return found
  }

  const compareAll = (): Float32Array => {
    shortlist = undefined
    return question.similarities(slots, similarities)
  }

  /** Compares a sample of the units, whose similarities it returns, and the units that are likely to be near. */
  const compareLikely = (): Float32Array => {
    similarities.fill(Number.NaN)
    const sampled = sampleOf(slots.length)
    const sample = compare(sampled)
    const share = Math.ceil((sampled.length * shortlistLength) / slots.length)
    const most = leastOf(question.differences(slotsAt(sampled)), share)
    const positions = question.within(slots, most)
    shortlist = { positions, similarities: compare(positions) }
    return sample
  }

  const spread = spreadOf(sumsOf(slots.length < manyUnits ? compareAll() : compareLikely()), unrelated)
  const least = spread.mean + leastDeviations * spread.deviation

  /** Positions of the nearest, nearest first, as far as eight bits can tell. */
  const likeliest = (count: number): readonly number[] => {
    if (shortlist && count > shortlistLength / 8) compareAll()
    if (!shortlist) return highest(similarities, count, least)
    const { positions } = shortlist
    return highest(shortlist.similarities, count, least).map((i) => positions[i] as number)
  }

  return {
    spread,

    nearest(count) {
      const best = likeliest(Math.min(count + extraCandidates, slots.length))
      const close = closest(best, similarities)
      const exact = file.exact(
        query,
        close.map((at) => slots[at] as number),
      )
      close.forEach((at, i) => {
        rescored.set(units[at] as number, exact[i] as number)
      })
      return [
        ...close
          .map((at) => units[at] as number)
          .sort((a, b) => (rescored.get(b) as number) - (rescored.get(a) as number)),
        ...best.slice(close.length).map((at) => units[at] as number),
      ].slice(0, count)
    },

    similarity(id) {
      const exact = rescored.get(id)
      if (exact !== undefined) return exact
      const at = positionOf(units, id)
      if (at === -1) return undefined
      const known = similarities[at] as number
      return Number.isNaN(known) ? compare(Int32Array.of(at))[0] : known
    },
  }
}

/** Approximate upper bound of the error of a cosine computed with eight bits. */
const scanError = 0.005

/**
 * Those of the best (best first) that could be among the top ten, given that eight bits are off by at most `scanError`.
 * Each is re-scored with its exact vector, and reading that from disk costs more than everything else.
 */
function closest(best: readonly number[], similarities: Float32Array): readonly number[] {
  const tenth = similarities[best[Math.min(9, best.length - 1)] ?? 0] as number
  const beyond = best.findIndex((at) => (similarities[at] as number) < tenth - 2 * scanError)
  return beyond === -1 ? best : best.slice(0, beyond)
}

/** Evenly spaced positions in a list of that length. */
function sampleOf(length: number): Int32Array {
  const step = Math.ceil(length / sampleLength)
  const positions = new Int32Array(Math.ceil(length / step))
  for (let i = 0; i < positions.length; i++) positions[i] = i * step
  return positions
}

/** The `count`-th of some natural numbers in ascending order (counting sort). */
function leastOf(numbers: Int32Array, count: number): number {
  const times: number[] = []
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] as number
    times[number] = (times[number] ?? 0) + 1
  }
  let number = 0
  let seen = times[0] ?? 0
  while (seen < count) seen += times[++number] ?? 0
  return number
}

function sumsOf(similarities: Float32Array): { count: number; sum: number; squares: number } {
  let sum = 0
  let squares = 0
  for (let i = 0; i < similarities.length; i++) {
    const value = similarities[i] as number
    sum += value
    squares += value * value
  }
  return { count: similarities.length, sum, squares }
}

/** Index of a number in an ascending list, or -1 (binary search). */
function positionOf(numbers: Int32Array, wanted: number): number {
  let low = 0
  let high = numbers.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const number = numbers[middle] as number
    if (number === wanted) return middle
    if (number < wanted) low = middle + 1
    else high = middle - 1
  }
  return -1
}
