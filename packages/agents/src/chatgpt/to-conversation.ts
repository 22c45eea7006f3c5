import type { ContentBlock, Conversation, ConversationFacts, Message } from '@recall/core'
import { isRecord } from '../json.ts'
import type { ConversationForm } from '../reading/conversation-form.ts'
import { toInstant } from '../reading/instants.ts'
import { saidAt } from '../reading/messages.ts'
import { countInto, type Skip } from '../reading/skipped.ts'
import { currentBranch, type Tree } from './current-branch.ts'
import { toBlocks } from './to-blocks.ts'

/** A conversation in the export of ChatGPT: a tree of messages; only the branch that was last shown is read. */
export const chatgptConversation: ConversationForm = {
  matches: (value) => isRecord(value.mapping),
  idOf: (value) => value.conversation_id ?? value.id,
  origin: (value) => [
    value.create_time,
    currentBranch(value).find(({ node }) => isRecord(node.message))?.key,
  ],
  changedAt: (value) => toInstant(value.update_time) ?? toInstant(value.create_time),
  toConversation(value, sessionId): Conversation {
    const skipped: Record<string, number> = {}
    const facts: ConversationFacts = { skipped }
    if (typeof value.title === 'string' && value.title.trim() !== '') facts.title = value.title.trim()
    return { sessionId, facts, messages: toMessages(value, countInto(skipped)) }
  },
}

function* toMessages(tree: Tree, skip: Skip): Generator<Message, void> {
  let at = toInstant(tree.create_time)
  for (const { key, node } of currentBranch(tree)) {
    // The root is a node without a message.
    if (!isRecord(node.message)) continue
    at = toInstant(node.message.create_time) ?? at
    const said = toTurn(node.message, skip)
    if (said !== null) yield { id: key, ...said, ...saidAt(at) }
  }
}

function toTurn(message: Record<string, unknown>, skip: Skip): Pick<Message, 'role' | 'content'> | null {
  const role = isRecord(message.author) ? message.author.role : undefined
  const isHidden =
    isRecord(message.metadata) && message.metadata.is_visually_hidden_from_conversation === true
  if (isHidden || (role !== 'user' && role !== 'assistant' && role !== 'tool')) return null
  const blocks = toBlocks(message, role, skip)
  const content = blocks.length === 0 && role === 'user' ? attachedTo(message) : blocks
  if (content.length === 0) return null
  return { role: role === 'user' ? 'user' : 'assistant', content }
}

/** A turn that consists only of documents has a mark for each. */
function attachedTo({ metadata }: Record<string, unknown>): ContentBlock[] {
  const attached = isRecord(metadata) && Array.isArray(metadata.attachments) ? metadata.attachments : []
  return attached.map(() => ({ type: 'text', text: '[document]' }))
}
