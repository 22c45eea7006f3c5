import type { JsonValue } from './json.ts'

/** One piece of a message, whatever host agent it came from. */
export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: JsonValue }
  | { type: 'tool_result'; toolUseId: string; content: string; isError?: boolean | undefined }

/** One turn. `user` holds only what a person said: tool results are blocks of the assistant's turn. */
export interface Message {
  /** Stable across two readings of the same transcript. */
  id: string
  role: 'user' | 'assistant'
  content: ContentBlock[]
  /** ISO 8601, when the transcript says so. */
  at?: string | undefined
}

/** Facts about a conversation that are complete once its messages have been read. */
export interface ConversationFacts {
  /** What the host called the session, if it did. */
  title?: string | undefined
  /** The folder the agent worked in. */
  project?: string | undefined
  /** How many items the reader skipped, by kind, for example `{ 'half-written line': 1 }`. */
  skipped: Record<string, number>
}

/**
 * A session as a stream of messages, so that a transcript of any size is read in bounded memory.
 * `messages` may be iterated once.
 */
export interface Conversation {
  sessionId: string
  /** Whether the id is only a file name or a time, which another session may share. */
  isNamedByFile?: true | undefined
  messages: AsyncIterable<Message> | Iterable<Message>
  /** Id of the session that started this one; set only for a helper's transcript. */
  parent?: string | undefined
  facts: ConversationFacts
}
