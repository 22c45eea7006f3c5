import type { Message } from '@recall/core'

const user = 'user|human|you|me'
const assistant = 'assistant|ai|agent|model|bot|chatgpt|claude|codex|copilot|cursor|gemini'

/** The style of `User: …`. Such lines occur in notes as well. */
export const plainStyle = 'plain'

export interface SpeakerLabel {
  /** How the label is written. A transcript uses one style throughout; labels in another style are spoken text. */
  style: string
  role: Message['role']
  /** What follows the label on its line. */
  rest: string
}

const styles: { name: (match: RegExpExecArray) => string; pattern: RegExp }[] = [
  {
    name: (match) => match[1] ?? '',
    pattern: new RegExp(`^(#{1,6})[ \\t]+(?:(${user})|(?:${assistant}))[ \\t]*:?()[ \\t]*$`, 'i'),
  },
  {
    name: () => 'bold',
    pattern: new RegExp(
      `^()\\*\\*(?:(${user})|(?:${assistant}))(?:(?::\\*\\*|\\*\\*:)[ \\t]*(.*)|\\*\\*[ \\t]*)$`,
      'i',
    ),
  },
  {
    name: () => plainStyle,
    pattern: new RegExp(`^()(?:(${user})|(?:${assistant})):(?:[ \\t]+(.*))?$`, 'i'),
  },
]

/** The speaker that a line of markdown names: `## User`, `**User:** …`, `**User**` or `User: …`; otherwise `null`. */
export function toSpeakerLabel(line: string): SpeakerLabel | null {
  for (const { name, pattern } of styles) {
    const match = pattern.exec(line)
    if (match !== null) {
      return { style: name(match), role: match[2] ? 'user' : 'assistant', rest: match[3] ?? '' }
    }
  }
  return null
}
