import type { ContentBlock, Conversation, ConversationFacts, Message } from '@recall/core'
import { isRecord, nonEmptyText } from '../json.ts'
import { toContentBlocks } from '../reading/content-blocks.ts'
import type { ConversationForm } from '../reading/conversation-form.ts'
import { toInstant } from '../reading/instants.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { outputBlock, saidAt } from '../reading/messages.ts'
import { countInto, type Skip, skippedKinds } from '../reading/skipped.ts'

/** A conversation in the export of claude.ai: a list of messages with their attachments. */
export const claudeAiConversation: ConversationForm = {
  matches: (value) => Array.isArray(value.chat_messages),
  idOf: (value) => value.uuid,
  origin: (value) => {
    const [first] = value.chat_messages as unknown[]
    return [value.created_at, isRecord(first) ? (first.uuid ?? first.text) : first]
  },
  changedAt: (value) => toInstant(value.updated_at) ?? toInstant(value.created_at),
  toConversation(value, sessionId): Conversation {
    const skipped: Record<string, number> = {}
    const facts: ConversationFacts = { skipped }
    if (typeof value.name === 'string' && value.name.trim() !== '') facts.title = value.name.trim()
    const messages = toMessages(
      value.chat_messages as unknown[],
      toInstant(value.created_at),
      countInto(skipped),
    )
    return { sessionId, facts, messages }
  },
}

function* toMessages(
  items: readonly unknown[],
  began: string | undefined,
  skip: Skip,
): Generator<Message, void> {
  let at = began
  const idOf = createMessageIds()
  for (const item of items) {
    if (!isRecord(item) || (item.sender !== 'human' && item.sender !== 'assistant')) {
      skip(skippedKinds.notAMessage)
      continue
    }
    at = toInstant(item.created_at) ?? at
    const fallbackId = idOf([item.sender, item.text, item.content])
    const id = nonEmptyText(item.uuid) ?? fallbackId
    const said = toContentBlocks(item.content, skip)
    const blocks = said.length > 0 ? said : toContentBlocks(item.text, skip)
    const files = filesOf(item)
    const message = (name: string, role: Message['role'], content: ContentBlock[]): Message => ({
      id: name,
      role,
      content,
      ...saidAt(at),
    })
    if (item.sender === 'assistant') {
      const content = [...blocks, ...files]
      if (content.length > 0) yield message(id, 'assistant', content)
      continue
    }
    // The content of an attached file is not what its sender said.
    const spoken = blocks.filter((block) => block.type === 'text')
    const rest = [...blocks.filter((block) => block.type !== 'text'), ...files]
    if (rest.length > 0) yield message(`${id}#attached`, 'assistant', rest)
    if (spoken.length > 0) yield message(id, 'user', spoken)
  }
}

/** Attachments that come with their text, then the files that the export only names, such as pictures. */
function filesOf({ attachments, files }: Record<string, unknown>): ContentBlock[] {
  const attached = recordsIn(attachments)
  const names = new Set(attached.map((each) => each.file_name))
  const others = recordsIn(files).filter((each) => !names.has(each.file_name))
  return [...attached, ...others].flatMap((file): ContentBlock[] => {
    const content = typeof file.extracted_content === 'string' ? file.extracted_content : ''
    const name = nonEmptyText(file.file_name) ?? 'document'
    if (content.trim() === '' && name === 'document') return []
    return [outputBlock(`[${name}]${content === '' ? '' : `\n${content}`}`)]
  })
}

const recordsIn = (list: unknown): Record<string, unknown>[] =>
  Array.isArray(list) ? list.filter(isRecord) : []
