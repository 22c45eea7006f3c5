import { noiseRank, rankUnits, type StoreQuery, type UnitEvidence, unitLabel, wordsOf } from '@recall/core'
import type { NearMatches } from './match-meaning.ts'
import type { Candidate, CandidateRow, WordMatches } from './match-words.ts'

/**
 * Scores what words and meaning have found, as core does for every store. An entry is one unit here, however
 * long it is.
 */
export function rankMatches(
  { now }: StoreQuery,
  terms: readonly string[],
  words: WordMatches,
  meaning: NearMatches | undefined,
): Candidate[] {
  const rows = new Map<string, CandidateRow>()
  const evidence = new Map<string, UnitEvidence<string>>()
  const add = (row: CandidateRow, more: Partial<UnitEvidence<string>>): void => {
    rows.set(row.id, row)
    const known = evidence.get(row.id) ?? { document: row.id, unit: 0, bm25: 0, ageMs: now - row.updatedAt }
    evidence.set(row.id, { ...known, ...more })
  }
  for (const row of words.rows) add(row, { bm25: row.bm25, labelled: isLabelled(row.opening, terms) })
  for (const row of meaning?.rows ?? []) add(row, { similarity: row.similarity })
  const ranked = rankUnits([...evidence.values()], {
    // The most that BM25 gives to a word that occurs once, 2.2 = k1 + 1 of it.
    bm25Bound: words.rarity * 2.2 || 1,
    bm25Noise: words.rows[noiseRank - 1]?.bm25 ?? 0,
    ...(meaning ? { spread: meaning.spread } : {}),
  })
  const mode = meaning ? 'hybrid' : 'lexical'
  return ranked.flatMap(({ document, score, signals }) => {
    const row = rows.get(document)
    return row ? [{ ...row, mode, score, signals }] : []
  })
}

/** Without a text, likeness alone counts. */
export const nearest = (meaning: NearMatches | undefined): Candidate[] =>
  (meaning?.rows ?? []).map(({ similarity, ...row }) => {
    // Rounding may lead beyond 1.
    const score = Math.min(1, Math.max(0, similarity))
    return { ...row, mode: 'semantic', score, signals: { similarity: score } }
  })

function isLabelled(opening: string, terms: readonly string[]): boolean {
  const label = unitLabel(opening)
  return label !== '' && wordsOf(label).some(({ term }) => terms.includes(term))
}
