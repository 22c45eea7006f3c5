import type { TranscriptLine } from './transcript-line.ts'

/** Line types that name a session, the best first, with the member that holds the name. */
const sources = [
  ['custom-title', 'customTitle'],
  ['ai-title', 'aiTitle'],
  ['summary', 'summary'],
] as const

/**
 * The session's title: the person's, otherwise one that the host generated; the last of several of a kind. The host
 * also writes titles of other sessions into a file: those name the other session or, in a `summary`, a message of it.
 */
export function createTitle(sessionId: string): {
  onLine(line: TranscriptLine): void
  best(): string | undefined
} {
  const titles = new Map<string, string>()
  const messages = new Set<string>()
  /** Summaries of messages that have not been read yet, by the message's id. */
  const early = new Map<string, string>()
  return {
    onLine(line) {
      if (line.uuid !== undefined) {
        messages.add(line.uuid)
        const title = early.get(line.uuid)
        if (title !== undefined) titles.set('summary', title)
      }
      const member = sources.find(([type]) => type === line.type)?.[1]
      const title = member && line.raw[member]
      if (typeof title !== 'string' || title.trim() === '') return
      const { leafUuid } = line.raw
      if (typeof leafUuid === 'string' && !messages.has(leafUuid)) early.set(leafUuid, title.trim())
      else if ((line.sessionId ?? sessionId) === sessionId) titles.set(line.type, title.trim())
    },
    best: () => sources.map(([type]) => titles.get(type)).find((title) => title !== undefined),
  }
}
