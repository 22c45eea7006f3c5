import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { assessHealth } from '@recall/sessions'
import {
  checkUp,
  defaultFileSystem,
  type FileStore,
  type Finding,
  keptModel,
  layoutFile,
  layoutOf,
  type VectorSpace,
} from '@recall/store-file'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { deleteGivenUp, givenUpSessions, isGone } from '../hosts/given-up-sessions.ts'
import { damagedNotes, type SessionNote } from '../hosts/session-notes.ts'
import { wiredAgents } from '../hosts/wired-agents.ts'
import { areOf, openEmbedder } from '../memory/embedder.ts'
import { findRoot, type RootOptions } from '../memory/find-root.ts'
import { isAway, remedyWhereAway } from '../memory/receipts.ts'
import { removeExpired } from '../memory/remove-expired.ts'
import { holdsMemory } from '../memory/require-memory.ts'
import { withStore } from '../memory/with-store.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count, paint, quoted } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import { abandonedCopies } from './echoes/abandoned-copies.ts'

/** Examines the memory. Exit code 1 when something is wrong and was not fixed. */
export async function doctor(
  io: Io,
  options: RootOptions & { json?: boolean; deep?: boolean; fix?: boolean },
): Promise<number> {
  const root = findRoot(io, options)
  const blocking = undecidedLayout(root, options) ?? missingMemory(io, root, options)
  const findings = blocking
    ? [blocking]
    : await withStore(io, options, async (store) => [
        ...checkUp(defaultFileSystem, store, { deep: options.deep ?? false, fix: options.fix ?? false }),
        presence(store),
        ...wiredAgents(io, store),
        ...(await embeddingModel(io, store)),
        ...(await sessionsLeft(store, options.fix ?? false)),
        ...lostSessions(store),
        ...(await abandonedCopies(io, store, options.fix ?? false)),
        ...(options.fix ? await expiredEntries(io, store) : []),
      ])
  const healthy = findings.every(({ ok }) => ok)
  if (options.json) io.out(`${JSON.stringify({ healthy, findings })}\n`)
  else for (const finding of findings) io.out(describe(finding, paint(io)))
  return healthy ? exitCodes.fine : exitCodes.no
}

function describe(
  { check, ok, message, problems, remedy, fixed }: Finding,
  colour: ReturnType<typeof paint>,
): string {
  const mark = fixed ? colour.yellow('mended  ') : ok ? colour.green('ok      ') : colour.red('wrong   ')
  const told = problems === undefined ? ` ${message}` : lines(firstFew(problems, 'problem'))
  const advice = !ok && remedy ? `        → ${printable(remedy)}\n` : ''
  return `${mark}${check}:${printable(told)}\n${advice}`
}

const lines = (problems: readonly string[]): string =>
  problems.map((problem) => `\n          ${problem}`).join('')

function missingMemory(io: Io, root: string, options: RootOptions): Finding | null {
  if (holdsMemory(root, options)) return null
  const isThere = existsSync(root)
  const message = isThere ? `there is no memory in ${root}` : `${root} does not exist`
  const remedy =
    isThere && !isAway(io, root)
      ? "name the folder of one with --root, or run 'recall init'"
      : remedyWhereAway
  return { check: 'folder', ok: false, message, remedy }
}

/** Programs create only the parts of a memory that they need: `recall status` calls such a memory degraded. */
function presence({ root, layout }: FileStore): Finding {
  const isThere = (path: string): boolean => existsSync(join(root, path))
  const present = { memory: true, curated: isThere(layout.curated), archives: isThere(layout.archives) }
  const { health, reason } = assessHealth({ present })
  return health === 'healthy'
    ? { check: 'parts', ok: true, message: 'all there' }
    : { check: 'parts', ok: false, message: reason, remedy: "'recall init' creates what is missing" }
}

/** A root cannot be opened while its layout is undecided or its layout file is not valid. */
function undecidedLayout(root: string, { layout }: RootOptions): Finding | null {
  try {
    layoutOf(defaultFileSystem, root, layout)
    return null
  } catch (error) {
    const hasTwo = isMemoryError(error, MemoryErrorCode.CONFLICT)
    // A layout named on the command line that differs from the root's is not a problem of the root.
    if (!hasTwo && (layout !== undefined || !isMemoryError(error, MemoryErrorCode.INVALID_INPUT))) throw error
    const remedy = hasTwo
      ? "name the layout; 'recall doctor --layout …' says what belongs to the other one"
      : `correct ${layoutFile}`
    return { check: 'layout', ok: false, message: error.message, remedy }
  }
}

/** What has expired is found by nobody, and no fault while it waits to be removed. */
async function expiredEntries(io: Io, store: FileStore): Promise<Finding[]> {
  const { removed, problems } = await removeExpired(store, io.now())
  const check = 'expired entries'
  if (problems.length > 0)
    return [{ check, ok: false, message: problems.join('; '), remedy: 'mend that, and run the same again' }]
  if (removed === 0) return [{ check, ok: true, message: 'none' }]
  return [{ check, ok: true, message: `${count(removed, 'entry', 'entries')} removed`, fixed: true }]
}

/** Searches by meaning are refused while the settings name another model than that of the vectors. */
async function embeddingModel(io: Io, store: FileStore): Promise<Finding[]> {
  const kept = keptModel(store)
  if (kept === null) return []
  const check = 'embedding model'
  try {
    const given = await openEmbedder(io)
    if (areOf(kept, given)) return [{ check, ok: true, message: given.model }]
    const remedy = "run 'recall reindex --model', or set the variables to the model of the vectors"
    return [{ check, ok: false, message: difference(given, kept), remedy }]
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return [{ check, ok: false, message: error.message, remedy: 'set these variables, or none of them' }]
  }
}

const difference = (given: VectorSpace, kept: VectorSpace): string =>
  given.model === kept.model
    ? `${given.model} with ${given.dimensions} dimensions, but the vectors have ${kept.dimensions}`
    : `${given.model}, but the vectors are of ${kept.model}`

async function sessionsLeft(store: FileStore, fix: boolean): Promise<Finding[]> {
  const left: SessionNote[] = []
  const gone: SessionNote[] = []
  for (const session of givenUpSessions(store)) ((await isGone(session)) ? gone : left).push(session)
  if (fix) deleteGivenUp(store, gone)
  const archives = left.map(({ transcript }) => `recall archive ${quoted(transcript)}`).join('; ')
  const mend = `mend what it says, then archive the transcripts: ${archives}`
  const forget = "run 'recall doctor --fix' to give them up for good"
  return [
    ...(left.length > 0 ? [notArchived('sessions not archived', left, { ok: false, remedy: mend })] : []),
    ...(gone.length > 0 ? [notArchived('transcripts gone', gone, { ok: fix, remedy: forget })] : []),
  ]
}

const notArchived = (
  check: string,
  sessions: readonly SessionNote[],
  { ok, remedy }: { ok: boolean; remedy: string },
): Finding => ({
  check,
  ok,
  message: sessions
    .map(({ sessionId, problem }) => `session ${sessionId} was not archived: ${problem?.reason}`)
    .join('; '),
  remedy,
  ...(ok ? { fixed: true } : {}),
})

function lostSessions(store: FileStore): Finding[] {
  const damaged = damagedNotes(store)
  if (damaged.length === 0) return []
  return [
    {
      check: 'session notes',
      ok: false,
      message: damaged.map((path) => `${path} is damaged: it named a session to archive`).join('; '),
      remedy: "run 'recall import', which finds the session at its host, then delete the file",
    },
  ]
}
