export { type LocalEmbedder, type LocalEmbedderOptions, localEmbedder } from './local-embedder.ts'
export type { Runtime } from './runtime-options.ts'
export { workerEmbedder } from './worker-embedder.ts'
