import type { Message } from '@recall/core'
import { outputBlock } from './messages.ts'

/** The words that a host puts before, between and after a command that the person ran and its output. */
export type CommandFrame = readonly [before: string, between: string, after: string]

/** What the person typed to run a command, and its output; `undefined` when the message is not about a command. */
export function ranCommand(message: Message, frame: CommandFrame): Message[] | undefined {
  const [block] = message.content
  if (message.role !== 'user' || block?.type !== 'text') return undefined
  const [before, between, after] = frame
  const text = block.text.trim()
  const middle = text.indexOf(between, before.length)
  if (!text.startsWith(before) || !text.endsWith(after) || middle === -1) return undefined
  const command = text.slice(before.length, middle)
  return commandOf(message, command, text.slice(middle + between.length, -after.length))
}

/** What the person typed to run a command, then its output. */
export const commandOf = (message: Message, command: string, output: string): Message[] => [
  { ...message, role: 'user', content: [{ type: 'text', text: `! ${command}` }] },
  {
    ...message,
    id: `${message.id}#output`,
    role: 'assistant',
    content: [outputBlock(output.trimEnd())],
  },
]
