import type { ContentBlock, Message } from '@recall/core'
import { toInstant } from './instants.ts'

/** When a message was said, as a transcript writes it; nothing when that is not a time. */
export function saidAt(time: unknown): Pick<Message, 'at'> {
  const at = toInstant(time)
  return at === undefined ? {} : { at }
}

/** What the host or a command put out. It answers no call of the agent: such a result has an empty `toolUseId`. */
export const outputBlock = (content: string): ContentBlock => ({
  type: 'tool_result',
  toolUseId: '',
  content,
})
