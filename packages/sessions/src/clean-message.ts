import { type ContentBlock, type JsonValue, type Message, redactText } from '@recall/core'
import { clip, oneLine } from './clip.ts'
import { stripRecalled } from './recalled-text.ts'

/** Tool inputs and outputs are noise past this many characters; only their beginnings are ever shown. */
const noiseLength = 16_384
const maxInputDepth = 20
const titleLength = 200

/** Takes secrets and recalled memory out of messages, and counts the secrets by kind. */
export interface MessageCleaner {
  clean(message: Message): Message
  /** On one line, of a length that a list can show; `undefined` when nothing is left of it. */
  cleanTitle(title: string): string | undefined
  readonly redactions: Readonly<Record<string, number>>
}

/**
 * Runs before anything else sees a message. Text that a person or the agent said is otherwise kept to the
 * letter; thinking is dropped; tool inputs and outputs are cut.
 */
export function createMessageCleaner(): MessageCleaner {
  const redactions: Record<string, number> = {}

  const redact = (text: string): string => {
    const redacted = redactText(text)
    for (const [kind, count] of Object.entries(redacted.counts)) {
      redactions[kind] = (redactions[kind] ?? 0) + count
    }
    return redacted.text
  }
  const cleanInput = (input: JsonValue, depth = 0): JsonValue => {
    if (typeof input === 'string') return redact(input.slice(0, noiseLength))
    if (input === null || typeof input !== 'object') return input
    if (depth >= maxInputDepth) return null
    if (Array.isArray(input)) return input.map((item) => cleanInput(item, depth + 1))
    return Object.fromEntries(
      Object.entries(input).map(([key, member]) => [key, cleanInput(member, depth + 1)]),
    )
  }

  const cleanBlock = (block: ContentBlock): ContentBlock[] => {
    switch (block.type) {
      case 'text':
        return [{ ...block, text: redact(stripRecalled(block.text)) }]
      case 'thinking':
        return []
      case 'tool_use':
        return [{ ...block, input: cleanInput(block.input) }]
      case 'tool_result':
        // Before it is cut: of a block without its end nobody could tell where it ends. Hosts cut long results, too.
        return [
          {
            ...block,
            content: redact(stripRecalled(block.content, { mayBeCut: true }).slice(0, noiseLength)),
          },
        ]
    }
  }

  return {
    redactions,
    cleanTitle: (title) => clip(oneLine(redact(stripRecalled(title))), titleLength) || undefined,
    clean: (message) => ({ ...message, content: message.content.flatMap(cleanBlock) }),
  }
}
