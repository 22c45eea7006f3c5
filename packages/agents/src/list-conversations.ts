import { createHash } from 'node:crypto'
import { type Conversation, MemoryError, MemoryErrorCode } from '@recall/core'
import { chatgptConversation } from './chatgpt/to-conversation.ts'
import { claudeAiConversation } from './claude-ai/to-conversation.ts'
import { isRecord, parseJson } from './json.ts'
import type { ConversationForm } from './reading/conversation-form.ts'
import type { ListedSession } from './reading/listed-session.ts'
import { openFile, stateOfFile, toMemoryError } from './reading/open-file.ts'
import { type JsonItem, readJsonItems } from './reading/read-json-items.ts'

const forms: readonly ConversationForm[] = [claudeAiConversation, chatgptConversation]

/** How many elements of a list are checked to recognise an export. */
const headItems = 20
/** Largest conversation: each is held in memory as a whole, but the list of them is not. */
const mostConversationBytes = 64 * 1024 * 1024

/** The place of a conversation in its export. */
export interface ListedConversation extends ListedSession {
  /** Byte offset in the file. */
  start: number
  /** In bytes. */
  length: number
  stamp: string
  /** Why it cannot be read. */
  problem?: string
}

/**
 * Cache of the export that was scanned last. Its conversations are opened one after the other, and scanning from the
 * start for each would take quadratic time.
 */
let last: { key: string; conversations: ReadonlyMap<string, ListedConversation> } | null = null

/**
 * The conversations in the export of a chat service, by their ids. An element that cannot be read is listed too, as
 * `item-<n>`, so that opening it reports the problem.
 *
 * @returns `null` when the file is not such an export
 * @throws MemoryError NOT_FOUND or FORBIDDEN when it cannot be read
 */
export async function listConversations(
  path: string,
): Promise<ReadonlyMap<string, ListedConversation> | null> {
  const key = await stateOfFile(path)
  if (last?.key === key) return last.conversations
  const conversations = new Map<string, ListedConversation>()
  let isExport = false
  for await (const item of readJsonItems(path, { maxItemBytes: mostConversationBytes })) {
    const { id, isConversation, listed } = look(item)
    isExport ||= isConversation
    if (!isExport && item.number >= headItems) return null
    // Two different conversations may have one id: neither may hide the other.
    const isTaken = conversations.has(id) && conversations.get(id)?.stamp !== listed.stamp
    conversations.set(isTaken ? `${id}~${listed.stamp.slice(0, 8)}` : id, listed)
  }
  if (!isExport) return null
  last = { key, conversations }
  return conversations
}

/**
 * Reads one conversation out of an export.
 *
 * @throws MemoryError NOT_FOUND when the export has no conversation of this id, INVALID_INPUT when the file is not an
 * export or the conversation cannot be read
 */
export async function readListedConversation(path: string, id: string): Promise<Conversation> {
  const conversations = await listConversations(path)
  if (conversations === null) {
    throw new MemoryError(`${path} is not an export of conversations`, MemoryErrorCode.INVALID_INPUT, {
      details: { path },
    })
  }
  const listed = conversations.get(id)
  if (listed === undefined) {
    throw new MemoryError(`${path} has no conversation ${id}`, MemoryErrorCode.NOT_FOUND, {
      details: { path },
    })
  }
  const found = listed.problem === undefined ? recognise(await readValue(path, listed)) : null
  if (found === null) {
    throw new MemoryError(
      `${path}: ${listed.problem ?? 'it was changed while it was being read: try again'}`,
      MemoryErrorCode.INVALID_INPUT,
      { details: { path } },
    )
  }
  return found.form.toConversation(found.value, id)
}

function look(item: JsonItem): { id: string; isConversation: boolean; listed: ListedConversation } {
  const { number, start, length, bytes } = item
  const text = bytes?.toString('utf8').trimEnd()
  const found = text === undefined ? null : recognise(parseJson(text))
  const stamp = text === undefined ? `${start}-${length}` : hashOf(text)
  if (found === null) {
    const problem = `element ${number} ${problemOf(item)}`
    return { id: `item-${number}`, isConversation: false, listed: { start, length, stamp, problem } }
  }
  const { form, value } = found
  const changedAt = form.changedAt(value)
  return {
    id: toId(form.idOf(value), form.origin(value)),
    isConversation: true,
    listed: { start, length, stamp, ...(changedAt === undefined ? {} : { changedAt }) },
  }
}

function recognise(value: unknown): { form: ConversationForm; value: Record<string, unknown> } | null {
  if (!isRecord(value)) return null
  const form = forms.find((each) => each.matches(value))
  return form === undefined ? null : { form, value }
}

function problemOf({ bytes, length, ended }: JsonItem): string {
  const megabytes = (size: number): string => `${Math.round(size / 1024 / 1024)} MB`
  if (!ended) return 'breaks off: the file is incomplete, export it again'
  if (bytes === null)
    return `has ${megabytes(length)}; a conversation may have ${megabytes(mostConversationBytes)}`
  return 'is not a conversation in a known format'
}

/** Ids become parts of names, so an id of any other shape is replaced by a hash. */
const toId = (id: unknown, origin: readonly unknown[]): string =>
  typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id)
    ? id
    : `chat-${hashOf(JSON.stringify([id, ...origin].map((part) => (typeof part === 'object' ? null : part))))}`

const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex').slice(0, 24)

/** The element at the place of a listed one; `undefined` if it is a different one by now. */
async function readValue(path: string, { start, length, stamp }: ListedConversation): Promise<unknown> {
  const file = await openFile(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start)
    const text = buffer.toString('utf8', 0, bytesRead).trimEnd()
    return hashOf(text) === stamp ? parseJson(text) : undefined
  } catch (error) {
    throw toMemoryError(path, error)
  } finally {
    await file.close()
  }
}
