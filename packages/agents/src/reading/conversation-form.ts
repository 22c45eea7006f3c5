import type { Conversation } from '@recall/core'

/** How one chat service writes a conversation into its export. */
export interface ConversationForm {
  /** Whether an element of the export's list has this form. */
  matches(value: Record<string, unknown>): boolean
  /** The service's id of the conversation, unchecked. */
  idOf(value: Record<string, unknown>): unknown
  /** Values that no later export changes, to identify a conversation without a valid id. */
  origin(value: Record<string, unknown>): readonly unknown[]
  /** When something was last said, ISO 8601. */
  changedAt(value: Record<string, unknown>): string | undefined
  toConversation(value: Record<string, unknown>, sessionId: string): Conversation
}
