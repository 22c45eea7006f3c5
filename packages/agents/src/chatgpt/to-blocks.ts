import type { ContentBlock } from '@recall/core'
import { isRecord } from '../content-blocks.ts'
import { type Skip, skippedKinds } from '../skipped.ts'

/** What a message says, calls or was answered. Settings that the service puts in are nobody's words. */
export function toBlocks(
  message: Record<string, unknown>,
  role: 'user' | 'assistant' | 'tool',
  skip: Skip,
): ContentBlock[] {
  const content = isRecord(message.content) ? message.content : {}
  switch (content.content_type ?? 'text') {
    case 'user_editable_context':
    case 'model_editable_context':
    case 'reasoning_recap':
      return []
    case 'thoughts':
      return thoughtsOf(content.thoughts)
    case 'text':
    case 'multimodal_text':
    case 'code':
    case 'execution_output':
      break
    default:
      // Of a kind that came later, a tool's answer is still its answer; who speaks is not guessed.
      if (role !== 'tool') {
        skip(skippedKinds.unknownBlock)
        return []
      }
  }
  const text = textOf(content, skip)
  if (text.trim() === '') return []
  const name = isRecord(message.author) && typeof message.author.name === 'string' ? message.author.name : ''
  if (role === 'tool') return [{ type: 'tool_result', toolUseId: name, content: text }]
  // A model addresses its tools by name, and the person as everybody.
  const { recipient } = message
  if (role === 'assistant' && typeof recipient === 'string' && recipient !== '' && recipient !== 'all') {
    return [{ type: 'tool_use', id: recipient, name: recipient, input: { input: text } }]
  }
  return [{ type: 'text', text }]
}

function thoughtsOf(thoughts: unknown): ContentBlock[] {
  if (!Array.isArray(thoughts)) return []
  return thoughts.filter(isRecord).flatMap(({ content, summary }): ContentBlock[] => {
    const text = typeof content === 'string' && content !== '' ? content : summary
    return typeof text === 'string' && text !== '' ? [{ type: 'thinking', text }] : []
  })
}

/** Its parts, a line each; pictures leave a marker, so that a turn made of one is still a turn. */
function textOf(content: Record<string, unknown>, skip: Skip): string {
  if (!Array.isArray(content.parts)) return typeof content.text === 'string' ? content.text : ''
  return content.parts
    .map((part: unknown) => {
      if (typeof part === 'string') return part
      if (isRecord(part) && typeof part.text === 'string') return part.text
      if (isRecord(part) && part.content_type === 'image_asset_pointer') return '[image]'
      skip(skippedKinds.unknownBlock)
      return ''
    })
    .filter((text) => text !== '')
    .join('\n')
}
