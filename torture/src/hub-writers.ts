import { setTimeout as pause } from 'node:timers/promises'
import type { HubSystem } from './hub-system.ts'

const together = 6
/** Pause between the writes of one agent, in milliseconds: this measures faults, not load. */
const pauseMs = 20

/** Longest wait for anything, in milliseconds; far more than any fault takes to end. */
const mostWaitMs = 120_000

/** A text that no other write has, different enough from the others not to be a duplicate. */
const lesson = (n: number): string =>
  `Lesson ${n}: the service ${n * 7919} failed under load until its settings were raised, number ${n * 104_729}.`

/**
 * Agents that write to a hub all the time, each lesson under a key of its own, and again if they were not told that it
 * was kept. The log of what they were told is compared with the database.
 */
export async function startWriters(system: Pick<HubSystem, 'url'>) {
  const acknowledged = new Map<number, string>()
  const doubtful = new Set<number>()
  const wrong: string[] = []
  let next = 0
  let key: string | undefined
  let isOver = false

  /** A failed request counts as status 0. */
  const send = async (path: string, body?: unknown, idempotency?: string) => {
    try {
      const answer = await fetch(`${system.url}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(key ? { Authorization: `Bearer ${key}` } : {}),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(idempotency ? { 'Idempotency-Key': idempotency } : {}),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      })
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
    } catch {
      return { status: 0, json: {} as Record<string, unknown> }
    }
  }

  const save = async (n: number): Promise<number> => {
    doubtful.delete(n)
    const { status, json } = await send(
      '/memory',
      { content: lesson(n), tags: ['fault', 'test'] },
      `save-${n}`,
    )
    if (status === 201) acknowledged.set(n, json.id as string)
    else doubtful.add(n)
    // 409: a hub that died was processing it; it may be retried once that must be over.
    if (![0, 201, 409, 503, 504].includes(status)) wrong.push(`write ${n} was answered ${status}`)
    return status
  }

  const { json } = await send('/agents/register', { name: 'ada' })
  key = json.api_key as string
  const all = Array.from({ length: together }, async () => {
    while (!isOver) {
      const [again] = doubtful
      await save(again ?? next++)
      await pause(pauseMs)
    }
  })
  const stop = async (): Promise<void> => {
    isOver = true
    await Promise.all(all)
  }

  return {
    acknowledged,
    lesson,
    send,
    /** One more write than those in progress. */
    write: (): Promise<number> => save(next++),
    /** Waits until this many more writes were acknowledged. */
    async writeUntil(more: number): Promise<void> {
      const wanted = acknowledged.size + more
      const deadline = performance.now() + mostWaitMs
      while (acknowledged.size < wanted) {
        if (performance.now() > deadline) throw new Error('no write is acknowledged any more')
        await pause(pauseMs)
      }
    },
    stop,
    /** Stops, and retries unanswered writes until each has an answer. */
    async finish(): Promise<string[]> {
      await stop()
      const deadline = performance.now() + mostWaitMs
      while (doubtful.size > 0 && performance.now() < deadline) {
        for (const n of [...doubtful]) await save(n)
        await pause(pauseMs)
      }
      return [...wrong, ...[...doubtful].map((n) => `write ${n} is never acknowledged`)]
    },
  }
}

export type Writers = Awaited<ReturnType<typeof startWriters>>
