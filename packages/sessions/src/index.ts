export { type AiSdkModel, aiSdkLm, type GenerateText } from './ai-sdk-lm.ts'
export {
  type ArchiveOutcome,
  archiveSession,
  createCheckpoint,
} from './archive/archive-session.ts'
export { type ConsumedWindow, clearWindow, consumeWindow, type SeenWindow } from './archive/consume-window.ts'
export { recoverWindow } from './archive/recover.ts'
export { renderSessionSummary, renderWindow } from './archive/render-window.ts'
export { readArchives } from './archive/stored-archives.ts'
export { readWindow, type WindowOutcome } from './archive/window.ts'
export {
  applyDistill,
  type DistillExtraction,
  type DistillOptions,
  type DistillPlan,
  type DistillSection,
  planDistill,
} from './distill.ts'
export { assessHealth, type Health, type MemoryFacts } from './health.ts'
export { type OpenAiCompatibleOptions, openAiCompatibleLm } from './open-ai-compatible-lm.ts'
export type { ArchiveOptions } from './options.ts'
export { condense, type SpokenTurn } from './summary/condense.ts'
export type { KeywordCounter } from './summary/keywords.ts'
export { type SummarizeOptions, type Summary, summarize } from './summary/summarize.ts'
