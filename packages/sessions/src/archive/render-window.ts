import { type SessionSummary, windowHeading } from '@recall/core'

const separator = '\n\n---\n\n'

/** One session of the rolling window as markdown. */
export function renderSessionSummary(entry: SessionSummary): string {
  const project = entry.project === undefined ? '' : ` · **Project**: ${entry.project}`
  return [
    windowHeading(entry.sessionId, entry.date),
    `**Duration**: ${entry.duration} · **Messages**: ${entry.messageCount} · **Archive**: ${entry.archive}${project}`,
    '',
    entry.summary,
  ].join('\n')
}

/** The rolling window as markdown: handwritten notes, then the entries in the order given, separated by `---` lines. */
export function renderWindow(entries: readonly SessionSummary[], notes?: string): string {
  const blocks = [...(notes === undefined ? [] : [notes.trim()]), ...entries.map(renderSessionSummary)]
  return blocks.length === 0 ? '' : `${blocks.join(separator)}\n`
}
