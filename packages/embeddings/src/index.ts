export { cachedEmbedder } from './cached-embedder.ts'
export { fakeEmbedder } from './fake-embedder.ts'
export { type HttpEmbedderOptions, httpEmbedder } from './http-embedder.ts'
export {
  type FeatureExtraction,
  type TransformersOptions,
  transformersEmbedder,
} from './transformers-embedder.ts'
