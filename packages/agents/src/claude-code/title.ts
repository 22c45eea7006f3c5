import type { TranscriptLine } from './transcript-line.ts'

/** Line types that name a session, the best first, with the member that holds the name. */
const sources = [
  ['custom-title', 'customTitle'],
  ['ai-title', 'aiTitle'],
  ['summary', 'summary'],
] as const

/** The session's title: the person's, else one that the host generated; of several of a kind, the last. */
export function createTitle(): { onLine(line: TranscriptLine): void; best(): string | undefined } {
  const titles = new Map<string, string>()
  return {
    onLine(line) {
      const member = sources.find(([type]) => type === line.type)?.[1]
      const title = member && line.raw[member]
      if (typeof title === 'string' && title.trim() !== '') titles.set(line.type, title.trim())
    },
    best: () => sources.map(([type]) => titles.get(type)).find((title) => title !== undefined),
  }
}
