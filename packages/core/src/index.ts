export { type Clock, systemClock } from './clock.ts'
export type { ContentBlock, Conversation, ConversationFacts, Message } from './conversation.ts'
export type { Embedder } from './embedder.ts'
export {
  errorStatus,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryErrorContext,
} from './errors.ts'
export { type Comparison, everything, type Filter } from './filter/filter.ts'
export { type FilterSubject, matchesFilter } from './filter/matches-filter.ts'
export { parseFilter } from './filter/parse-filter.ts'
export {
  checkMemoryOptions,
  createMemoryManager,
  type MemoryManagerOptions,
  type MemoryPolicies,
  shortTermTtl,
} from './front/create-memory-manager.ts'
export { embedQuery } from './front/embed-query.ts'
export { embedTexts } from './front/embed-texts.ts'
export { embedWhole, mayBeCut } from './front/embed-whole.ts'
export { type Envelope, isEnvelope, type KeyRing } from './front/encryption.ts'
export { findWhenSure } from './front/find-when-sure.ts'
export { checkAddress, invalidInput, problemsInWords } from './front/inputs.ts'
export { refusesText } from './front/refuses-text.ts'
export { type RotationOptions, type RotationResult, rotateEncryption } from './front/rotate-encryption.ts'
export { inTurn } from './in-turn.ts'
export {
  equalJson,
  isJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonBytes,
  mapStrings,
  maxJsonDepth,
  searchableText,
  toJsonValue,
} from './json.ts'
export type { LmProvider } from './lm-provider.ts'
export type {
  AtomicUpdate,
  BatchWrite,
  Capabilities,
  CleanupError,
  CleanupOptions,
  CleanupResult,
  ClearFilter,
  MatchedPassage,
  MemoryManager,
  MemoryMatch,
  MemoryMetadata,
  MemoryRecord,
  ReadOptions,
  RegisteredValue,
  SearchMode,
  SearchOptions,
  SearchQuery,
  ValueTypes,
  WriteOptions,
} from './memory-manager.ts'
export type {
  Address,
  ArchiveRun,
  ArchiveSelection,
  Change,
  ColdStore,
  Entry,
  Expected,
  Found,
  MemoryStore,
  Place,
  PutOptions,
  Selection,
  StoreQuery,
  StoreStats,
  SweepSelection,
} from './memory-store.ts'
export {
  appendCapped,
  depthGrowth,
  type RankedMatch,
  scaledSignals,
  withinMatch,
} from './ranking/append-capped.ts'
export { fewestUnits, rarityInMemory, saturation } from './ranking/bm25.ts'
export { confidenceRank, type Sureness, surestFirst } from './ranking/confidence.ts'
export { dateWords } from './ranking/date-words.ts'
export { embeddedTexts } from './ranking/embedded-texts.ts'
export { excerptOf } from './ranking/excerpt.ts'
export { foldLetters } from './ranking/fold-letters.ts'
export { wordsInIdentifiers } from './ranking/identifier-words.ts'
export { splitByRarity } from './ranking/max-score.ts'
export { namedDates } from './ranking/named-dates.ts'
export { bestPassage } from './ranking/passages.ts'
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
} from './ranking/rank-units.ts'
export {
  besideLength,
  type FoundPassage,
  newsFilter,
  passagesFor,
  surestPassages,
  type ToldPlace,
  tellingShare,
  withoutRepeats,
} from './ranking/surest-passages.ts'
export { hasManyWords, tellingWords } from './ranking/telling-words.ts'
export { unitLabel } from './ranking/unit-label.ts'
export { splitUnits, type Unit } from './ranking/units.ts'
export { wordScores } from './ranking/word-scores.ts'
export {
  countTermsIn,
  forTokenizer,
  indexedTerms,
  queryTerms,
  queryWords,
  type Word,
  wordsOf,
} from './ranking/words.ts'
export { type RedactionCounts, redactJson, redactPartsOf, redactText } from './redaction/redact.ts'
export {
  createRedactor,
  type RedactableContent,
  type RedactionReport,
  type Redactor,
  type RedactPolicy,
} from './redaction/redactor.ts'
export type { SchemaIssue, TypesOf, ValueSchema, ValueSchemas } from './schemas.ts'
export { type MemoryScope, memoryScopes } from './scope.ts'
export {
  conversationKey,
  conversationType,
  editedSummaryKey,
  lastAnswerMark,
  sessionSummaryKey,
  sessionSummaryType,
  windowNotesKey,
  windowNoteType,
} from './session-keys.ts'
export {
  type ConversationArchive,
  conversationArchive,
  type SessionSummary,
  sessionSummary,
} from './session-records.ts'
export { asRestored } from './stores/archive.ts'
export { alreadyExists, changedUnderneath, writtenSinceArchived } from './stores/conflicts.ts'
export { asRead } from './stores/entry-identity.ts'
export { entryMetadata } from './stores/entry-metadata.ts'
export { isExpired } from './stores/expiry.ts'
export { takenPlaceAt } from './stores/in-memory-search.ts'
export { createInMemoryStore, type InMemoryStoreOptions } from './stores/in-memory-store.ts'
export { readTogether } from './stores/read-together.ts'
export { beginningOf } from './text/beginning-of.ts'
export { compareCodePoints } from './text/code-points.ts'
export { closingFences, trackFence } from './text/fenced-code.ts'
export { fingerprint } from './text/fingerprint.ts'
export { type Heading, parseHeading, splitPointer } from './text/heading.ts'
export { parseInstant } from './text/parse-instant.ts'
export { proseLines } from './text/prose.ts'
export { readBody } from './text/read-body.ts'
export { fenceRecalled, stripRecalled } from './text/recalled-text.ts'
export { retryAfterOf } from './text/retry-after.ts'
export { shortDigest } from './text/short-digest.ts'
export { spokenText } from './text/spoken-text.ts'
export { terminalStyles } from './text/terminal-styles.ts'
export { isDeepYaml } from './text/yaml-depth.ts'
