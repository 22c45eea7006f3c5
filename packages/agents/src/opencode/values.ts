import type { ContentBlock } from '@recall/core'
import { isRecord, parseJson } from '../json.ts'
import { toContentBlocks } from '../reading/content-blocks.ts'
import type { Skip } from '../reading/skipped.ts'

/** The object in a column of JSON; an empty one when there is none. */
export function objectIn(text: unknown): Record<string, unknown> {
  const value = typeof text === 'string' ? parseJson(text) : text
  return isRecord(value) ? value : {}
}

/**
 * The host puts the text of a file or folder that a person named into the message; the name is already in the person's
 * words.
 */
export function toAttachment(mime: unknown, skip: Skip): ContentBlock[] {
  if (typeof mime !== 'string' || /^text\/|directory$/.test(mime)) return []
  return toContentBlocks([{ type: mime.startsWith('image/') ? 'image' : 'document' }], skip)
}
