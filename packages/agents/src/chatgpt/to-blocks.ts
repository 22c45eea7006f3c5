import type { ContentBlock } from '@recall/core'
import { isRecord, nonEmptyText } from '../json.ts'
import { type Skip, skippedKinds } from '../reading/skipped.ts'

/** The content blocks of a message: text, a tool call or its result. Settings that the service inserts are left out. */
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
      // An unknown kind is kept as a tool's result; in another message it might not be what was said.
      if (role !== 'tool') {
        skip(skippedKinds.unknownBlock)
        return []
      }
  }
  const text = textOf(content, skip)
  if (text.trim() === '') return []
  const name = isRecord(message.author) && typeof message.author.name === 'string' ? message.author.name : ''
  if (role === 'tool') return [{ type: 'tool_result', toolUseId: name, content: text }]
  // The model addresses a tool by its name, and the person as `all`.
  const { recipient } = message
  if (role === 'assistant' && typeof recipient === 'string' && recipient !== '' && recipient !== 'all') {
    return [{ type: 'tool_use', id: recipient, name: recipient, input: { input: text } }]
  }
  return [{ type: 'text', text }]
}

function thoughtsOf(thoughts: unknown): ContentBlock[] {
  if (!Array.isArray(thoughts)) return []
  return thoughts.filter(isRecord).flatMap(({ content, summary }): ContentBlock[] => {
    const text = nonEmptyText(content) ?? summary
    return typeof text === 'string' && text !== '' ? [{ type: 'thinking', text }] : []
  })
}

/** The text of the parts, one per line. A picture leaves a marker, so that a turn of only a picture is kept. */
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
