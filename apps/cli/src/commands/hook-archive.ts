import { setTimeout as wait } from 'node:timers/promises'
import { listSessionTranscripts, splitAddress } from '@recall/agents'
import {
  createMemoryManager,
  isMemoryError,
  type LmProvider,
  type MemoryError,
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
  stateOf,
} from '../hosts/host-sessions.ts'
import { type LockFile, takeArchivingLock, withNotesLocked } from '../hosts/lock-files.ts'
import { createArchiver } from '../imports/archiver.ts'
import { readForgotten } from '../memory/forgotten.ts'
import { languageModel } from '../memory/memory.ts'
import { withStore } from '../memory/with-store.ts'
import type { Io } from '../terminal/io.ts'

/**
 * Hosts may write the end of a transcript after they report the event: wait until the file is quiet, for a limited
 * time.
 */
const quietMs = 400
const mostWaitMs = 5000

/** How long a starting session waits for a process that holds the memory's lock: it may be suspended. */
const hurriedLockMs = 1000

export interface DrainOptions {
  /** Id of the session that is starting. Other sessions whose end was never reported are archived, too. */
  own?: string
  /** Milliseconds that somebody waits. Slow work, such as summaries by a model, is left to a detached process. */
  budgetMs?: number
}

/**
 * Archives all pending sessions. One process at a time does so. Another one may leave early, because the first one
 * checks for pending sessions again after it releases the lock.
 */
export async function drain(io: Io, place: MemoryPlace, options: DrainOptions = {}): Promise<void> {
  const deadline = performance.now() + (options.budgetMs ?? 0)
  // A failed session is not retried in this run: its cause will hardly be gone within a second.
  const failed = new Set<string>()
  const pending = (): HostSession[] =>
    readSessions(place).filter((session) => isPending(session, options.own) && !failed.has(eventOf(session)))
  const isHurried = options.budgetMs !== undefined
  const lm = isHurried ? undefined : languageModel(io)
  while (pending().length > 0) {
    const lock = takeArchivingLock(place)
    if (!lock) {
      if (performance.now() > deadline) return
      await wait(20)
      continue
    }
    try {
      const opening = {
        root: place.root,
        layout: place.layout.name,
        ...(isHurried ? { lockTimeoutMs: hurriedLockMs } : {}),
      }
      await withStore(io, opening, async (store) => {
        for (const session of await archiveAll(io, place, store, pending(), { ...options, lm, lock }))
          failed.add(eventOf(session))
        if (!isHurried) await removeExpired(io, store)
      })
    } finally {
      lock.release()
    }
    // Sessions that were summarised without the configured model stay pending.
    if (isHurried && (performance.now() > deadline || languageModel(io) !== undefined)) {
      io.detach?.(['hook', 'drain', '--root', place.root, '--layout', place.layout.name])
      return
    }
  }
  if (!isHurried) await embedNew(io, place)
}

/**
 * Embeds new sessions in the background, if the memory has vectors. If the model or the server is missing, the next
 * ranked search makes up for it.
 */
async function embedNew(io: Io, { root, layout }: MemoryPlace): Promise<void> {
  if (keptModel({ root, layout }) === null) return
  const { openEmbedder } = await import('../memory/embedder.ts')
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
  { own, budgetMs, lm, lock }: DrainOptions & { lm: LmProvider | undefined; lock: LockFile },
): Promise<HostSession[]> {
  const memory = createMemoryManager({ stores: store, clock: io.now })
  const failed: HostSession[] = []
  const deadline = performance.now() + (budgetMs ?? Number.POSITIVE_INFINITY)
  const waitForQuiet = createWait()
  for (const session of sessions) {
    if (performance.now() > deadline) return failed
    lock.renew()
    // A starting session cannot wait for another one's last lines; they are archived later.
    if (own === undefined) await waitForQuiet(session.transcript)
    const seen = stampOf(session.transcript)
    let { saved } = session
    let stored: HostSession['summaries']
    let problem: HostSession['problem']
    try {
      await rememberSummaries(memory, store, session)
      stored = session.summaries
      const source = session.state === 'checkpoint' ? 'checkpoint' : 'session'
      const isNew = seen !== session.done || (saved === 'checkpoint' && source === 'session')
      if (seen !== null && isNew) {
        await archiveOne(memory, store, session, source, lm)
        saved = source
      } else if (seen === null && saved === 'checkpoint' && source === 'session') {
        // The transcript is gone, but its checkpoint is still there.
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
    if (!isProvisional) settle(place, session, { done: seen, saved, problem, stored })
  }
  return failed
}

/** Failures of the memory rather than the session, such as a full disk: they do not count as tries. */
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
  const [own, ...helpers] = await listSessionTranscripts(session.transcript)
  if (own !== undefined) await archiver(own)
  let problem: MemoryError | undefined
  for (const helper of helpers) {
    try {
      await archiver(helper)
    } catch (error) {
      if (!isMemoryError(error)) throw error
      // A helper may have been forgotten without its session, and none may keep the others out.
      if (error.details?.forgotten !== true) problem ??= error
    }
  }
  if (problem) throw problem
}

/** Removes expired entries, which no search finds. Episodes stay: archiving them by age needs a request. */
async function removeExpired(io: Io, store: FileStore): Promise<void> {
  const memory = createMemoryManager({ stores: store, clock: io.now })
  for (const scope of ['working', 'short-term', 'long-term'] as const) {
    const { errors } = await memory.cleanup({ scope })
    for (const { message } of errors) io.err(`recall: not removed: ${message}\n`)
  }
}

/**
 * Stores the summaries that the host wrote when it compacted the session, each as a memory of its own; of a session
 * that a person had forgotten, none.
 */
async function rememberSummaries(
  memory: MemoryManager,
  store: FileStore,
  { sessionId, summaries = [] }: HostSession,
): Promise<void> {
  if (summaries.length === 0) return
  const isForgotten = readForgotten(store)
  for (const { id, text } of summaries) {
    const key = compactionKey(sessionId, id)
    if (isForgotten({ scope: 'episodic', namespace: memory.namespace, key })) continue
    await memory.write('episodic', key, text, {
      type: compactionType,
      tags: ['compaction'],
    })
  }
}

/** Records what was done. Events that arrived meanwhile, and summaries that are not stored, stay pending. */
function settle(
  place: MemoryPlace,
  session: HostSession,
  {
    done,
    saved,
    problem,
    stored = [],
  }: { done: string | null; stored: HostSession['summaries'] } & Pick<HostSession, 'saved' | 'problem'>,
): void {
  withNotesLocked(place, () => {
    const now = readSession(place, session.sessionId) ?? session
    const { summaries = [], problem: _, ...rest } = now
    const left = summaries.filter(({ id }) => !stored.some((each) => each.id === id))
    const isSameEvent = now.state === session.state && now.at === session.at
    // A checkpoint of which something is left is tried again: an open session would be archived as one that has ended.
    const isSaved = isSameEvent && now.state === 'checkpoint' && !problem && left.length === 0
    saveSession(place, {
      ...rest,
      state: isSaved ? 'open' : now.state,
      ...(done === null || problem ? {} : { done }),
      ...(saved === undefined ? {} : { saved }),
      ...(left.length > 0 ? { summaries: left } : {}),
      ...(problem ? { problem } : {}),
    })
  })
}

/** Waits until a transcript has stopped growing; only once for a database, in which other sessions may go on. */
function createWait(): (transcript: string) => Promise<void> {
  const awaited = new Set<string>()
  return async (transcript) => {
    const path = splitAddress(transcript)?.file ?? transcript
    for (let waited = 0; waited < mostWaitMs && !awaited.has(path); waited += 100) {
      const state = stateOf(transcript)
      if (state !== null && Date.now() - state.changedAt >= quietMs) break
      await wait(100)
    }
    awaited.add(path)
  }
}

/** Removes from the window what the starting session was given; what did not fit stays for the next one. */
export async function clearWindow(io: Io, place: MemoryPlace, told: string): Promise<void> {
  const opening = { root: place.root, layout: place.layout.name, lockTimeoutMs: hurriedLockMs }
  await withStore(io, opening, async (store) => {
    const memory = createMemoryManager({ stores: store, clock: io.now })
    const { entries, notes } = await consumeWindow(memory)
    const seen = entries.filter(
      ({ sessionId, date, summary }) =>
        told.includes(`## Session ${sessionId} — ${date}`) && told.includes(summary.replaceAll('\r\n', '\n')),
    )
    const areNotesSeen = notes?.split('\n').every((line) => told.includes(line.trim()))
    await clear(memory, { entries: seen, notes: areNotesSeen ? notes : undefined }, { clock: io.now })
  })
}
