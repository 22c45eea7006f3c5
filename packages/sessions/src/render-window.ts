import type { SessionSummary } from '@recall/core'

const separator = '\n\n---\n\n'

/** One session of the rolling window as markdown. */
export function renderSessionSummary(entry: SessionSummary): string {
  return [
    `## Session ${entry.sessionId} — ${entry.date}`,
    `**Duration**: ${entry.duration} · **Messages**: ${entry.messageCount} · **Archive**: ${entry.archive}`,
    '',
    entry.summary,
  ].join('\n')
}

/** The rolling window as markdown, in the order given, entries set apart by a line `---`. */
export function renderWindow(entries: readonly SessionSummary[]): string {
  if (entries.length === 0) return ''
  return `${entries.map(renderSessionSummary).join(separator)}\n`
}
