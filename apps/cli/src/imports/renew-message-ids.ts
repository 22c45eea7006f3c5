import {
  type Conversation,
  type ConversationArchive,
  conversationKey,
  conversationType,
  createInMemoryStore,
  createMemoryManager,
  type MemoryManager,
  type Message,
} from '@recall/core'
import { createCheckpoint } from '@recall/sessions'

/** Such an id only counts lines: in a rewritten transcript, it may belong to another message. */
const lineId = /^line-\d+(?:#said)?$/

/**
 * If the last message of a session's archive is identified by its line, gives it the id that the message has now. An
 * archive that holds anything other than the transcript is left as it is, so that it counts as different.
 *
 * @param open opens the transcript again; called only when there is such an archive
 */
export async function renewMessageIds(
  memory: MemoryManager,
  sessionId: string,
  open: () => Promise<Conversation>,
): Promise<void> {
  let messages: AsyncGenerator<Message, void> | undefined
  try {
    for (let part = 1; ; part++) {
      const key = conversationKey(sessionId, part)
      const record = await memory.read<ConversationArchive>('episodic', key, { includeMetadata: true })
      const archive = record?.value
      if (!archive || !lineId.test(archive.lastMessage ?? '')) return
      messages ??= messagesOf(await open())
      const said = await take(messages, archive.messageCount)
      const lastMessage = said.at(-1)?.id
      if (said.length < archive.messageCount || lastMessage === archive.lastMessage) return
      if (!(await holds(archive, said))) return
      const options = { type: conversationType, tags: archive.topics }
      const value = { ...archive, lastMessage }
      const ifUpdatedAt = record.metadata.updatedAt
      await memory.atomicUpdate('episodic', [{ operation: 'set', key, value, options, ifUpdatedAt }])
    }
  } finally {
    // Closes the transcript, whose rest is not read.
    await messages?.return()
  }
}

async function* messagesOf({ messages }: Conversation): AsyncGenerator<Message, void> {
  yield* messages
}

async function take(messages: AsyncGenerator<Message, void>, count: number): Promise<Message[]> {
  const taken: Message[] = []
  while (taken.length < count) {
    const { value } = await messages.next()
    if (!value) break
    taken.push(value)
  }
  return taken
}

/** Whether an archive holds these messages: archived over a copy of it that has one more, they bring nothing new. */
async function holds(archive: ConversationArchive, messages: Message[]): Promise<boolean> {
  const scratch = createMemoryManager({ stores: createInMemoryStore() })
  const { sessionId, messageCount } = archive
  const longer = { ...archive, messageCount: messageCount + 1 }
  await scratch.write('episodic', conversationKey(sessionId), longer, { type: conversationType })
  const outcome = await createCheckpoint(scratch, { sessionId, messages, facts: { skipped: {} } })
  return outcome.status === 'unchanged'
}
