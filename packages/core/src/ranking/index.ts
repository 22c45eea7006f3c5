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
export { namedDates } from './named-dates.ts'
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
