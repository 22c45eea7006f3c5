import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { splitAddress } from '@recall/agents'
import {
  createMemoryManager,
  isMemoryError,
  type LmProvider,
  MemoryErrorCode,
  type MemoryManager,
} from '@recall/core'
import { clearWindow as clear, consumeWindow, recoverWindow } from '@recall/sessions'
import { defaultFileSystem, type FileStore, keptModel, readConfig } from '@recall/store-file'
import {
  compactionKey,
  compactionType,
  type HostSession,
  isPending,
  type MemoryPlace,
  neverAgain,
  readSession,
  readSessions,
  saveSession,
  stampOf,
} from '../host-sessions.ts'
import type { Io } from '../io.ts'
import { languageModel } from '../memory.ts'
import { withStore } from '../with-store.ts'
import { createArchiver, listTranscriptsOf } from './archive.ts'

/** Hosts write the end of a transcript after they have told of it: it is awaited, but not for ever. */
const quietMs = 400
const mostWaitMs = 5000
/** Whoever holds the lock longer than this hangs, or its process id belongs to another program by now. */
const staleLockMs = 10 * 60_000

export interface DrainOptions {
  /** The session that is starting: others that never ended are archived too. */
  own?: string
  /**
   * Somebody waits so many milliseconds for what can be done in them: what takes longer, such as a model's summary, is
   * left to a process of its own.
   */
  budgetMs?: number
}

/**
 * Archives what sessions have left to do. Only one process does so at a time; whoever comes second may go,
 * since the first looks once more after it has let go of the lock.
 */
export async function drain(io: Io, place: MemoryPlace, options: DrainOptions = {}): Promise<void> {
  const deadline = performance.now() + (options.budgetMs ?? 0)
  // What failed is tried again another time: the cause is hardly gone within a second.
  const failed = new Set<string>()
  const pending = (): HostSession[] =>
    readSessions(place).filter((session) => isPending(session, options.own) && !failed.has(eventOf(session)))
  const isHurried = options.budgetMs !== undefined
  const lm = isHurried ? undefined : languageModel(io)
  const lock = join(place.root, place.layout.internal, 'archiving.lock')
  while (pending().length > 0) {
    if (!takeLock(lock)) {
      if (performance.now() > deadline) return
      await wait(20)
      continue
    }
    try {
      await withStore(io, { root: place.root, layout: place.layout.name }, async (store) => {
        for (const session of await archiveAll(io, place, store, pending(), { ...options, lm }))
          failed.add(eventOf(session))
        if (!isHurried) await removeExpired(io, store)
      })
    } finally {
      rmSync(lock, { force: true })
    }
    // What was summarised without a model stays pending while there is one.
    if (isHurried && (performance.now() > deadline || languageModel(io) !== undefined)) {
      io.detach?.(['hook', 'drain', '--root', place.root, '--layout', place.layout.name])
      return
    }
  }
  if (!isHurried) await embedNew(io, place)
}

/**
 * Where a memory finds by meaning, what was archived gets its vectors now, while nobody waits. What cannot be done,
 * for want of the model or of a server, the next ranked search does.
 */
async function embedNew(io: Io, { root, layout }: MemoryPlace): Promise<void> {
  if (keptModel({ root, layout }) === null) return
  const { openEmbedder } = await import('../embedder.ts')
  try {
    const embedder = await openEmbedder(io)
    await withStore(io, { root, layout: layout.name, embedder }, (store) => store.vectors?.catchUp())
  } catch (error) {
    io.err(`recall: new sessions got no vectors: ${(error as Error).message}\n`)
  }
}

const eventOf = ({ sessionId, at }: HostSession): string => `${sessionId} ${at}`

/** @returns the sessions that could not be archived */
async function archiveAll(
  io: Io,
  place: MemoryPlace,
  store: FileStore,
  sessions: readonly HostSession[],
  { own, budgetMs, lm }: DrainOptions & { lm: LmProvider | undefined },
): Promise<HostSession[]> {
  const memory = createMemoryManager({ stores: store, clock: io.now })
  const failed: HostSession[] = []
  const deadline = performance.now() + (budgetMs ?? Number.POSITIVE_INFINITY)
  for (const session of sessions) {
    if (performance.now() > deadline) return failed
    // A session that starts cannot wait for another one's last words; they are archived when they are there.
    const seen = own === undefined ? await quietStamp(session.transcript) : stampOf(session.transcript)
    let { saved } = session
    let problem: HostSession['problem']
    try {
      await rememberSummaries(memory, session)
      const source = session.state === 'checkpoint' ? 'checkpoint' : 'session'
      const isNew = seen !== session.done || (saved === 'checkpoint' && source === 'session')
      if (seen !== null && isNew) {
        await archiveOne(memory, store, session, source, lm)
        saved = source
      } else if (seen === null && saved === 'checkpoint' && source === 'session') {
        // Its transcript is gone, what was saved of it is not.
        await recoverWindow(memory, readConfig(defaultFileSystem, place.root, place.layout).config.ephemeral)
        saved = source
      }
    } catch (error) {
      if (!isMemoryError(error)) throw error
      const isFinal = error.details?.forgotten === true
      const tries = (session.problem?.tries ?? 0) + (ofMemory.has(error.code) ? 0 : 1)
      problem = { reason: error.message, tries: isFinal ? neverAgain : tries }
      failed.push(session)
    }
    const isProvisional = budgetMs !== undefined && languageModel(io) !== undefined && !problem
    if (!isProvisional) settle(place, session, { done: seen, saved, problem })
  }
  return failed
}

/** A full disk, or a folder that is not mounted, says nothing of the session: for that none is given up. */
const ofMemory: ReadonlySet<MemoryErrorCode> = new Set([
  MemoryErrorCode.UNAVAILABLE,
  MemoryErrorCode.WRITE_FAILED,
  MemoryErrorCode.SEARCH_FAILED,
  MemoryErrorCode.TIMEOUT,
  MemoryErrorCode.QUOTA_EXCEEDED,
])

async function archiveOne(
  memory: MemoryManager,
  store: FileStore,
  session: HostSession,
  source: 'session' | 'checkpoint',
  lm: LmProvider | undefined,
): Promise<void> {
  const archiver = await createArchiver(memory, store, source, { lm, resummarize: true })
  for (const path of await listTranscriptsOf(session.transcript)) await archiver(path)
}

/** What is over is found by nobody; its files need not stay. Episodes do: an archive by age is for whoever asks for it. */
async function removeExpired(io: Io, store: FileStore): Promise<void> {
  const memory = createMemoryManager({ stores: store, clock: io.now })
  for (const scope of ['working', 'short-term', 'long-term'] as const) {
    const { errors } = await memory.cleanup({ scope })
    for (const { message } of errors) io.err(`recall: not removed: ${message}\n`)
  }
}

/** What the host said when it compacted the session is a memory of its own. */
async function rememberSummaries(
  memory: MemoryManager,
  { sessionId, summaries = [] }: HostSession,
): Promise<void> {
  for (const { id, text } of summaries) {
    await memory.write('episodic', compactionKey(sessionId, id), text, {
      type: compactionType,
      tags: ['compaction'],
    })
  }
}

/** Notes what was done. What came in meanwhile, another event or more summaries, is still to be done. */
function settle(
  place: MemoryPlace,
  session: HostSession,
  { done, saved, problem }: { done: string | null } & Pick<HostSession, 'saved' | 'problem'>,
): void {
  const now = readSession(place, session.sessionId) ?? session
  const { summaries = [], problem: _, ...rest } = now
  const left = summaries.filter(({ id }) => !session.summaries?.some((each) => each.id === id))
  const isSameEvent = now.state === session.state && now.at === session.at
  saveSession(place, {
    ...rest,
    state: isSameEvent && now.state === 'checkpoint' ? 'open' : now.state,
    ...(done === null || problem ? {} : { done }),
    ...(saved === undefined ? {} : { saved }),
    ...(left.length > 0 ? { summaries: left } : {}),
    ...(problem ? { problem } : {}),
  })
}

/** State of a transcript that has stopped growing; `null` when there is none. */
async function quietStamp(transcript: string): Promise<string | null> {
  const path = splitAddress(transcript)?.file ?? transcript
  for (let waited = 0; waited < mostWaitMs; waited += 100) {
    const age = ageOf(path)
    if (age !== null && age >= quietMs) break
    await wait(100)
  }
  return stampOf(transcript)
}

function ageOf(path: string): number | null {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return null
  }
}

/** Takes out of the window what the session that starts has been given; what there was no room for waits for the next. */
export async function clearWindow(io: Io, place: MemoryPlace, told: string): Promise<void> {
  await withStore(io, { root: place.root, layout: place.layout.name }, async (store) => {
    const memory = createMemoryManager({ stores: store, clock: io.now })
    const { entries, notes } = await consumeWindow(memory)
    const seen = entries.filter(({ sessionId, date }) => told.includes(`## Session ${sessionId} — ${date}`))
    const areNotesSeen = notes?.split('\n').every((line) => told.includes(line.trim()))
    await clear(memory, { entries: seen, notes: areNotesSeen ? notes : undefined }, { clock: io.now })
  })
}

function takeLock(path: string): boolean {
  mkdirSync(dirname(path), { recursive: true })
  try {
    const descriptor = openSync(path, 'wx')
    writeSync(descriptor, String(process.pid))
    closeSync(descriptor)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (isHeld(path)) return false
    rmSync(path, { force: true })
    return takeLock(path)
  }
}

/** Held by a process that lives. One that was killed has left the file behind. */
function isHeld(path: string): boolean {
  try {
    const age = Date.now() - statSync(path).mtimeMs
    const pid = Number(readFileSync(path, 'utf8'))
    if (pid === 0) return age < 1000
    if (age > staleLockMs) return false
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
