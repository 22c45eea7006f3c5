import { type Conversation, MemoryError, MemoryErrorCode } from '@recall/core'
import { listAiderSessions } from './aider/list-sessions.ts'
import { readAiderSession } from './aider/read-session.ts'
import { isChatDocument, readChatDocument } from './gemini/read-chat.ts'
import { hostFormats, recogniseHost } from './host-formats.ts'
import { listConversations, readListedConversation } from './list-conversations.ts'
import { neutralFormats, openNeutralTranscript } from './neutral/read-transcript.ts'
import { readOpencodeSession } from './opencode/read-session.ts'
import { isJson, isMarkdown, splitAddress } from './reading/one-of-many.ts'
import { openFile } from './reading/open-file.ts'
import { readJsonDocument } from './reading/read-json-document.ts'

/** Formats of files that hold many sessions. */
const formatsOfMany = [
  'a session in the database of OpenCode, as opencode.db#<id>',
  'conversations.json of an export of claude.ai or ChatGPT, one conversation as conversations.json#<id>',
  'the log of Aider, one session as .aider.chat.history.md#<id>',
]

/**
 * Opens a transcript in any format that Recall understands. The content decides, not the file's name. `<file>#<id>`, as
 * `listImportable` returns it, opens one session of a file of many.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the file cannot be opened, INVALID_INPUT when its format is not a
 * known one; never returns an empty conversation instead of an error
 */
export async function openTranscript(path: string): Promise<Conversation> {
  const address = splitAddress(path)
  if (address !== null) {
    const { file, id } = address
    if (isMarkdown(file)) return readAiderSession(file, id)
    return isJson(file) ? readListedConversation(file, id) : readOpencodeSession(file, id)
  }
  const host = await recogniseHost(path)
  if (host === null) await refuseMany(path)
  const chat = host === null ? await readChat(path) : null
  if (chat !== null) return chat
  const conversation = host === null ? await openNeutralTranscript(path) : await host.read(path)
  if (conversation !== null) return conversation
  if (await isUtf16(path)) throw utf16(path)
  const formats = [...hostFormats.map((format) => format.name), ...formatsOfMany, ...neutralFormats]
  throw new MemoryError(
    `${path} is not a transcript that Recall can read. It understands: ${formats.join('; ')}`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path, formats } },
  )
}

/** Whether a file begins with the byte order mark of UTF-16. */
async function isUtf16(path: string): Promise<boolean> {
  const file = await openFile(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return ['fffe', 'feff'].includes(buffer.toString('hex'))
  } finally {
    await file.close()
  }
}

/** Decoding it would not help: characters beyond ASCII are already wrong. */
const utf16 = (path: string): MemoryError =>
  new MemoryError(
    `${path} is UTF-16 text, which Windows PowerShell makes when it redirects output, with wrong letters: make the file again with cmd /c "… > file"`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path } },
  )

/** @throws MemoryError INVALID_INPUT for an export or a log, because one of what it holds must be named */
async function refuseMany(path: string): Promise<void> {
  const conversations = await listConversations(path)
  if (conversations !== null) throw ofMany(path, 'an export', 'conversations', conversations)
  const sessions = await listAiderSessions(path)
  if (sessions !== null) throw ofMany(path, 'a log', 'sessions', sessions)
}

function ofMany(path: string, file: string, kind: string, all: ReadonlyMap<string, unknown>): MemoryError {
  const [first] = all.keys()
  return new MemoryError(
    `${path} is ${file} of ${all.size} ${kind}: import them all, or name one, for example ${path}#${first}`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path } },
  )
}

/** Reads a chat that is one JSON document, which cannot be recognised line by line; `null` for any other file. */
async function readChat(path: string): Promise<Conversation | null> {
  const value = isJson(path) ? await readJsonDocument(path) : undefined
  return isChatDocument(value) ? readChatDocument(path, value) : null
}
