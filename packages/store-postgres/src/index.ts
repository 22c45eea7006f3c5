export { type Database, prepared, rowsOf } from './engines/database.ts'
export { asMemoryErrors } from './engines/postgres-errors.ts'
export { keepTextConfiguration } from './engines/text-configuration.ts'
export { liftTimeLimit } from './engines/time-limit.ts'
export { heldBytes } from './entries/held-bytes.ts'
export { sweepAll } from './entries/sweep-all.ts'
export { migrate, pendingMigrations } from './migrate.ts'
export { createPostgresStore, type PostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
export { type ReembedOptions, type ReembedProgress, reembed } from './reembed.ts'
export { entries, placeSizes } from './schema/entries.ts'
export {
  agents,
  citations,
  idempotencyKeys,
  memories,
  memoryLinks,
  memoryQuality,
  privateNamespaces,
  rateLimits,
  retrievalEvents,
  systemConfig,
  trustLevels,
  vouches,
} from './schema/hub.ts'
export {
  createVectorIndexes,
  indexableDimensions,
  indexedType,
  indexedVector,
  type VectorColumn,
  type VectorIndex,
  vectorIndexNames,
  walkingIndex,
} from './search/vector-index.ts'
