import { longestTimerMs } from '../clock.ts'
import { isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import { checkMemory } from '../front/inputs.ts'
import { evictedScope, evictionThreshold } from '../front/quotas.ts'
import type { CleanupOptions, CleanupResult, MemoryManager } from '../memory-manager.ts'
import { parseInput } from '../parse-input.ts'
import { tell } from '../tell.ts'
import { schedulerOptionsSchema } from './inputs.ts'

const minute = 60_000

/** The clean-up tasks, each with the milliseconds between two runs across all processes. */
export const cleanupTasks = {
  expire: { interval: 5 * minute, options: { threshold: 0 } },
  evict: { interval: 60 * minute, options: { scope: evictedScope, threshold: evictionThreshold } },
  archive: { interval: 24 * 60 * minute, options: { scope: 'episodic' } },
} as const satisfies Record<string, { interval: number; options: CleanupOptions }>

export type CleanupTask = keyof typeof cleanupTasks

/** The outcome of one turn. `skipped`: another process has taken it. */
export type CleanupTurn = { task: CleanupTask; startedAt: number } & (
  | { outcome: 'done'; result: CleanupResult }
  | { outcome: 'skipped' }
  | { outcome: 'failed'; error: unknown }
)

/** The timers of the platform, or of a test. */
export interface Timers {
  set(call: () => void, milliseconds: number): unknown
  clear(timer: unknown): void
  now(): number
}

export interface SchedulerOptions {
  /** Milliseconds between two runs, above zero. Default: the intervals of `cleanupTasks`. */
  intervals?: Partial<Record<CleanupTask, number>> | undefined
  /** Turns are delayed at random by up to this share of an interval, so that processes do not collide. Default 0.1. */
  jitter?: number | undefined
  random?: (() => number) | undefined
  timers?: Timers | undefined
  /** Called after every turn. Its errors are ignored. */
  onTurn?: ((turn: CleanupTurn) => void) | undefined
}

export interface CleanupScheduler extends AsyncDisposable {
  /** Starting again does nothing. */
  start(): void
  /** Plans no more turns; resolves when the turn under way has ended. */
  stop(): Promise<void>
  /** Takes a turn now, unless another process has taken it. @throws MemoryError INVALID_INPUT for an unknown task */
  run(task: CleanupTask): Promise<CleanupTurn>
}

/**
 * Cleans up at intervals: expired entries of every scope every five minutes, short-term memory beyond 80 % of its quota
 * every hour, old episodes every day. Its timers do not keep a process alive, and turns never overlap. Of several
 * processes on one memory only one takes each turn: the one that writes the turn's entry, `scheduler:<task>` in
 * short-term memory, which expires before the next turn.
 *
 * @throws MemoryError INVALID_INPUT for what is no memory, for an interval or a jitter that is out of range, and for an
 * unknown option or task
 */
export function createCleanupScheduler(
  memory: MemoryManager,
  options: SchedulerOptions = {},
): CleanupScheduler {
  checkMemory(memory)
  parseInput(schedulerOptionsSchema, options, 'options')
  const { jitter = 0.1, random = Math.random, timers = platformTimers, onTurn } = options
  for (const [task, interval] of Object.entries(options.intervals ?? {})) {
    checkTask(task)
    // `setTimeout` treats any other value as one millisecond.
    if (interval > 0 && Number.isFinite(interval)) continue
    throw new MemoryError(
      `intervals.${task} must be a number of milliseconds above 0`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  if (!(jitter >= 0 && Number.isFinite(jitter)))
    throw new MemoryError('jitter must be a share of an interval, 0 or more', MemoryErrorCode.INVALID_INPUT)
  const pending = new Map<CleanupTask, unknown>()
  let turn: Promise<unknown> = Promise.resolve()
  let started = false

  const intervalOf = (task: CleanupTask): number => options.intervals?.[task] ?? cleanupTasks[task].interval

  const take = async (task: CleanupTask): Promise<CleanupTurn> => {
    const startedAt = timers.now()
    try {
      if (!(await claim(memory, task, { interval: intervalOf(task), now: startedAt })))
        return { task, startedAt, outcome: 'skipped' }
      return { task, startedAt, outcome: 'done', result: await memory.cleanup(optionsOf(memory, task)) }
    } catch (error) {
      return { task, startedAt, outcome: 'failed', error }
    }
  }

  const run = async (task: CleanupTask): Promise<CleanupTurn> => {
    checkTask(task)
    const mine = turn.then(() => take(task))
    turn = mine
    // Nobody waits for the listener: it may itself be waiting for `stop`.
    if (onTurn) void mine.then((taken) => tell(onTurn, taken))
    return mine
  }

  const plan = (task: CleanupTask): void =>
    wait(task, intervalOf(task) * (1 + jitter * random()), () => {
      pending.delete(task)
      void run(task).then(() => {
        // After a stop and a new start, the task is already planned.
        if (started && !pending.has(task)) plan(task)
      })
    })

  const wait = (task: CleanupTask, milliseconds: number, call: () => void): void => {
    const now = Math.min(milliseconds, longestTimerMs)
    const then = milliseconds > now ? () => wait(task, milliseconds - now, call) : call
    pending.set(task, timers.set(then, now))
  }

  const scheduler: CleanupScheduler = {
    start() {
      if (started) return
      started = true
      for (const task of Object.keys(cleanupTasks) as CleanupTask[]) plan(task)
    },

    async stop() {
      started = false
      for (const timer of pending.values()) timers.clear(timer)
      pending.clear()
      await turn
    },

    run,
    [Symbol.asyncDispose]: () => scheduler.stop(),
  }
  return scheduler
}

function checkTask(task: string): void {
  if (Object.hasOwn(cleanupTasks, task)) return
  const known = Object.keys(cleanupTasks).join(', ')
  throw new MemoryError(`there is no task ${task}: the tasks are ${known}`, MemoryErrorCode.INVALID_INPUT)
}

/** Every turn removes expired entries; only the daily one archives old episodes. */
const optionsOf = (memory: MemoryManager, task: CleanupTask): CleanupOptions => ({
  ...cleanupTasks[task].options,
  ...(task === 'expire' && memory.capabilities.episodic.archive ? { archiveBefore: 0 } : {}),
})

/** Lifetime of a turn's entry as a share of the interval: short enough to have expired when the next turn is due. */
const claimShare = 0.9

const turnType = 'scheduler-turn'
const turnTag = 'scheduler'

/**
 * Whether this process gets the turn. The store decides: exactly one of several writes succeeds. The value holds the
 * time of the turn, because the entry's own expiry moves whenever somebody reads or finds it.
 */
async function claim(
  memory: MemoryManager,
  task: CleanupTask,
  { interval, now }: { interval: number; now: number },
): Promise<boolean> {
  const key = `scheduler:${task}`
  const ttl = interval * claimShare
  const value = { type: turnType, task, takenAt: now }
  const options = { ttl, index: false, tags: [turnTag] }
  try {
    // A `read` would count as an access, which prolongs the turn.
    const found = await memory.search<{ takenAt?: number }>(
      'short-term',
      { filters: { type: turnType, task }, tags: [turnTag] },
      { touch: false },
    )
    const standing = found.find((each) => each.key === key)
    if (!standing) await memory.write('short-term', key, value, { ...options, overwrite: false })
    else {
      const { takenAt = standing.metadata.updatedAt } = standing.value
      // A turn further ahead than that was dated by a wrong clock.
      if (Math.abs(now - takenAt) < ttl) return false
      const { updatedAt: ifUpdatedAt } = standing.metadata
      await memory.atomicUpdate('short-term', [{ operation: 'set', key, value, options, ifUpdatedAt }])
    }
    return true
  } catch (error) {
    if (isMemoryError(error, MemoryErrorCode.CONFLICT)) return false
    throw error
  }
}

const platformTimers: Timers = {
  set(call, milliseconds) {
    const timer = setTimeout(call, milliseconds)
    // Node's timers are objects that can let the process end; elsewhere they are numbers.
    if (typeof timer === 'object') timer.unref()
    return timer
  },
  clear: (timer) => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
  now: () => Date.now(),
}
