export {
  type CallOptions,
  connectHub,
  type HubClient,
  type HubOptions,
  registerAgent,
} from './connect-hub.ts'
export type { HttpOptions } from './http.ts'
export type {
  FoundMemory,
  MemoryFacts,
  NewMemory,
  RelatedMemory,
  SavedMemory,
  SharedMemory,
} from './shared-memory.ts'
