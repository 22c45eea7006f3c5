export { type Clock, systemClock } from './clock.ts'
export type { ContentBlock, Conversation, ConversationFacts, Message } from './conversation.ts'
export type { Embedder } from './embedder.ts'
export { errorStatus, isMemoryError, MemoryError, MemoryErrorCode, type MemoryErrorContext } from './errors.ts'
export { isJsonObject, type JsonObject, type JsonValue, mapStrings, searchableText, toJsonValue } from './json.ts'
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
  SearchMode,
  SearchOptions,
  SearchQuery,
  ValueTypes,
  WriteOptions,
} from './memory-manager.ts'
export type {
  Address,
  Change,
  Entry,
  Found,
  MemoryStore,
  Place,
  PutOptions,
  Selection,
  StoreQuery,
  StoreStats,
  SweepSelection,
} from './memory-store.ts'
export { type MemoryScope, memoryScopes } from './scope.ts'
export {
  type ConversationArchive,
  conversationArchive,
  conversationKey,
  conversationType,
  type SessionSummary,
  sessionSummary,
  sessionSummaryKey,
  sessionSummaryType,
} from './session-records.ts'
