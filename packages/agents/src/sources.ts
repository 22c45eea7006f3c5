import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { claudeCodeFolder } from './claude-code/folder.ts'
import { codexFolder } from './codex/folder.ts'
import { copilotFolder } from './copilot/folder.ts'
import { cursorTranscriptFolders } from './cursor/transcript-folders.ts'
import { geminiFolder } from './gemini/folder.ts'
import { listSessionTranscripts } from './list-session-transcripts.ts'
import { opencodeDatabases } from './opencode/databases.ts'
import { qwenChatFolder } from './qwen/chat-folder.ts'
import { filesBelow, mayHoldSessions } from './reading/files-below.ts'
import { streamError, toMemoryError } from './reading/open-file.ts'
import { containerOf, splitAddress } from './session-containers.ts'

/** Files of hosts that are neither sessions nor memories. */
const otherFiles = new Set([
  'history.jsonl',
  'journal.jsonl',
  'logs.json',
  'sessions-index.json',
  'package.json',
])

/** Where the hosts on this machine keep their sessions. */
export function sessionSources(machine: {
  home: string
  env: Readonly<Record<string, string | undefined>>
}): string[] {
  return [
    join(claudeCodeFolder(machine), 'projects'),
    join(codexFolder(machine), 'sessions'),
    join(codexFolder(machine), 'archived_sessions'),
    join(geminiFolder(machine), 'tmp'),
    join(copilotFolder(machine), 'session-state'),
    qwenChatFolder(machine),
    ...cursorTranscriptFolders(machine),
    ...opencodeDatabases(machine),
  ].filter((path) => existsSync(path))
}

/**
 * What can be imported from a path. For a folder: its JSON, JSON Lines (also compressed) and markdown files at any
 * depth, a session's file before those of its helpers. For a session's file: that file, those of its helpers, and those
 * of sessions that it was forked from. For a database or log of sessions or a JSON export of conversations: each of
 * them as `<path>#<id>`. Links are not followed.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the path cannot be read
 */
export async function listImportable(path: string): Promise<string[]> {
  if (splitAddress(path) !== null) return [path]
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) {
      const files = await filesBelow(path, isImportable, isSearched)
      const found: string[] = []
      for (const file of files) {
        // One by one: a call takes no more than some hundred thousand arguments.
        for (const each of await listSessionsIn(file).catch(leaveToOpening(file))) found.push(each)
      }
      return found
    }
    if (!stats.isFile()) throw streamError(path)
  } catch (error) {
    throw toMemoryError(path, error)
  }
  if (/\.jsonl(?:\.zst)?$/i.test(path)) return listSessionTranscripts(path).catch(leaveToOpening(path))
  const sessions = listSessionsIn(path)
  return containerOf(path)?.isCopied ? sessions.catch(leaveToOpening(path)) : sessions
}

/** The state of a source, to tell whether it has changed since it was imported. */
export interface SourceState {
  /** Changes whenever the source does. */
  stamp: string
  /** Milliseconds since the epoch. */
  changedAt: number
}

/**
 * The state of a source that `listImportable` returned. A conversation in an export and a session in a log have their
 * own state: what is new in the file changes only the state of those that went on.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when it cannot be read
 */
export async function stateOfSource(path: string): Promise<SourceState> {
  const { file, id } = splitAddress(path) ?? { file: path, id: '' }
  try {
    const { size, mtimeMs } = await stat(file)
    if (id === '') return { stamp: `${size}-${mtimeMs}`, changedAt: mtimeMs }
    const container = containerOf(file)
    const listed = container?.isCopied ? undefined : await container?.list(file)
    const { stamp, changedAt } = listed?.get(id) ?? {}
    if (stamp !== undefined) {
      return { stamp, changedAt: changedAt === undefined ? mtimeMs : Date.parse(changedAt) }
    }
    return withLog({ stamp: `${size}-${mtimeMs}`, changedAt: mtimeMs }, `${file}-wal`)
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

/** Includes the write-ahead log, which may hold a database's latest changes for a long time. */
async function withLog({ stamp, changedAt }: SourceState, log: string): Promise<SourceState> {
  try {
    const { size, mtimeMs } = await stat(log)
    if (size === 0) return { stamp, changedAt }
    return { stamp: `${stamp}-${size}-${mtimeMs}`, changedAt: Math.max(changedAt, mtimeMs) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { stamp, changedAt }
    throw error
  }
}

/** Lists a file that cannot be read as it is: opening it reports the error, and the others are imported. */
const leaveToOpening = (path: string) => (error: unknown) => {
  if (!isMemoryError(error)) throw error
  return [path]
}

async function listSessionsIn(path: string): Promise<string[]> {
  const listed = await containerOf(path)?.list(path)
  return !listed ? [path] : [...listed.keys()].map((id) => `${path}#${id}`)
}

const isImportable = (name: string): boolean =>
  /\.(?:jsonl?|jsonl\.zst|md)$/i.test(name) && !otherFiles.has(name)
const isSearched = (folderName: string): boolean => mayHoldSessions(folderName) && !folderName.startsWith('.')
