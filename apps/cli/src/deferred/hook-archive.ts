import { setTimeout as wait } from 'node:timers/promises'
import { splitAddress } from '@recall/agents'
import { createMemoryManager, type LmProvider, windowHeading } from '@recall/core'
import { clearWindow, consumeWindow } from '@recall/sessions'
import { type FileStore, keptModel } from '@recall/store-file'
import { OutOfTime } from '../archiving/archiver.ts'
import { type ArchivedHostSession, archiveHostSession } from '../hosts/archive-host-session.ts'
import { type LockFile, takeArchivingLock, withNotesLocked } from '../hosts/lock-files.ts'
import {
  hurriedLockMs,
  isPending,
  type MemoryPlace,
  readNote,
  readNotes,
  type SessionNote,
  saveNote,
  stateOf,
} from '../hosts/session-notes.ts'
import { createRevisionReader } from '../hosts/session-revisions.ts'
import { languageModel } from '../memory/language-model.ts'
import { removeExpired } from '../memory/remove-expired.ts'
import { withStore } from '../memory/with-store.ts'
import type { Io } from '../terminal/io.ts'

export interface DrainOptions {
  /** Id of the session whose start triggers this. Other sessions whose end was never reported are archived, too. */
  own?: string
  /** Milliseconds that the caller waits. Slow work, such as summaries by a model, is left to a detached process. */
  budgetMs?: number
}

/**
 * Archives all pending sessions. Only one process at a time does so. Another one may leave early, because the first one
 * checks for pending sessions again after it releases the lock; open sessions, which that check ignores, wait for the
 * next start.
 */
export async function drain(io: Io, place: MemoryPlace, options: DrainOptions = {}): Promise<void> {
  const { own, budgetMs } = options
  const deadline = performance.now() + (budgetMs ?? 0)
  const isHurried = budgetMs !== undefined
  let asked: { model: LmProvider | undefined } | undefined
  const tried = new Set<string>()
  const pending = (): SessionNote[] =>
    readNotes(place).filter((session) => isPending(session, own) && !tried.has(eventOf(session)))
  while (pending().length > 0) {
    const lock = takeArchivingLock(place)
    if (!lock) {
      if (performance.now() > deadline) return
      await wait(20)
      continue
    }
    // Opened only if a session waits, and once: it reports what is wrong with its settings.
    asked ??= { model: languageModel(io) }
    const { model } = asked
    // Sessions that were summarised without the configured model stay pending, for the detached process.
    const isProvisional = isHurried && model !== undefined
    const lockTimeout = isHurried ? { lockTimeoutMs: hurriedLockMs } : {}
    try {
      await withStore(io, { root: place.root, layout: place.layout.name, ...lockTimeout }, async (store) => {
        const until = isHurried ? deadline : Number.POSITIVE_INFINITY
        const run = { until, lm: isHurried ? undefined : model, isProvisional, lock }
        for (const session of await archiveAll(io, place, store, pending(), run)) tried.add(eventOf(session))
        if (isHurried) return
        const { problems } = await removeExpired(store, io.now())
        for (const problem of problems) io.err(`recall: not removed: ${problem}\n`)
        // What a search leaves to others, because it takes long in a large memory.
        store.reindex({ full: false })
      })
    } finally {
      lock.release()
    }
    if (isProvisional || (isHurried && performance.now() > deadline)) {
      const starting = own === undefined ? [] : [`--starting=${own}`]
      io.detach?.(['hook', 'drain', '--root', place.root, '--layout', place.layout.name, ...starting])
      return
    }
  }
  if (!isHurried) await embedNew(io, place)
}

/** A session that was tried in this run is tried again once something else happens to it. */
const eventOf = ({ sessionId, at }: SessionNote): string => `${sessionId} ${at}`

interface ArchiveRun {
  /** When to leave the rest to another process, on the clock of `performance`. */
  until: number
  lm: LmProvider | undefined
  /** Whether everything must be done again later, with the model. */
  isProvisional: boolean
  lock: LockFile
}

/**
 * @returns the sessions that should not be tried again in this run: those that could not be archived, as the cause will
 * hardly be gone within a second, and open ones, which may be in progress and keep growing
 */
async function archiveAll(
  io: Io,
  place: MemoryPlace,
  store: FileStore,
  sessions: readonly SessionNote[],
  { until, lm, isProvisional, lock }: ArchiveRun,
): Promise<SessionNote[]> {
  const memory = createMemoryManager({ stores: store, clock: io.now })
  const tried: SessionNote[] = []
  const waitForQuiet = createQuietWait(io)
  const revisionOf = createRevisionReader(sessions)
  for (const session of sessions.toSorted(newFirst)) {
    if (performance.now() > until) break
    lock.renew()
    // A starting session cannot wait for another one's last lines; they are archived later.
    if (until === Number.POSITIVE_INFINITY) await waitForQuiet(session.transcript)
    const revision = await revisionOf(session.transcript)
    const archiving = archiveHostSession(memory, store, session, revision, { lm, until })
    const outcome = await archiving.catch(unlessOutOfTime)
    if (outcome === null) break
    if (outcome.problem || session.state === 'open') tried.push(session)
    if (outcome.problem || !isProvisional) settle(place, session, outcome)
  }
  return tried
}

function unlessOutOfTime(error: unknown): null {
  if (error instanceof OutOfTime) return null
  throw error
}

/** Sessions that were never archived come first, then by the time of their last event, oldest first. */
const newFirst = (a: SessionNote, b: SessionNote): number =>
  Number(a.done !== undefined) - Number(b.done !== undefined) || a.at - b.at

/** Records what was done. Events that arrived meanwhile, and summaries that are not stored, stay pending. */
function settle(
  place: MemoryPlace,
  session: SessionNote,
  { seen, revision, saved, stored, problem }: ArchivedHostSession,
): void {
  withNotesLocked(place, () => {
    const current = readNote(place, session.sessionId) ?? session
    const { summaries = [], problem: _, ...rest } = current
    const left = summaries.filter(({ id }) => !stored.some((each) => each.id === id))
    const isSameEvent = current.state === session.state && current.at === session.at
    // A checkpoint with something left is tried again: an open session would be archived as one that has ended.
    const isSaved = isSameEvent && current.state === 'checkpoint' && !problem && left.length === 0
    saveNote(place, {
      ...rest,
      state: isSaved ? 'open' : current.state,
      ...(seen === null || problem ? {} : { done: seen, revision }),
      ...(saved === undefined ? {} : { saved }),
      ...(left.length > 0 ? { summaries: left } : {}),
      ...(problem ? { problem } : {}),
    })
  })
}

/**
 * Hosts may write the end of a transcript after they report the event: wait, for a limited time, until the file is
 * quiet.
 */
const quietMs = 400
const mostWaitMs = 5000

/** Waits until a transcript has stopped growing; only once for a database, where other sessions may go on. */
function createQuietWait({ pause = wait }: Io): (transcript: string) => Promise<void> {
  const awaited = new Set<string>()
  return async (transcript) => {
    const path = splitAddress(transcript)?.file ?? transcript
    for (let waited = 0; waited < mostWaitMs && !awaited.has(path); waited += 100) {
      const state = stateOf(transcript)
      if (state !== null && Date.now() - state.changedAt >= quietMs) break
      await pause(100)
    }
    awaited.add(path)
  }
}

/**
 * Embeds new sessions in the background, if the memory has vectors. If the model or the server is missing, the next
 * ranked search makes up for it.
 */
async function embedNew(io: Io, { root, layout }: MemoryPlace): Promise<void> {
  if (keptModel({ root, layout }) === null) return
  const { openEmbedder, tellRefused } = await import('../memory/embedder.ts')
  try {
    const embedder = await openEmbedder(io)
    const place = { root, layout: layout.name, embedder }
    const caughtUp = await withStore(io, place, (store) => store.vectors?.catchUp({ now: io.now() }))
    if (caughtUp?.refused) tellRefused(io, caughtUp.refused)
  } catch (error) {
    io.err(`recall: new sessions got no vectors: ${(error as Error).message}\n`)
  }
}

/** Removes from the window what the starting session was given; what did not fit stays for the next one. */
export async function clearToldWindow(io: Io, place: MemoryPlace, told: string): Promise<void> {
  const opening = { root: place.root, layout: place.layout.name, lockTimeoutMs: hurriedLockMs }
  await withStore(io, opening, async (store) => {
    const memory = createMemoryManager({ stores: store, clock: io.now })
    const { entries, notes } = await consumeWindow(memory)
    const seen = entries.filter(
      ({ sessionId, date, summary }) =>
        told.includes(windowHeading(sessionId, date)) && told.includes(summary.replaceAll('\r\n', '\n')),
    )
    const seenNotes = notes !== undefined && areTold(notes, told) ? notes : undefined
    await clearWindow(memory, { entries: seen, notes: seenNotes }, { clock: io.now })
  })
}

/** Whether all notes are among what was told, as whole entries: a session may say the same as a note. */
function areTold(notes: string, told: string): boolean {
  let left = linesIn(notes)
  for (const entry of told.split(/^(?:---[ \t]*$|(?=## Session ))/m)) {
    const lines = linesIn(entry)
    if (lines.every((line, i) => line === left[i])) left = left.slice(lines.length)
  }
  return left.length === 0
}

/** Lines without blank ones and separators, which not all notes have between them. */
const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== '---')
