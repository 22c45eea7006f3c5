import {
  type ContentBlock,
  type Conversation,
  type ConversationArchive,
  conversationKey,
  createInMemoryStore,
  createMemoryManager,
  type LmProvider,
  type MemoryManager,
  type Message,
  type SessionSummary,
} from '@recall/core'

/** What is said in a session, where it does not matter what. */
export const talk = ['Fix the login of src/auth.rs', 'We decided to use JWT for auth.', 'thanks']

export const start = Date.parse('2026-03-06T10:00:00.000Z')
export const minute = 60_000
export const clock = () => start

export const openMemory = (): MemoryManager => createMemoryManager({ stores: createInMemoryStore(), clock })

export const text = (value: string): ContentBlock => ({ type: 'text', text: value })

/** A message per item, a minute apart: a string is said by the person and the assistant in turn. */
export function conversation(
  sessionId: string,
  items: (string | Partial<Message>)[],
  more: Partial<Conversation> & { from?: number } = {},
): Conversation {
  const { from = start, ...rest } = more
  const messages = items.map(
    (item, index): Message => ({
      id: `${sessionId}-m${index + 1}`,
      role: index % 2 === 0 ? 'user' : 'assistant',
      at: new Date(from + index * minute).toISOString(),
      content: typeof item === 'string' ? [text(item)] : [],
      ...(typeof item === 'string' ? {} : item),
    }),
  )
  return { sessionId, messages, facts: { skipped: {} }, ...rest }
}

export async function readArchive(
  memory: MemoryManager,
  sessionId: string,
  part = 1,
): Promise<ConversationArchive> {
  const archive = await memory.read<ConversationArchive>('episodic', conversationKey(sessionId, part))
  if (archive === null) throw new Error(`no archive ${conversationKey(sessionId, part)}`)
  return archive
}

/** A session of half an hour in the window, which ended so many minutes after `start`. */
export const windowEntry = (
  sessionId: string,
  minutes: number,
  more: Partial<SessionSummary> = {},
): SessionSummary => ({
  sessionId,
  date: new Date(start + minutes * minute).toISOString(),
  duration: '30m',
  messageCount: 34,
  summary: `summary of ${sessionId}`,
  archive: `conversation:${sessionId}`,
  ...more,
})

/** Answers with the given texts in turn, and remembers what it was asked. */
export function fakeLm(...answers: (string | Error)[]): LmProvider & { prompts: string[] } {
  const prompts: string[] = []
  return {
    model: 'fake/model',
    prompts,
    async complete({ prompt }) {
      prompts.push(prompt)
      const answer = answers[Math.min(prompts.length, answers.length) - 1] ?? ''
      if (answer instanceof Error) throw answer
      return answer
    },
  }
}

export const lmAnswer = (summary: string) =>
  JSON.stringify({
    summary,
    topics: ['Auth', 'jwt'],
    decisions: ['Use JWT for auth'],
    action_items: ['Rotate the keys'],
  })
