export { type Clock, longestTimerMs, systemClock } from './clock.ts'
export type { ContentBlock, Conversation, ConversationFacts, Message } from './conversation.ts'
export type { Embedder } from './embedder.ts'
export {
  errorStatus,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryErrorContext,
} from './errors.ts'
export {
  type Comparison,
  comparisons,
  everything,
  type Filter,
  listComparisons,
  mostListed,
} from './filter/filter.ts'
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
export { checkAddress } from './front/inputs.ts'
export { refusesText } from './front/refuses-text.ts'
export { type RotationOptions, type RotationResult, rotateEncryption } from './front/rotate-encryption.ts'
export { inTurn } from './in-turn.ts'
export type { JsonObject, JsonValue } from './json.ts'
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
export { invalidInput, problemsInWords, refuseUnknownOptions } from './parse-input.ts'
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
  derivedIdMark,
  editedSummaryKey,
  isConversationKey,
  lastAnswerMark,
  sessionSummaryKey,
  sessionSummaryType,
  windowHeading,
  windowNotesKey,
  windowNoteType,
} from './session-keys.ts'
export {
  type ConversationArchive,
  conversationArchive,
  type SessionSummary,
  sessionSummary,
} from './session-records.ts'
export { createInMemoryStore, type InMemoryStoreOptions } from './stores/in-memory-store.ts'
export { fenceRecalled, stripRecalled } from './text/recalled-text.ts'
