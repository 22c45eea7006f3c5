import { isRecord } from '../json.ts'
import { toInstant } from '../reading/instants.ts'
import { countInto } from '../reading/skipped.ts'
import { type ImportedMemory, joined, type MemoryExport, text, textList } from './imported-memory.ts'

const source = 'agentmemory'

/** Lists that are read; a session itself only groups its observations. */
const lists = new Set(['sessions', 'memories', 'summaries'])

interface Document {
  sessions: unknown[]
  /** By session. */
  observations: Record<string, unknown>
  memories?: unknown
  summaries?: unknown
}

export const isAgentmemoryDocument = (value: unknown): value is Document & Record<string, unknown> =>
  isRecord(value) &&
  typeof value.version === 'string' &&
  Array.isArray(value.sessions) &&
  isRecord(value.observations)

/**
 * Reads memories, and the observations and summary of each session. Memories that were replaced or have expired are
 * left out; records in lists of other kinds, which later versions add, are counted as skipped.
 *
 * @param now milliseconds; memories that have expired by then are left out
 */
export function readAgentmemory(document: Document, now: number): MemoryExport {
  const skipped: Record<string, number> = {}
  const skip = countInto(skipped)
  const projects = new Map(document.sessions.filter(isRecord).map(({ id, project }) => [id, project]))
  const each = (list: unknown, to: (item: Record<string, unknown>) => ImportedMemory): ImportedMemory[] =>
    (Array.isArray(list) ? list : []).flatMap((item) => {
      const record = isRecord(item) ? to(item) : null
      if (record !== null && record.text !== '' && record.id !== '') return [record]
      skip('record without text or id')
      return []
    })
  const isKept = (item: unknown): boolean => {
    if (!isRecord(item)) return true
    const until = toInstant(item.forgetAfter)
    const isOver = until !== undefined && Date.parse(until) < now
    if (item.isLatest === false) skip('memory that a newer one replaced')
    else if (isOver) skip('memory that has expired')
    return item.isLatest !== false && !isOver
  }
  const memories = Array.isArray(document.memories) ? document.memories.filter(isKept) : []
  const records = [
    ...each(memories, toMemory),
    ...Object.entries(document.observations).flatMap(([session, list]) =>
      each(list, (item) => toObservation(item, projects.get(session))),
    ),
    ...each(document.summaries, toSummary),
  ]
  for (const [name, list] of Object.entries(document)) {
    if (Array.isArray(list) && !lists.has(name))
      for (const _ of list) skip('record of a kind that is not imported')
  }
  return { format: source, records, skipped }
}

const toMemory = (item: Record<string, unknown>): ImportedMemory => ({
  ...common(item.createdAt, item.project),
  id: text(item.id) ?? '',
  text: joined(item.title, item.content === item.title ? '' : item.content, filesIn(item.files)),
  tags: textList(item.concepts),
  type: text(item.type) ?? 'memory',
})

const toObservation = (item: Record<string, unknown>, project: unknown): ImportedMemory => ({
  ...common(item.timestamp, project),
  id: text(item.id) ? `observation:${text(item.id)}` : '',
  text: joined(
    item.title,
    item.subtitle,
    item.narrative,
    ...textList(item.facts).map((fact) => `- ${fact}`),
    filesIn(item.files),
  ),
  tags: textList(item.concepts),
  type: text(item.type) ?? 'observation',
})

const toSummary = (item: Record<string, unknown>): ImportedMemory => ({
  ...common(item.createdAt, item.project),
  id: text(item.sessionId) ? `summary:${text(item.sessionId)}` : '',
  text: joined(
    item.title,
    item.narrative,
    ...textList(item.keyDecisions).map((decision) => `- ${decision}`),
    filesIn(item.filesModified),
  ),
  tags: textList(item.concepts),
  type: 'session-summary-import',
})

function common(time: unknown, named: unknown): Pick<ImportedMemory, 'source' | 'project' | 'at'> {
  const at = toInstant(time)
  const project = text(named)
  return { source, ...(project ? { project } : {}), ...(at ? { at } : {}) }
}

const filesIn = (files: unknown): string => {
  const names = textList(files)
  return names.length > 0 ? `Files: ${[...new Set(names)].join(', ')}` : ''
}
