import { existsSync } from 'node:fs'
import {
  contextOutput,
  type HookInput,
  isToldAlready,
  isToldWithPrompt,
  parseHookInput,
  silence,
  transcriptOf,
} from '@recall/agents'
import { redactText, stripRecalled } from '@recall/core'
import { createFolder } from '@recall/core/process'
import { defaultFileSystem, layoutOf } from '@recall/store-file'
import { sha256 } from '../digest.ts'
import { exitCodes } from '../exit-codes.ts'
import { hookEvents } from '../hosts/hook-events.ts'
import { withNotesLocked } from '../hosts/lock-files.ts'
import { nothingToTell, type SessionContext, sessionContext } from '../hosts/session-context.ts'
import {
  deleteOldNotes,
  isPending,
  type MemoryPlace,
  readNote,
  readNotes,
  type SessionNote,
  saveNote,
} from '../hosts/session-notes.ts'
import { findOwnRoot, type RootOptions } from '../memory/find-root.ts'
import { requireWired } from '../memory/receipts.ts'
import { quoted } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { watchOutput } from '../terminal/watch-output.ts'

export interface HookOptions extends RootOptions {
  /** Empty the window after it was given to the session. */
  clear?: boolean
  /** Id of the session whose start left work to a drain. */
  starting?: string
}

/** How long a starting session waits at most for earlier sessions to be archived, in milliseconds. */
const startBudgetMs = 4000

/**
 * Handles one event of a host, in a short process. It fails open: after any error the exit code is 0, and standard
 * output holds only what the host expects. Slow work is left to a detached process.
 */
export async function hook(io: Io, event: string, options: HookOptions): Promise<number> {
  const { watched, isAnswered } = watchOutput(io)
  const input = event === 'drain' ? null : parseHookInput((await io.readPayload?.()) ?? '')
  let problem: string | undefined
  try {
    await handle(watched, event, input, options)
  } catch (error) {
    problem = `${error instanceof Error ? error.message : String(error)}${remedyFor(io, event, input)}`
    // Hosts write this to their debug logs.
    io.err(`recall: ${problem}\n`)
  }
  // Some hosts treat a missing answer as a broken hook, so they get one after an error, too.
  const isTold = event === 'session-start' && problem !== undefined
  if (input && !isAnswered())
    io.out(isTold ? contextOutput(input, '', `Recall: ${problem}`) : silence(input.host))
  return exitCodes.fine
}

/** What to do where a session may have left no record, which a later start would find. */
function remedyFor(io: Io, event: string, input: HookInput | null): string {
  if (event === 'session-start')
    return ". Once that is mended, 'recall import' archives the sessions that ended meanwhile"
  const transcript = event === 'session-end' && input !== null ? transcriptOf(input, io) : undefined
  return transcript === undefined ? '' : `. When that is mended, run: recall import ${quoted(transcript)}`
}

async function handle(io: Io, event: string, input: HookInput | null, options: HookOptions): Promise<void> {
  if (event !== 'drain' && input === null) {
    io.err('recall: the host did not pass a JSON object with a session_id\n')
    return
  }
  if (!hookEvents.includes(event)) {
    // The settings may come from a newer version.
    io.err(`recall: there is no event '${event}': ${hookEvents.join(', ')}\n`)
    return
  }
  const root = findOwnRoot(io, options)
  requireWired(io, root)
  // If the memory was deleted after it was removed from the hosts, a leftover hook must not create a new one.
  if (options.root !== undefined && !existsSync(root)) return
  createFolder(root, 0o700)
  const place: MemoryPlace = {
    root,
    layout: layoutOf(defaultFileSystem, root, options.layout),
  }
  if (input === null) {
    const { drain } = await import('../deferred/hook-archive.ts')
    return drain(io, place, options.starting === undefined ? {} : { own: options.starting })
  }
  switch (event) {
    case 'session-start':
      return start(io, place, input, options)
    case 'turn-start':
      return startTurn(io, place, input, options)
    case 'prompt':
      return (await import('../deferred/hook-prompt.ts')).recallPrompt(io, place, input)
    case 'post-compact':
    case 'pre-compact':
      note(io, place, input, 'checkpoint')
      break
    case 'session-end':
      note(io, place, input, 'ended')
      break
    case 'stop':
      note(io, place, input, 'open')
      break
  }
  if (event !== 'stop') io.detach?.(['hook', 'drain', '--root', root, '--layout', place.layout.name])
}

async function start(io: Io, place: MemoryPlace, input: HookInput, options: HookOptions): Promise<void> {
  let pending: SessionNote[] = []
  const problems: string[] = []
  // A failure, such as a full disk, must not stop the session from being told what is known.
  const attempt = async (work: () => Promise<void>, remedy = ''): Promise<void> => {
    try {
      await work()
    } catch (error) {
      const problem = `${(error as Error).message}${remedy}`
      io.err(`recall: ${problem}\n`)
      problems.unshift(problem)
    }
  }
  await attempt(async () => {
    pending = readNotes(place).filter((session) => isPending(session, input.sessionId))
    if (pending.length > 0) {
      const { drain } = await import('../deferred/hook-archive.ts')
      await drain(io, place, { own: input.sessionId, budgetMs: startBudgetMs })
    }
    deleteOldNotes(place, io.now(), input.sessionId)
  })
  await attempt(
    async () => note(io, place, input, 'open', await forkOf(io, place, input)),
    remedyFor(io, 'session-start', input),
  )

  const warn = (text: string): void => {
    io.err(`recall: not told: ${text}\n`)
    problems.push(text)
  }
  const context = isToldAlready(input) ? nothingToTell : sessionContext(place, input.host, warn)
  const notice = noticeOf(place, pending, context, problems)
  const isToldLater = isToldWithPrompt(input)
  const text = isToldLater ? '' : context.text
  if (text !== '' || notice !== '') io.out(contextOutput(input, text, notice))
  if (!isToldLater && input.source !== 'compact') await clearGiven(io, place, context, options)
}

/** The sessions that a starting session was forked from, unless that is known. */
async function forkOf(io: Io, place: MemoryPlace, input: HookInput): Promise<Pick<SessionNote, 'origins'>> {
  const transcript = transcriptOf(input, io)
  // Of a new session there is no transcript yet.
  if (transcript === undefined || !existsSync(transcript)) return {}
  if (readNote(place, input.sessionId)?.origins !== undefined) return {}
  try {
    const { originsIn } = await import('../deferred/session-origins.ts')
    const origins = await originsIn(transcript)
    return origins.length > 0 ? { origins } : {}
  } catch (error) {
    // Archiving the session reports what is wrong with its transcript.
    io.err(`recall: ${(error as Error).message}\n`)
    return {}
  }
}

/** Gives a session, with its first prompt, what memory knows, and again with the next prompt after it was compacted. */
async function startTurn(io: Io, place: MemoryPlace, input: HookInput, options: HookOptions): Promise<void> {
  const earlier = readNote(place, input.sessionId)
  const isTold = !isToldWithPrompt(input) || earlier?.isTold === true
  const warn = (text: string): void => io.err(`recall: not told: ${text}\n`)
  const context = isTold ? nothingToTell : sessionContext(place, input.host, warn)
  if (context.text !== '') io.out(contextOutput(input, context.text))
  note(io, place, input, 'open', { isTold: true })
  await clearGiven(io, place, context, options)
}

/** Printing comes first: a crash in between shows the window twice rather than never. */
async function clearGiven(
  io: Io,
  place: MemoryPlace,
  { window }: SessionContext,
  { clear }: HookOptions,
): Promise<void> {
  if (!clear || window === '' || !(await io.outputDelivered())) return
  await (await import('../deferred/hook-archive.ts')).clearToldWindow(io, place, window)
}

/** The notice for the person; empty when nothing was loaded and nothing failed. */
function noticeOf(
  place: MemoryPlace,
  pending: readonly SessionNote[],
  { sessions, window, isCurated }: SessionContext,
  problems: readonly string[],
): string {
  const failed = pending
    .map(({ sessionId }) => readNote(place, sessionId)?.problem?.reason)
    .filter((reason) => reason !== undefined)
  const told = [
    ...(sessions === 0 ? [] : [sessions === 1 ? 'the last session' : `the last ${sessions} sessions`]),
    ...(sessions === 0 && window !== '' ? ['notes'] : []),
    ...(isCurated ? ['curated memory'] : []),
  ]
  const parts = [
    ...(told.length > 0 ? [`${told.join(' and ')} loaded.`] : []),
    ...(failed.length > 0 ? [`Not archived: ${failed[0]}`] : problems.slice(0, 1)),
  ]
  return parts.length > 0 ? `Recall: ${parts.join(' ')}` : ''
}

/** Records durably what is known about a session; writes nothing when nothing is new. */
function note(
  io: Io,
  place: MemoryPlace,
  input: HookInput,
  state: SessionNote['state'],
  reported: Pick<SessionNote, 'isTold' | 'origins'> = {},
): void {
  const news = (): SessionNote | undefined => newsOf(io, place, input, { state, ...reported })
  if (news() === undefined) return
  withNotesLocked(place, () => {
    // Read again: another hook of the session may have noted something meanwhile.
    const session = news()
    if (session !== undefined) saveNote(place, session)
  })
}

/** What is now known about a session; `undefined` when nothing is new. */
function newsOf(
  io: Io,
  place: MemoryPlace,
  input: HookInput,
  reported: Pick<SessionNote, 'state' | 'isTold' | 'origins'>,
): SessionNote | undefined {
  const transcript = transcriptOf(input, io)
  const earlier = readNote(place, input.sessionId)
  const path = transcript ?? earlier?.transcript
  const summary = input.compactSummary === undefined ? [] : [compactSummary(input.compactSummary)]
  if (path === undefined) return undefined
  // The drain may not have reached a checkpoint yet.
  const state = reported.state === 'open' && earlier?.state === 'checkpoint' ? 'checkpoint' : reported.state
  const isTold = reported.isTold === true || (earlier?.isTold === true && reported.state !== 'checkpoint')
  const origins = earlier?.origins ?? reported.origins
  const isNew =
    earlier?.state !== state ||
    (earlier.isTold ?? false) !== isTold ||
    earlier.transcript !== path ||
    earlier.origins !== origins ||
    summary.length > 0 ||
    io.now() - earlier.at > 3600_000
  if (!isNew) return undefined
  const cwd = earlier?.cwd ?? input.cwd
  const others = (earlier?.summaries ?? []).filter(({ id }) => id !== summary[0]?.id)
  return {
    ...(earlier?.done === undefined ? {} : { done: earlier.done, revision: earlier.revision }),
    ...(earlier?.saved === undefined ? {} : { saved: earlier.saved }),
    sessionId: input.sessionId,
    host: input.host,
    transcript: path,
    ...(cwd === undefined ? {} : { cwd }),
    ...(origins === undefined ? {} : { origins }),
    at: io.now(),
    state,
    ...(isTold ? { isTold } : {}),
    ...(others.length + summary.length > 0 ? { summaries: [...others, ...summary] } : {}),
  }
}

/** Redacts a summary before it is written, and removes text that came out of memory. */
function compactSummary(text: string): { id: string; text: string } {
  const clean = redactText(stripRecalled(text)).text
  return { id: sha256(clean).slice(0, 12), text: clean }
}
