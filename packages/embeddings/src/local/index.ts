export { type LocalEmbedder, type LocalEmbedderOptions, localEmbedder } from './local-embedder.ts'
export type { Runtime } from './runtime.ts'
export { workerEmbedder } from './worker-embedder.ts'
