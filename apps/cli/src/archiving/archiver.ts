import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { openTranscript, readLines, splitAddress } from '@recall/agents'
import {
  type Conversation,
  type ConversationFacts,
  conversationKey,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  type Message,
  redactText,
  sessionSummaryKey,
} from '@recall/core'
import { type ArchiveOutcome, archiveSession, createCheckpoint } from '@recall/sessions'
import { defaultFileSystem, type FileStore, readConfig } from '@recall/store-file'
import { isJson } from '../is-json.ts'
import { readForgotten } from '../memory/forgotten.ts'
import type { LanguageModel } from '../memory/language-model.ts'
import { findSessionId } from './find-session-id.ts'
import { type ImportJournal, openJournal } from './import-journal.ts'

export type ArchiveResult = ArchiveOutcome & { path: string; title?: string; skipped: Record<string, number> }

/**
 * Creates a function that archives one transcript. It refuses a session that a person had forgotten; a session whose
 * window entry alone was forgotten does not enter the window again.
 *
 * @param options.journal one that the caller saves; without it each change is saved at once
 * @param options.growing a transcript that its host may still be writing: its first line may be half-written
 * @param options.project the folder in which a session worked, if its transcript names none
 * @param options.until when to give up, on the clock of `performance`. Default: never
 * @throws OutOfTime then; the parts that are archived by then stay
 */
export async function createArchiver(
  memory: MemoryManager,
  store: FileStore,
  source: 'session' | 'checkpoint',
  options: {
    lm: LanguageModel | undefined
    resummarize?: boolean
    justEnded?: boolean
    growing?: string
    project?: string | undefined
    journal?: ImportJournal
    until?: number
  },
): Promise<(path: string) => Promise<ArchiveResult>> {
  const { lm, journal = openJournal(store), until = Number.POSITIVE_INFINITY } = options
  const { resummarize = false, justEnded = false, growing, project } = options
  const { config } = readConfig(defaultFileSystem, store.root, store.layout)
  const isForgotten = readForgotten(store)
  return async (path) => {
    const conversation = await openSession(path, path === growing)
    if (conversation.isNamedByFile) {
      const file = { path, name: conversation.sessionId }
      conversation.sessionId = await findSessionId(memory, journal, file)
      if (!options.journal) journal.save()
    }
    const archiveOf = (sessionId: string) =>
      ({
        namespace: memory.namespace,
        scope: 'episodic',
        key: conversationKey(sessionId),
        value: { sessionId },
      }) as const
    const address = archiveOf(conversation.sessionId)
    const session = archiveOf(conversation.parent ?? conversation.sessionId)
    const refuseForgotten = (): void => {
      if (!isForgotten(address) && !isForgotten(session)) return
      throw new MemoryError(
        `${path} is session ${conversation.sessionId}, which was forgotten: it is not archived again`,
        MemoryErrorCode.CONFLICT,
        { details: { forgotten: true } },
      )
    }
    refuseForgotten()
    const inWindow = {
      ...address,
      scope: 'short-term',
      key: sessionSummaryKey(conversation.sessionId),
    } as const
    const save = source === 'session' ? archiveSession : createCheckpoint
    // The address of a session in a database is the path of the file, a mark and the session's id.
    const changed = (await stat(splitAddress(path)?.file ?? path)).mtimeMs
    const { messages } = conversation
    const facts = project === undefined ? conversation.facts : withProject(conversation.facts, project)
    const inTime = { ...conversation, facts, messages: messagesUntil(until, messages) }
    const outcome = await save(askedFirst(memory, refuseForgotten), inTime, {
      maxEntries: config.ephemeral.maxEntries,
      inWindow: !isForgotten(inWindow),
      undated: Math.round(changed),
      resummarize,
      justEnded,
      ...(lm ? { lm } : {}),
    })
    lm?.judge?.(outcome.summarizedBy === lm.model)
    const { title, skipped } = conversation.facts
    return { ...outcome, path, skipped, ...(title ? { title: redactText(title).text } : {}) }
  }
}

/** A transcript was not archived to its end in the time available. */
export class OutOfTime extends Error {
  override name = 'OutOfTime'
}

async function* messagesUntil(until: number, messages: Conversation['messages']): AsyncGenerator<Message> {
  for await (const message of messages) {
    if (performance.now() > until) throw new OutOfTime()
    yield message
  }
}

/** The facts as they become known, with a project if they name none. */
const withProject = (facts: ConversationFacts, project: string): ConversationFacts => ({
  get title() {
    return facts.title
  },
  get project() {
    return facts.project ?? project
  },
  skipped: facts.skipped,
})

/** The memory, with a check before each write: a session may be forgotten while a model summarises it. */
const askedFirst = (memory: MemoryManager, ask: () => void): MemoryManager => ({
  ...memory,
  async write(...given: Parameters<MemoryManager['write']>) {
    ask()
    await memory.write(...given)
  },
  async atomicUpdate(...given) {
    ask()
    await memory.atomicUpdate(...given)
  },
})

/** Opens a transcript; one that a host has only created counts as a session in which nothing was said. */
async function openSession(path: string, mayGrow: boolean): Promise<Conversation> {
  try {
    return await openTranscript(path)
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) throw error
    if (!(await isBlank(path)) && !(mayGrow && (await isHalfLine(path)))) throw error
    return { sessionId: basename(path, '.jsonl'), messages: [], facts: { skipped: {} } }
  }
}

const longestBlank = 4096

async function isBlank(path: string): Promise<boolean> {
  // A pipe has no size, and may never end.
  if (!(await isLog(path)) || (await stat(path)).size > longestBlank) return false
  return (await readFile(path, 'utf8')).trim() === ''
}

/** Whether a file has only the beginning of a line, or bytes that were reserved and not filled. */
async function isHalfLine(path: string): Promise<boolean> {
  if (!(await isLog(path))) return false
  for await (const { text, ended } of readLines(path, { mostLines: 1 })) {
    const said = text?.replaceAll('\0', '')
    return !ended && (said === '' || (said?.startsWith('{') === true && !isJson(said)))
  }
  return false
}

const isLog = async (path: string): Promise<boolean> => path.endsWith('.jsonl') && (await stat(path)).isFile()
