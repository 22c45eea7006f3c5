import type { StoreQuery } from '@recall/core'
import {
  noiseRank,
  type RankedUnit,
  rankUnits,
  saturation,
  type UnitEvidence,
  wordsOf,
} from '@recall/core/ranking'
import type { Candidate, UnitMatch } from './candidates.ts'
import type { Coverage } from './coverage.ts'
import type { NearMatches } from './match-meaning.ts'
import type { WordMatch } from './match-words.ts'
import type { Vocabulary } from './word-facts.ts'

export interface WordMatches {
  /** Best first. */
  rows: WordMatch[]
  vocabulary: Vocabulary
}

/**
 * Scores the matches by words and by meaning with core's `rankUnits`, as every store does. An entry scores as its
 * best unit.
 *
 * @param labels the query's words as core splits them, because labels are names
 * @param coverage for entries of several units
 */
export function rankMatches(
  { now }: StoreQuery,
  labels: readonly string[],
  words: WordMatches,
  meaning: NearMatches | undefined,
  coverage: ReadonlyMap<string, Coverage>,
): Candidate[] {
  const evidence = new Map<string, UnitEvidence<string>>()
  const rows = new Map<string, UnitMatch>()
  const add = (row: UnitMatch, { bm25, isWhole }: Pick<WordMatch, 'bm25' | 'isWhole'>): void => {
    const name = `${row.id} ${row.unit}`
    if (evidence.has(name)) return
    rows.set(row.id, row)
    const surroundings = coverage.get(row.id)?.around(row.unit)
    evidence.set(name, {
      document: row.id,
      unit: row.unit,
      parts: row.parts,
      bm25,
      isWhole,
      labelled: isLabelled(row.label, labels),
      ageMs: now - row.updatedAt,
      ...(surroundings === undefined ? {} : { surroundings }),
      ...(row.similarity === null || !meaning ? {} : { similarity: row.similarity }),
    })
  }
  for (const row of words.rows) add(row, row)
  for (const row of meaning?.rows ?? []) add(row, { bm25: 0, isWhole: false })
  const rarity = words.vocabulary.words.reduce((sum, word) => sum + word.rarity, 0)
  const ranked = rankUnits([...evidence.values()], {
    bm25Bound: rarity * saturation || 1,
    bm25Noise: words.rows.map(({ bm25 }) => bm25).sort((a, b) => b - a)[noiseRank - 1] ?? 0,
    coverage: new Map([...coverage].map(([id, { entry }]) => [id, entry])),
    ...(meaning ? { spread: meaning.spread } : {}),
  })
  return byEntry(ranked, rows, meaning?.rows.length ? 'hybrid' : 'lexical')
}

function byEntry(
  ranked: readonly RankedUnit<string>[],
  rows: ReadonlyMap<string, UnitMatch>,
  mode: Candidate['mode'],
): Candidate[] {
  const candidates = new Map<string, Candidate>()
  for (const { document, unit, score, confidence, signals } of ranked) {
    const known = candidates.get(document)
    const row = rows.get(document)
    const found = { unit, score, confidence }
    if (known) known.found.push(found)
    else if (row) candidates.set(document, { ...row, mode, score, confidence, signals, found: [found] })
  }
  return [...candidates.values()]
}

/** Ranks by similarity alone, for a query without a text. */
export function nearest(meaning: NearMatches | undefined): Candidate[] {
  const candidates = new Map<string, Candidate>()
  for (const { similarity, ...row } of meaning?.rows ?? []) {
    if (candidates.has(row.id)) continue
    // Rounding may exceed 1.
    const score = Math.min(1, Math.max(0, similarity))
    const found = [{ unit: row.unit, score }]
    candidates.set(row.id, { ...row, mode: 'semantic', score, signals: { similarity: score }, found })
  }
  return [...candidates.values()]
}

const isLabelled = (label: string, terms: readonly string[]): boolean =>
  label !== '' && wordsOf(label).some(({ term }) => terms.includes(term))
