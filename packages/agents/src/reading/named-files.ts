import type { Message } from '@recall/core'
import { outputBlock } from './messages.ts'

/** The files that a prompt names, which Gemini CLI and its forks append to it. */
const namedFiles = /\n--- Content from referenced files ---\n([\s\S]*?)(?:\n--- End of content ---\s*)?$/

/**
 * What was typed, then the files that it names, as output.
 *
 * @param text of the message
 */
export function withFilesApart(told: Message, text: string): Message[] {
  const [behind, files = ''] = (told.role === 'user' && namedFiles.exec(text)) || []
  if (behind === undefined) return [told]
  const typed = text.slice(0, -behind.length).trimEnd()
  return [
    ...(typed === '' ? [] : [{ ...told, content: [{ type: 'text' as const, text: typed }] }]),
    { ...told, id: `${told.id}#files`, role: 'assistant', content: [outputBlock(files.trim())] },
  ]
}
