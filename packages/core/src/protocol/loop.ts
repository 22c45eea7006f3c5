import { type Clock, systemClock } from '../clock.ts'
import { isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { parseInput } from '../parse-input.ts'
import { type ContextBundle, type ContextOptions, retrieveContext } from './context.ts'
import { loopOptionsSchema, outcomeSchema, reflectionSchema } from './inputs.ts'
import { statisticKeyOf } from './learned-keys.ts'
import { learn, lessonKey } from './lessons.ts'
import { createPatternMatcher, type PatternMatch } from './pattern-matcher.ts'
import { checkGoal, queryOf } from './query-text.ts'
import { recordOutcome } from './statistics.ts'
import type {
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

/** The result of a loop. Any further members are kept in working memory and returned. */
export interface Reflection {
  outcome: Outcome
  /** Learned for the next time: each becomes a long-term memory. */
  lessons: (Lesson | AnyLesson)[]
  /** Names of the tools that took part: episodes are found by them. */
  toolsUsed?: string[] | undefined
  /**
   * Keys of the long-term patterns and playbooks that were followed, of at most 1,014 characters each. The outcome is
   * recorded in the entry itself, or in `statistic:<key>`, with `:` in place of `#`, when the entry is plain text, is
   * absent and its key has a `#`, or its schema takes no rate.
   */
  patternsUsed?: string[] | undefined
  /** Rounds that the action took. Default 1. */
  iterations?: number | undefined
}

/**
 * The five functions of an agent. Each gets what the specification lets it read. Its result, any JSON value, is kept in
 * working memory.
 */
export interface LoopSteps<
  Perception,
  Decision,
  Execution,
  Observation,
  Result extends Reflection,
  OwnGoal extends AnyGoal = Goal,
> {
  /** Establishes the situation. `context` holds playbooks, similar successes and the session's recent context. */
  perceive(given: { goal: OwnGoal; context: ContextBundle }): Promise<Perception> | Perception
  /** Decides what to do. `patterns` are long-term memories that fit the goal. */
  reason(given: {
    goal: OwnGoal
    perception: Perception
    patterns: PatternMatch[]
  }): Promise<Decision> | Decision
  /** Carries out the decision. `toolState` holds the short-term entries tagged `tool-state`, by key. */
  act(given: {
    goal: OwnGoal
    decision: Decision
    toolState: Record<string, unknown>
  }): Promise<Execution> | Execution
  /** Determines what the action led to. */
  observe(given: { goal: OwnGoal; execution: Execution }): Promise<Observation> | Observation
  /** Judges the outcome and draws lessons. `similar` are earlier episodes, successful or not. */
  reflect(given: {
    goal: OwnGoal
    working: Omit<WorkingMemory<Perception, Decision, Execution, Observation, never, OwnGoal>, 'reflection'>
    similar: Episode[]
  }): Promise<Result> | Result
}

export interface LoopOptions {
  /** Default: a random UUID. */
  loopId?: string | undefined
  /** The task that the loop is part of. Default: the goal's id, otherwise the loop's. */
  taskId?: string | undefined
  context?: ContextOptions | undefined
  clock?: Clock | undefined
}

export interface LoopResult<Result> {
  loopId: string
  reflection: Result
  /** As episodic memory holds it, for example without secrets. */
  episode: Episode
}

/** Memories on which this process runs a loop: two loops would overwrite each other's working memory. */
const running = new WeakSet<MemoryManager>()

/**
 * Walks PERCEIVE, REASON, ACT, OBSERVE and REFLECT once, with the reads and writes of the specification. Each state's
 * result goes to working memory; at the end the episode goes to episodic memory and the lessons to long-term memory.
 * Working memory is cleared before and after. If a step fails, nothing else is written and its error is thrown
 * unchanged.
 *
 * @throws MemoryError CONFLICT when a loop runs on this memory already: give each loop its own namespace; INVALID_INPUT
 * when the goal has no description, the loop's id cannot be part of a key, another option is wrong or unknown, a step
 * returns something other than JSON, or the reflection has an unknown outcome, a lesson without a text, a category or a
 * tool that cannot be a tag, or a name that cannot be part of a key, such as one that holds a secret
 */
export async function runLoop<
  Perception,
  Decision,
  Execution,
  Observation,
  Result extends Reflection,
  OwnGoal extends AnyGoal = Goal,
>(
  memory: MemoryManager,
  goal: OwnGoal,
  steps: LoopSteps<Perception, Decision, Execution, Observation, Result, OwnGoal>,
  options: LoopOptions = {},
): Promise<LoopResult<Result>> {
  // Before the agent acts: without a key its episode would be lost.
  parseInput(loopOptionsSchema, options, 'options')
  const { loopId = crypto.randomUUID(), clock = systemClock } = options
  checkGoal(goal)
  if (running.has(memory)) throw alreadyRunning()
  running.add(memory)
  const started = clock()
  const updates: MemoryUpdate[] = []
  const trace: LoopState[] = []

  const note = async (key: string, value: unknown): Promise<void> => {
    await memory.write('working', key, value)
    updates.push({ scope: 'working', key })
  }

  /** Runs one state and keeps its result under its name. */
  const walk = async <T>(state: LoopStateName, key: string, step: () => Promise<T> | T): Promise<T> => {
    const startedAt = clock()
    const result = await step()
    trace.push({ state, startedAt, duration: clock() - startedAt })
    await note(key, result).catch((error: unknown) => {
      throw isMemoryError(error, MemoryErrorCode.INVALID_INPUT) ? cannotBeKept(state, error) : error
    })
    return result
  }

  const walkAll = async (): Promise<LoopResult<Result>> => {
    // A killed loop may have left entries behind.
    await memory.clear('working')
    await note('loopId', loopId)
    await note('goal', goal)
    const context = await retrieveContext(memory, goal, options.context)
    const perception = await walk('perceive', 'perception', () => steps.perceive({ goal, context }))
    const patterns = await createPatternMatcher(memory).findMatchingPatterns({
      description: goal.description,
    })
    const decision = await walk('reason', 'decision', () => steps.reason({ goal, perception, patterns }))
    const toolState = await readToolState(memory)
    const execution = await walk('act', 'execution', () => steps.act({ goal, decision, toolState }))
    const observation = await walk('observe', 'observation', () => steps.observe({ goal, execution }))
    const similar = await findSimilar(memory, goal)
    const working = { loopId, goal, perception, decision, execution, observation }
    const reflection = await walk('reflect', 'reflection', () => steps.reflect({ goal, working, similar }))
    parseInput(reflectionSchema, reflection, 'reflection')
    const taskId = options.taskId ?? goal.id ?? loopId
    const episode = await keepEpisode(memory, {
      loopId,
      taskId,
      goal,
      reflection: withoutRepeats(reflection),
      trace,
      updates,
      started,
      now: clock(),
    })
    return { loopId, reflection, episode }
  }

  try {
    const result = await walkAll()
    await memory.clear('working')
    return result
  } catch (error) {
    // The caller needs to know the step's error, even when clearing fails too.
    await memory.clear('working').catch(() => undefined)
    throw error
  } finally {
    running.delete(memory)
  }
}

async function readToolState(memory: MemoryManager): Promise<Record<string, unknown>> {
  const tagged = await memory.search('short-term', { tags: ['tool-state'] }, { limit: 100 })
  const ofAll = await memory.read('short-term', 'tool-state')
  const byKey = Object.fromEntries(tagged.map(({ key, value }) => [key, value]))
  return { ...(isJsonObject(ofAll) ? ofAll : {}), ...byKey }
}

async function findSimilar(memory: MemoryManager, goal: AnyGoal): Promise<Episode[]> {
  // Other programs write episodes as the specification defines them, without a type.
  const query = { text: queryOf(goal.description), filters: { outcome: { $in: outcomeSchema.options } } }
  return (await memory.search<Episode>('episodic', query, { limit: 3 })).map(({ value }) => value)
}

interface Finished {
  loopId: string
  taskId: string
  goal: AnyGoal
  reflection: Reflection
  trace: LoopState[]
  updates: MemoryUpdate[]
  started: number
  now: number
}

/** Writes the episode first, so that lessons can always be traced back to it. */
async function keepEpisode(memory: MemoryManager, finished: Finished): Promise<Episode> {
  const { loopId, reflection } = finished
  const { outcome, toolsUsed = [], patternsUsed = [] } = reflection
  const key = `episode:${loopId}`
  const updates: MemoryUpdate[] = [...finished.updates, { scope: 'episodic', key }]
  const episode = toEpisode(finished, updates)
  await memory.write('episodic', key, episode, { tags: ['execution', outcome, ...toolsUsed] })
  for (const lesson of await differing(reflection.lessons)) await learn(memory, lesson)
  for (const tool of toolsUsed) await recordOutcome(memory, statisticKeyOf(`tool:${tool}`), outcome)
  for (const pattern of patternsUsed) await recordPattern(memory, pattern, outcome)
  return (await memory.read<Episode>('episodic', key)) ?? episode
}

/** Lessons of one loop, each once: a loop that says the same in two ways has still learned it once. */
async function differing(lessons: readonly AnyLesson[]): Promise<AnyLesson[]> {
  const byKey = new Map<string, AnyLesson>()
  for (const lesson of lessons) byKey.set(await lessonKey(lesson), lesson)
  return [...byKey.values()]
}

/** A loop has one outcome, however often it used a tool or followed a pattern. */
const withoutRepeats = <Given extends Reflection>(reflection: Given): Given => {
  const { toolsUsed, patternsUsed } = reflection
  return {
    ...reflection,
    ...(toolsUsed && { toolsUsed: [...new Set(toolsUsed)] }),
    ...(patternsUsed && { patternsUsed: [...new Set(patternsUsed)] }),
  }
}

/**
 * Records an outcome in the pattern, or in an entry of its own when the pattern cannot hold a rate: it is text, such as
 * a section that a person wrote; its key is one of a section, which may not exist yet; or its schema takes no rate.
 */
async function recordPattern(memory: MemoryManager, pattern: string, outcome: Outcome): Promise<void> {
  const [known] = (await memory.batchRead('long-term', [pattern])).values()
  const canHoldRate = known === undefined ? !pattern.includes('#') : isJsonObject(known)
  try {
    if (canHoldRate) return void (await recordOutcome(memory, pattern, outcome))
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) throw error
  }
  await recordOutcome(memory, statisticKeyOf(pattern), outcome)
}

function toEpisode(
  { loopId, taskId, goal, reflection, trace, started, now }: Finished,
  memoryUpdates: MemoryUpdate[],
): Episode {
  const { outcome, lessons, toolsUsed = [], iterations = 1 } = reflection
  const duration = now - started
  return {
    type: 'episode',
    id: loopId,
    taskId,
    goal,
    executionTrace: trace,
    outcome,
    duration,
    iterations,
    toolsUsed,
    memoryUpdates,
    lessonsLearned: lessons,
    timestamp: now,
    indexedBy: {
      outcome,
      tools: toolsUsed,
      duration: duration < minute ? 'short' : duration < 10 * minute ? 'medium' : 'long',
      complexity: iterations * Math.max(1, toolsUsed.length),
    },
  }
}

const minute = 60_000

const alreadyRunning = (): MemoryError =>
  new MemoryError(
    'a loop already runs on this memory: give each loop its own namespace',
    MemoryErrorCode.CONFLICT,
    { scope: 'working' },
  )

const cannotBeKept = (state: LoopStateName, cause: MemoryError): MemoryError =>
  new MemoryError(
    `the step '${state}' returned what memory cannot hold (to return nothing, return null): ${cause.message}`,
    MemoryErrorCode.INVALID_INPUT,
    { scope: 'working', ...(cause.details ? { details: cause.details } : {}), cause },
  )
