export { type Database, rowsOf } from './database.ts'
export { migrate } from './migrate.ts'
export { asMemoryErrors } from './postgres-errors.ts'
export { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
export { type ReembedOptions, type ReembedProgress, reembed } from './reembed.ts'
export { entries, placeSizes, storeSettings, units } from './schema/entries.ts'
export {
  agents,
  citations,
  idempotencyKeys,
  memories,
  memoryLinks,
  retrievalEvents,
  systemConfig,
} from './schema/hub.ts'
export { createVectorIndex, halfVector, indexableDimensions, throughIndex } from './vector-index.ts'
