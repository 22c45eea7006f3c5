import type { ContentBlock, JsonValue } from '@recall/core'
import { asJson, isRecord, parseJson } from '../json.ts'
import { type Skip, skippedKinds } from './skipped.ts'

/**
 * Blocks of a message's `content`: a string, a block, or a list of blocks in the shape that the Messages API made
 * common. Blank texts are left out. A picture or document leaves a marker, so that a turn of nothing else is kept.
 */
export function toContentBlocks(content: unknown, skip: Skip): ContentBlock[] {
  if (typeof content === 'string') return textBlock(content)
  if (content === undefined || content === null) return []
  const items: unknown[] = Array.isArray(content) ? content : [content]
  return items.flatMap((item): ContentBlock[] => {
    if (typeof item === 'string') return textBlock(item)
    const block = isRecord(item) ? toContentBlock(item) : null
    if (block !== null) return block
    skip(skippedKinds.unknownBlock)
    return []
  })
}

function toContentBlock(block: Record<string, unknown>): ContentBlock[] | null {
  switch (block.type) {
    case undefined:
    case 'text':
    case 'input_text':
    case 'output_text':
      return typeof block.text === 'string' ? textBlock(block.text) : null
    case 'thinking':
      return typeof block.thinking === 'string' && block.thinking !== ''
        ? [{ type: 'thinking', text: block.thinking }]
        : []
    case 'redacted_thinking':
      return []
    case 'image':
    case 'image_url':
    case 'input_image':
      return [{ type: 'text', text: '[image]' }]
    case 'document':
    case 'file':
      return [{ type: 'text', text: '[document]' }]
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      if (typeof block.name !== 'string') return null
      return [
        {
          type: 'tool_use',
          id: typeof block.id === 'string' ? block.id : '',
          name: block.name,
          // A JSON value, since it came out of `JSON.parse`.
          input: (block.input ?? null) as JsonValue,
        },
      ]
    default:
      if (typeof block.type !== 'string' || !block.type.endsWith('tool_result')) return null
      return [
        {
          type: 'tool_result',
          toolUseId: typeof block.tool_use_id === 'string' ? block.tool_use_id : '',
          content: toResultText(block.content),
          ...(block.is_error === true ? { isError: true } : {}),
        },
      ]
  }
}

const attachmentMarks = ['[image]', '[document]']

/** Whether a block only marks the place of a picture or a document. */
export const isAttachmentMark = (block: ContentBlock): boolean =>
  block.type === 'text' && attachmentMarks.includes(block.text)

/** The text of a tool's result: its text blocks, one per line, and for other blocks their type in brackets. */
export function toResultText(content: unknown): string {
  if (typeof content === 'string') return content
  if (content === undefined || content === null) return ''
  if (!Array.isArray(content)) return asJson(content)
  return content
    .map((item) => {
      if (typeof item === 'string') return item
      if (!isRecord(item)) return asJson(item)
      return typeof item.text === 'string'
        ? item.text
        : `[${typeof item.type === 'string' ? item.type : 'data'}]`
    })
    .join('\n')
}

/** A tool's name; `tool` when the host gives none. */
export const toolName = (name: unknown): string => (typeof name === 'string' ? name : 'tool')

/** A tool's input: chat APIs send it as JSON in a string, and some tools take a plain text. */
export function toToolInput(value: unknown): JsonValue {
  const parsed = typeof value === 'string' ? parseJson(value) : undefined
  return (parsed ?? value ?? null) as JsonValue
}

function textBlock(text: string): ContentBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}
