import type { Conversation } from '@recall/core'
import { listAiderSessions } from './aider/list-sessions.ts'
import { readAiderSession } from './aider/read-session.ts'
import { listConversations, readListedConversation } from './list-conversations.ts'
import { listOpencodeHelpers, listOpencodeSessions, readOpencodeSession } from './opencode/read-session.ts'
import type { ListedSession } from './reading/listed-session.ts'

/** A kind of file that holds many sessions, each with the address `<file>#<id>`. */
export interface SessionContainer {
  /** For people, with the address of one session. */
  format: string
  /** What a message calls the file and what is in it. */
  called: readonly [file: string, sessions: string]
  /** Whether the name of a file is that of such a container. */
  matches(path: string): boolean
  /** The sessions in a file by their ids; `null` when it is no such container. */
  list(path: string): Promise<ReadonlyMap<string, ListedSession> | null>
  read(path: string, id: string): Promise<Conversation>
  /** The ids of a session and of the helpers in the same file. */
  listHelpers?(path: string, id: string): Promise<string[]>
  /** Listing makes a copy of the file, so that it is done only for an import. */
  isCopied?: true
  /** All its sessions are those of one project, and archived together. */
  isOfOneProject?: true
}

export const sessionContainers: readonly SessionContainer[] = [
  {
    format: 'a session in the database of OpenCode, as opencode.db#<id>',
    called: ['a database', 'sessions'],
    matches: (path) => /\.(?:db|sqlite3?)$/i.test(path),
    list: listOpencodeSessions,
    read: readOpencodeSession,
    listHelpers: listOpencodeHelpers,
    isCopied: true,
  },
  {
    format:
      'conversations.json of an export of claude.ai or ChatGPT, one conversation as conversations.json#<id>',
    called: ['an export', 'conversations'],
    matches: (path) => /\.json$/i.test(path),
    list: listConversations,
    read: readListedConversation,
  },
  {
    format: 'the log of Aider, one session as .aider.chat.history.md#<id>',
    called: ['a log', 'sessions'],
    matches: (path) => /\.md$/i.test(path),
    list: listAiderSessions,
    read: readAiderSession,
    isOfOneProject: true,
  },
]

/** The container that a file is according to its name; its content may be something else. */
export const containerOf = (path: string): SessionContainer | undefined =>
  sessionContainers.find((container) => container.matches(path))

/** The two parts of `<file>#<session>`, the address of one session in a file of many; `null` for other paths. */
export function splitAddress(path: string): { file: string; id: string } | null {
  const [, file, id] = /^(.+)#([^#/\\]+)$/.exec(path) ?? []
  return file === undefined || id === undefined || !containerOf(file) ? null : { file, id }
}
