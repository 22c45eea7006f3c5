export type { Database } from './database.ts'
export { migrate } from './migrate.ts'
export { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
export { entries, placeSizes } from './schema/entries.ts'
export {
  agents,
  citations,
  idempotencyKeys,
  memories,
  memoryLinks,
  retrievalEvents,
  systemConfig,
} from './schema/hub.ts'
export { createVectorIndex } from './vector-index.ts'
