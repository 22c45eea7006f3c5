export { type AiSdkModel, aiSdkLm, type GenerateText } from './ai-sdk-lm.ts'
export {
  type ArchiveOptions,
  type ArchiveOutcome,
  archiveSession,
  createCheckpoint,
} from './archive-session.ts'
export { condense, type SpokenTurn } from './condense.ts'
export {
  applyDistill,
  type DistillExtraction,
  type DistillOptions,
  type DistillPlan,
  type DistillSection,
  planDistill,
} from './distill.ts'
export { formatDuration } from './duration.ts'
export { assessHealth, type Health, type MemoryFacts } from './health.ts'
export type { KeywordCounter } from './keywords.ts'
export { type OpenAiCompatibleOptions, openAiCompatibleLm } from './open-ai-compatible-lm.ts'
export { recoverWindow } from './recover.ts'
export { renderSessionSummary, renderWindow } from './render-window.ts'
export { type SummarizeOptions, type Summary, summarize } from './summarize.ts'
export {
  type ConsumedWindow,
  clearWindow,
  consumeWindow,
  readWindow,
  type SeenWindow,
  type WindowOutcome,
} from './window.ts'
