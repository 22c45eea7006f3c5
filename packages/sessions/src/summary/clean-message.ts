import {
  type ContentBlock,
  type JsonValue,
  type Message,
  redactJson,
  redactText,
  stripRecalled,
} from '@recall/core'
import { asksMemory } from './asks-memory.ts'
import { clip, oneLine } from './clip.ts'

/** Tool inputs and outputs are noise past this many characters; only their beginnings are ever shown. */
const noiseLength = 16_384
const maxInputDepth = 20
const titleLength = 200

/** Removes secrets and recalled memory from messages, and counts the secrets by kind. */
export interface MessageCleaner {
  clean(message: Message): Message
  /** The title on one line, short enough for a list; `undefined` when nothing is left of it. */
  cleanTitle(title: string): string | undefined
  readonly redactions: Readonly<Record<string, number>>
}

/**
 * Must run before anything else sees a message. Otherwise, text of a person or the agent is kept word for word;
 * thinking is dropped; tool inputs and outputs are cut. The messages must come in order: what a tool put out that only
 * looked into the memory is recalled memory too.
 */
export function createMessageCleaner(): MessageCleaner {
  const redactions: Record<string, number> = {}
  /** Ids of tool uses that only looked into the memory. */
  const lookUps = new Set<string>()

  const counted = <Found extends { counts: Readonly<Record<string, number>> }>(found: Found): Found => {
    for (const [kind, count] of Object.entries(found.counts)) {
      redactions[kind] = (redactions[kind] ?? 0) + count
    }
    return found
  }
  const redact = (text: string): string => counted(redactText(text)).text
  const cut = (input: JsonValue, depth = 0): JsonValue => {
    if (typeof input === 'string') return input.slice(0, noiseLength)
    if (input === null || typeof input !== 'object') return input
    if (depth >= maxInputDepth) return null
    if (Array.isArray(input)) return input.map((item) => cut(item, depth + 1))
    return Object.fromEntries(Object.entries(input).map(([key, member]) => [key, cut(member, depth + 1)]))
  }
  /** As a whole: only the name of a member may show that its value is a password. */
  const cleanInput = (input: JsonValue): JsonValue => counted(redactJson(cut(input))).value

  /** Some hosts use an id again. */
  const noteLookUp = ({ id, input }: { id: string; input: JsonValue }): void => {
    if (asksMemory(input)) lookUps.add(id)
    else lookUps.delete(id)
  }

  const cleanBlock = (block: ContentBlock): ContentBlock[] => {
    switch (block.type) {
      case 'text':
        return [{ ...block, text: redact(stripRecalled(block.text)) }]
      case 'thinking':
        return []
      case 'tool_use':
        noteLookUp(block)
        return [{ ...block, input: cleanInput(block.input) }]
      case 'tool_result':
        if (lookUps.has(block.toolUseId) && !block.isError) return []
        // Stripped before the cut, which could remove a block's end. Hosts cut long results too, hence `mayBeCut`.
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
