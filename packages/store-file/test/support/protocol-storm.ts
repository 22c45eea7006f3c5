import { closeSync, openSync, readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, type MemoryManager } from '@recall/core'
import { createMemoryFallback } from '@recall/core/protocol'
import { openFileStore } from '../../src/open-file-memory.ts'
import { openWriteQueue } from '../../src/write-queue.ts'
import { bundleScript, startChild } from './child-process.ts'
import type { StormOptions, StormResult } from './kill-storm.ts'
import { type Report, ring, shortTermQuota } from './protocol-storm-values.ts'
import { seededRandom } from './random.ts'
import { reportsIn } from './storm-reports.ts'
import { openSealed } from './storm-values.ts'

/**
 * Kills a process that archives, evicts, drains a queue and rotates keys, at random moments; after each kill
 * looks for everything that was acknowledged, and for anything that is there twice.
 */
export async function runProtocolStorm({ root, kills, seed }: StormOptions): Promise<StormResult> {
  const random = seededRandom(seed)
  const script = await bundleScript('protocol-storm-child.ts')
  const reports = join(root, '..', `protocol-storm-${process.pid}-${seed}.jsonl`)
  const file = openSync(reports, 'w+')
  const result: StormResult = { kills: 0, acknowledged: 0, violations: [] }
  const all: Report[] = []
  try {
    while (result.kills < kills) {
      const name = `w${++result.kills}`
      const child = startChild(script, [root, name, String(Math.floor(random() * 2 ** 31))], [file])
      // Some calls, however slow the machine is, and then at any moment of the next ones.
      for (let left = Math.floor(random() * 12); left >= 0; left--) await child.message()
      await new Promise((resolve) => setTimeout(resolve, random() * 25))
      child.process.kill('SIGKILL')
      await child.ended
      const fresh = reportsIn<Report>(reports).slice(all.length)
      all.push(...fresh)
      result.acknowledged += fresh.filter((each) => 'done' in each).length
      const isLast = result.kills === kills
      const violations = await findViolations(root, all, isLast ? all : fresh, isLast)
      result.violations.push(...violations.map((violation) => `after kill ${result.kills}: ${violation}`))
    }
  } finally {
    closeSync(file)
    unlinkSync(reports)
  }
  return result
}

async function findViolations(
  root: string,
  all: readonly Report[],
  fresh: readonly Report[],
  isLast: boolean,
): Promise<string[]> {
  const violations: string[] = []
  const stores = await openFileStore({ root })
  const policies = { quotas: { 'short-term': shortTermQuota } }
  const memory = createMemoryManager({ stores, policies, redact: 'allow', encryptionKey: ring('first') })
  const check = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    try {
      if (!(await holds())) violations.push(what)
    } catch (error) {
      violations.push(`${what}: ${(error as Error).message}`)
    }
  }
  const keysOf = (reports: readonly Report[], done: string): string[] =>
    reports.flatMap((each) => ('done' in each && each.done === done ? each.key : []))

  for (const each of fresh) if ('failed' in each) violations.push(`a clean-up failed: ${each.failed}`)
  const found = await everyEpisode(memory)
  for (const key of keysOf(all, 'episode')) {
    await check(`${key} is lost or torn`, async () => openSealed(found.get(key)?.[0]) > 0)
    if ((found.get(key)?.length ?? 0) > 1) violations.push(`${key} is there twice`)
  }
  for (const key of keysOf(fresh, 'secret')) {
    await check(`${key} is lost`, async () => openSealed(await memory.read('long-term', key)) > 0)
  }
  const [newest] = keysOf(fresh, 'recent').slice(-1)
  if (newest) await check(`${newest} was evicted first`, () => memory.exists('short-term', newest))
  await check('short-term memory is over its quota', async () => {
    const { bytes } = await stores.stats({ namespace: 'default', scope: 'short-term' })
    return bytes <= shortTermQuota
  })
  await checkQueue(root, memory, all, check)
  if (isLast) await checkFiles(root, memory, check)
  await memory.close()
  return violations
}

/** Values by key, archive included: a page shows every copy. */
async function everyEpisode(memory: MemoryManager): Promise<Map<string, unknown[]>> {
  const found = new Map<string, unknown[]>()
  for (let offset = 0; ; offset += 1000) {
    const page = await memory.search(
      'episodic',
      {},
      { limit: 1000, offset, includeArchived: true, touch: false },
    )
    for (const { key, value } of page) found.set(key, [...(found.get(key) ?? []), value])
    if (page.length < 1000) return found
  }
}

/** What was acknowledged as queued is written by whoever drains next, and nothing older stands in its place. */
async function checkQueue(
  root: string,
  memory: MemoryManager,
  all: readonly Report[],
  check: (what: string, holds: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const queue = await openWriteQueue({ folder: join(root, '..', 'queue') })
  const clock = (): number => Date.now() + 3_600_000
  const fallback = createMemoryFallback({ memory, queue, clock, onDegraded: () => {}, redact: 'allow' })
  await check('the queue is not drained', async () => {
    const { waiting, dead, superseded } = await fallback.drain()
    return waiting + dead + superseded === 0 && (await queue.items()).length === 0
  })
  const latest = new Map(
    all.flatMap((each) => ('done' in each && each.done === 'queued' ? [[each.key, each.n]] : [])),
  )
  for (const [key, n] of latest) {
    await check(
      `${key} is older than acknowledged`,
      async () => openSealed(await memory.read('long-term', key)) >= n,
    )
  }
  await queue.close()
}

/** A last clean-up finishes what was begun: then each episode is in one place, and nothing is left half-written. */
async function checkFiles(
  root: string,
  memory: MemoryManager,
  check: (what: string, holds: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  await check(
    'the last clean-up fails',
    async () => (await memory.cleanup({ archiveBefore: 1 })).errors.length === 0,
  )
  await memory.cleanup({ scope: 'episodic', archiveBefore: Date.now() + 3_600_000 })
  const names = (folder: string): string[] => readdirSync(join(root, 'memory', folder), { encoding: 'utf8' })
  await check('an episode is archived and not removed', async () => names('episodic').length === 0)
  await check('something half-written is left behind', async () => {
    return !readdirSync(root, { recursive: true, encoding: 'utf8' }).some((name) =>
      /\.tmp-|journal\.json/.test(name),
    )
  })
}
