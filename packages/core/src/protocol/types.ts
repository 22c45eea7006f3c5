import type { MemoryScope } from '../scope.ts'

/** What an agent should achieve. Any further members are kept. */
export interface Goal {
  /** The goal in words: memories are searched by it. */
  description: string
  id?: string | undefined
  [member: string]: unknown
}

/** The required members of a goal; your own interface may have more. */
export type AnyGoal = Pick<Goal, 'description' | 'id'>

export type Outcome = 'success' | 'partial' | 'failure'

/** What was learned, in a sentence. */
export interface Lesson {
  /** Default: made from category and text, so that the same lesson is the same entry. */
  id?: string | undefined
  category: string
  text: string
  [member: string]: unknown
}

/** The required members of a lesson; your own interface may have more. */
export type AnyLesson = Pick<Lesson, 'id' | 'category' | 'text'>

export type LoopStateName = 'perceive' | 'reason' | 'act' | 'observe' | 'reflect'

/** One step of a loop as the episode records it. */
export interface LoopState {
  state: LoopStateName
  startedAt: number
  /** Milliseconds. */
  duration: number
}

export interface MemoryUpdate {
  scope: MemoryScope
  key: string
}

/** Working memory of one loop, by key. */
export interface WorkingMemory<
  Perception,
  Decision,
  Execution,
  Observation,
  Reflection,
  OwnGoal extends AnyGoal = Goal,
> {
  loopId: string
  goal: OwnGoal
  perception: Perception
  decision: Decision
  execution: Execution
  observation: Observation
  reflection: Reflection
}

/** One run of the loop, in episodic memory under `episode:<id>`. */
export interface Episode {
  type: 'episode'
  id: string
  taskId: string
  goal: Goal
  executionTrace: LoopState[]
  outcome: Outcome
  /** Milliseconds. */
  duration: number
  iterations: number
  toolsUsed: string[]
  memoryUpdates: MemoryUpdate[]
  lessonsLearned: Lesson[]
  timestamp: number
  indexedBy: { outcome: Outcome; tools: string[]; duration: 'short' | 'medium' | 'long'; complexity: number }
}
