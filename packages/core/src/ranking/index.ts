/**
 * How a search orders what it finds, the same for every store:
 *
 * 1. Documents are cut into units, which are found one by one: `splitUnits`, `wordsOf`, `embeddedTexts`.
 * 2. The words of a question are chosen: `queryTerms`, of a long text `tellingWords`, and `splitByRarity` tells which
 *    of them have to be looked for.
 * 3. The store gathers the best units by words and by vector, and their neighbours: `UnitEvidence`.
 * 4. `rankUnits` adds up each unit's signals to a score and derives a confidence. In a search by words alone, documents
 *    that hold all of them come first.
 * 5. When a page needs a wider search, `appendCapped` keeps what earlier pages showed.
 * 6. `surestFirst` and `surestPassages` put the matches of several scopes in one order.
 */

export {
  appendCapped,
  depthGrowth,
  type RankedMatch,
  scaledSignals,
  withinMatch,
} from './append-capped.ts'
export { fewestUnits, rarityInMemory, saturation } from './bm25.ts'
export { confidenceRank, type Sureness, surestFirst } from './confidence.ts'
export { dateWords } from './date-words.ts'
export { embeddedTexts } from './embedded-texts.ts'
export { excerptOf } from './excerpt.ts'
export { foldLetters } from './fold-letters.ts'
export { wordsInIdentifiers } from './identifier-words.ts'
export { splitByRarity } from './max-score.ts'
export { datesNamedIn, namedDates } from './named-dates.ts'
export { bestPassage } from './passages.ts'
export {
  noiseRank,
  type QueryEvidence,
  type RankedUnit,
  type RankWeights,
  rankUnits,
  rankWeights,
  type Spread,
  spreadOf,
  surroundingReach,
  type UnitEvidence,
} from './rank-units.ts'
export {
  besideLength,
  type FoundPassage,
  newsFilter,
  passagesFor,
  surestPassages,
  type ToldPlace,
  tellingShare,
  withoutRepeats,
} from './surest-passages.ts'
export { hasManyWords, tellingWords } from './telling-words.ts'
export { unitLabel } from './unit-label.ts'
export { splitUnits, type Unit } from './units.ts'
export { wordScores } from './word-scores.ts'
export {
  countTermsIn,
  forTokenizer,
  indexedTerms,
  queryTerms,
  queryWords,
  type Word,
  wordsOf,
} from './words.ts'
