export { asRestored } from './archive.ts'
export { beginningOf } from './beginning-of.ts'
export { type Clock, systemClock } from './clock.ts'
export { compareCodePoints } from './code-points.ts'
export { alreadyExists, changedUnderneath, writtenSinceArchived } from './conflicts.ts'
export type { ContentBlock, Conversation, ConversationFacts, Message } from './conversation.ts'
export {
  createMemoryManager,
  type MemoryManagerOptions,
  type MemoryPolicies,
  shortTermTtl,
} from './create-memory-manager.ts'
export { embedTexts } from './embed-texts.ts'
export type { Embedder } from './embedder.ts'
export { type Envelope, isEnvelope, type KeyRing } from './encryption.ts'
export { asRead } from './entry-identity.ts'
export { entryMetadata } from './entry-metadata.ts'
export {
  errorStatus,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryErrorContext,
} from './errors.ts'
export { closingFences, trackFence } from './fenced-code.ts'
export { type Comparison, everything, type Filter } from './filter/filter.ts'
export { type FilterSubject, matchesFilter } from './filter/matches-filter.ts'
export { parseFilter } from './filter/parse-filter.ts'
export { findWhenSure } from './find-when-sure.ts'
export { takenPlaceAt } from './in-memory-search.ts'
export { createInMemoryStore, type InMemoryStoreOptions } from './in-memory-store.ts'
export { problemsInWords } from './inputs.ts'
export {
  equalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonBytes,
  mapStrings,
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
export { parseInstant } from './parse-instant.ts'
export { fewestUnits, rarityInMemory } from './ranking/bm25.ts'
export { confidenceRank } from './ranking/confidence.ts'
export { dateWords } from './ranking/date-words.ts'
export { foldLetters } from './ranking/fold-letters.ts'
export { wordsInIdentifiers } from './ranking/identifier-words.ts'
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
  type UnitEvidence,
} from './ranking/rank-units.ts'
export { unitLabel } from './ranking/unit-label.ts'
export { splitUnits, type Unit } from './ranking/units.ts'
export { wordScores } from './ranking/word-scores.ts'
export { indexedTerms, queryTerms, queryWords, type Word, wordsOf } from './ranking/words.ts'
export { readTogether } from './read-together.ts'
export { fenceRecalled, stripRecalled } from './recalled-text.ts'
export { type RedactionCounts, redactJson, redactText } from './redaction/redact.ts'
export {
  createRedactor,
  type RedactableContent,
  type RedactionReport,
  type RedactPolicy,
} from './redaction/redactor.ts'
export { type RotationOptions, type RotationResult, rotateEncryption } from './rotate-encryption.ts'
export type { SchemaIssue, TypesOf, ValueSchema, ValueSchemas } from './schemas.ts'
export { type MemoryScope, memoryScopes } from './scope.ts'
export {
  conversationKey,
  conversationType,
  sessionSummaryKey,
  sessionSummaryType,
  windowNotesKey,
} from './session-keys.ts'
export {
  type ConversationArchive,
  conversationArchive,
  type SessionSummary,
  sessionSummary,
} from './session-records.ts'
export { spokenText } from './spoken-text.ts'
export { isDeepYaml } from './yaml-depth.ts'
