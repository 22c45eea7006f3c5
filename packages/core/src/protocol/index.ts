export type { CachedEntry, MemoryCache } from '../front/cached-read.ts'
export { type ContextBundle, type ContextOptions, retrieveContext } from './context.ts'
export type { DrainResult } from './drain-queue.ts'
export { type MemoryEvent, observeMemory } from './events.ts'
export {
  createMemoryFallback,
  type Degradation,
  type FallbackOptions,
  type MemoryFallback,
  type WriteOutcome,
} from './fallback.ts'
export {
  type CountedLesson,
  createLearningRetriever,
  type ExecutionRecord,
  type LearningRetriever,
  type LessonGroup,
  learn,
  lessonKey,
} from './lessons.ts'
export { type LoopOptions, type LoopResult, type LoopSteps, type Reflection, runLoop } from './loop.ts'
export { createMemoryCache, type MemoryCacheOptions } from './memory-cache.ts'
export type { Operation, OperationName } from './operations.ts'
export {
  createPatternMatcher,
  type PatternMatch,
  type PatternMatcher,
  type PatternMatcherOptions,
  patternWeights,
  type Situation,
} from './pattern-matcher.ts'
export {
  type CleanupScheduler,
  type CleanupTask,
  type CleanupTurn,
  cleanupTasks,
  createCleanupScheduler,
  type SchedulerOptions,
  type Timers,
} from './scheduler.ts'
export { recordOutcome, type SuccessStatistics } from './statistics.ts'
export type {
  AnyGoal,
  AnyLesson,
  Episode,
  Goal,
  Lesson,
  LoopState,
  LoopStateName,
  MemoryUpdate,
  Outcome,
  WorkingMemory,
} from './types.ts'
export { updateEntry } from './update-entry.ts'
export {
  createInMemoryQueue,
  parseQueueCapacity,
  type QueuedWrite,
  type QueueItem,
  queueCapacity,
  queueIsClosed,
  queueIsFull,
  type WriteQueue,
} from './write-queue.ts'
