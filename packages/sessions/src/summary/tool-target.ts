import type { JsonValue } from '@recall/core'
import { clip, oneLine } from './clip.ts'

/** Members of a tool's input that show what it was used on, the most telling first. */
const telling = [
  'file_path',
  'path',
  'notebook_path',
  'command',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
  'name',
]

/** What a tool was used on, in one short line; '' when its input does not show it. */
export function toolTarget(input: JsonValue): string {
  if (typeof input === 'string') return clip(oneLine(input), 120)
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return ''
  const named = telling.map((member) => input[member]).find(isText)
  return clip(oneLine(named ?? Object.values(input).find(isText) ?? ''), 120)
}

const isText = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value.trim() !== ''
