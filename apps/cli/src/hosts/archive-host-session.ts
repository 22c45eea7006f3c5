import { listSessionTranscripts, splitAddress, targets } from '@recall/agents'
import {
  isMemoryError,
  type LmProvider,
  type MemoryError,
  MemoryErrorCode,
  type MemoryManager,
} from '@recall/core'
import { recoverWindow } from '@recall/sessions'
import { defaultFileSystem, type FileStore, readConfig } from '@recall/store-file'
import { createArchiver } from '../archiving/archiver.ts'
import { readForgotten } from '../memory/forgotten.ts'
import { compactionKey, compactionType } from '../memory/session-keys.ts'
import { type SessionNote, type SessionProblem, stampOf } from './session-notes.ts'
import type { Revision } from './session-revisions.ts'

/** The outcome of archiving a host's session. */
export interface ArchivedHostSession extends Pick<SessionNote, 'saved' | 'problem' | 'revision'> {
  /** Stamp of the transcript before it was read; `null` without one. */
  seen: string | null
  /** The summaries that are in the memory by now. */
  stored: NonNullable<SessionNote['summaries']>
}

interface Archiving {
  lm: LmProvider | undefined
  until: number
}

/**
 * Stores what a session has to archive. If something prevents that, it becomes the session's problem.
 *
 * @param known the state of the session, if its transcript is in a shared database
 * @param until when to give up, on the clock of `performance`
 * @throws OutOfTime then
 */
export async function archiveHostSession(
  memory: MemoryManager,
  store: FileStore,
  session: SessionNote,
  known: Revision | undefined,
  { lm, until }: Archiving,
): Promise<ArchivedHostSession> {
  const { seen, revision } = known ?? { seen: stampOf(session.transcript), revision: undefined }
  const outcome: ArchivedHostSession = { seen, revision, saved: session.saved, stored: [] }
  try {
    await rememberSummaries(memory, store, session)
    outcome.stored = session.summaries ?? []
    outcome.saved = await archiveNews(memory, store, session, outcome, { lm, until })
  } catch (error) {
    if (!isMemoryError(error)) throw error
    outcome.problem = problemOf(session, seen, error)
  }
  return outcome
}

/** @returns the form in which the session is archived now */
async function archiveNews(
  memory: MemoryManager,
  store: FileStore,
  session: SessionNote,
  { seen, revision }: Pick<ArchivedHostSession, 'seen' | 'revision'>,
  archiving: Archiving,
): Promise<SessionNote['saved']> {
  const source = session.state === 'checkpoint' ? 'checkpoint' : 'session'
  const isPromoted = session.saved === 'checkpoint' && source === 'session'
  const isUnchanged = revision === undefined ? seen === session.done : revision === session.revision
  if (seen !== null && (!isUnchanged || isPromoted)) {
    await archiveTranscripts(memory, store, session, source, archiving)
    return source
  }
  if (seen === null && isPromoted) {
    // The transcript is gone, but its checkpoint is still there.
    await recoverWindow(memory, readConfig(defaultFileSystem, store.root, store.layout).config.ephemeral)
    return source
  }
  return session.saved
}

function problemOf(
  { transcript, host, problem }: SessionNote,
  stamp: string | null,
  error: MemoryError,
): SessionProblem {
  // The stamp of a database changes with any of its sessions.
  const seen = splitAddress(transcript) === null ? (stamp ?? undefined) : undefined
  const isChanged = problem?.seen !== undefined && problem.seen !== seen
  const before = isChanged ? 0 : (problem?.tries ?? 0)
  return {
    reason: reasonOf(error, host),
    tries: before + (ofMemory.has(error.code) ? 0 : 1),
    ...(seen === undefined ? {} : { seen }),
    ...(error.details?.forgotten === true ? { isForgotten: true } : {}),
  }
}

/** The notice of a hook has no room for all formats of transcripts, and the host is known. */
function reasonOf({ message, details }: MemoryError, host: string): string {
  if (details?.formats === undefined) return message
  const title = targets.find(({ name }) => name === host)?.title ?? host
  return `${details.path} is not a transcript of ${title} that Recall can read`
}

/** Failures of the memory rather than the session, such as a full disk: they do not count as tries. */
const ofMemory: ReadonlySet<MemoryErrorCode> = new Set([
  MemoryErrorCode.UNAVAILABLE,
  MemoryErrorCode.WRITE_FAILED,
  MemoryErrorCode.SEARCH_FAILED,
  MemoryErrorCode.TIMEOUT,
  MemoryErrorCode.QUOTA_EXCEEDED,
])

/** Archives the transcripts of a session and of its helpers. */
async function archiveTranscripts(
  memory: MemoryManager,
  store: FileStore,
  session: SessionNote,
  source: 'session' | 'checkpoint',
  archiving: Archiving,
): Promise<void> {
  const { transcript: growing, cwd: project } = session
  const options = { ...archiving, resummarize: true, justEnded: true, growing, project }
  const archiver = await createArchiver(memory, store, source, options)
  const [own, ...helpers] = await listSessionTranscripts(session.transcript)
  if (own !== undefined) await archiver(own)
  let problem: MemoryError | undefined
  for (const helper of helpers) {
    try {
      await archiver(helper)
    } catch (error) {
      if (!isMemoryError(error)) throw error
      // A helper may have been forgotten without its session, and must not keep the others out.
      if (error.details?.forgotten !== true) problem ??= error
    }
  }
  if (problem) throw problem
}

/**
 * Stores the summaries that the host wrote when it compacted the session, each as a separate memory; none if a person
 * forgot the session.
 */
async function rememberSummaries(
  memory: MemoryManager,
  store: FileStore,
  { sessionId, summaries = [] }: SessionNote,
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
