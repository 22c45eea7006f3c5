import { isRecord } from '../json.ts'
import { separateMarkup } from './separate-markup.ts'
import type { TranscriptLine } from './transcript-line.ts'

/**
 * What a person types while the agent works is queued. Some versions of the host then log it as a
 * `queued_command` attachment, some as an ordinary user line, and some only as a pair of queue operations
 * (`enqueue`, later `remove` when the agent was handed the text in the middle of its turn). The queue is
 * tracked so that each prompt is read once and none is lost.
 */
export interface QueuedPrompts {
  /** The prompts that this queue operation handed to the agent. */
  onOperation(line: TranscriptLine): string[]
  /** Reports a prompt found in another line; returns true when it was read before from a queue operation. */
  onPrompt(text: string): boolean
  /** How many prompts were typed and never reached the agent. */
  undelivered(): number
}

export function createQueuedPrompts(): QueuedPrompts {
  const waiting: string[] = []
  /** Prompts read from a queue operation; the host may still log the same text again. */
  const delivered: string[] = []

  return {
    onOperation(line) {
      const { operation, content } = line.raw
      const text = typeof content === 'string' ? separateMarkup(content).said.trim() : undefined
      switch (operation) {
        case 'enqueue':
          if (text) waiting.push(text)
          return []
        case 'dequeue':
          if (text !== undefined) takeOut(waiting, text)
          return []
        case 'popAll':
          waiting.length = 0
          return []
        case 'remove': {
          // Older versions do not name the prompt. Reading all waiting ones loses none, and a later line
          // with one of them is recognised as read.
          const prompts = text === undefined ? waiting.splice(0) : takeOut(waiting, text)
          delivered.push(...prompts)
          return prompts
        }
        default:
          return []
      }
    },
    onPrompt(text) {
      const prompt = text.trim()
      if (takeOut(delivered, prompt).length > 0) return true
      takeOut(waiting, prompt)
      return false
    },
    undelivered: () => waiting.length,
  }
}

function takeOut(list: string[], text: string): string[] {
  const index = list.indexOf(text)
  return index === -1 ? [] : list.splice(index, 1)
}

/** What was queued, as a `queued_command` attachment holds it, unchecked; `null` for any other attachment. */
export function queuedCommandContent(line: TranscriptLine): unknown {
  const attachment = line.raw.attachment
  return isRecord(attachment) && attachment.type === 'queued_command' ? attachment.prompt : null
}
