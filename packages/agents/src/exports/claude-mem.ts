import { isRecord } from '../json.ts'
import { toInstant } from '../reading/instants.ts'
import { hasTables, type Query } from '../reading/sqlite-snapshot.ts'
import { type ImportedMemory, joined, type MemoryExport, text, textList } from './imported-memory.ts'

const source = 'claude-mem'

interface Document {
  observations: unknown[]
  summaries?: unknown
  metadata?: unknown
}

export const isClaudeMemDocument = (value: unknown): value is Document =>
  isRecord(value) && 'exportedAtEpoch' in value && Array.isArray(value.observations)

export const isClaudeMemDatabase = (query: Query): boolean => hasTables(query, 'observations', 'sdk_sessions')

/** Observations and session summaries. Prompts are left out: they are in the sessions. */
export function readClaudeMem({ observations, summaries, metadata }: Document): MemoryExport {
  const skipped: Record<string, number> = {}
  const ends: unknown[] = Array.isArray(summaries) ? summaries : []
  const found = [...observations.filter(isRecord).map(toObservation), ...ends.filter(isRecord).map(toSummary)]
  const records = found.filter((record) => record.text !== '')
  const left = observations.length + ends.length - records.length
  if (left > 0) skipped['record without text'] = left
  // A partial export is not meant to be imported alone, but its records are memories all the same.
  if (isRecord(metadata) && (metadata.partial === true || metadata.importable === false))
    skipped['rest of an export that says it is not complete'] = 1
  return { format: 'claude-mem', records, skipped }
}

export function readClaudeMemDatabase(query: Query): MemoryExport {
  const summaries = hasTables(query, 'session_summaries')
    ? query('SELECT * FROM session_summaries ORDER BY id')
    : []
  return readClaudeMem({ observations: query('SELECT * FROM observations ORDER BY id'), summaries })
}

function toObservation(row: Record<string, unknown>): ImportedMemory {
  const files = [...textList(row.files_read), ...textList(row.files_modified)]
  return {
    ...common(row),
    id: text(row.content_hash) ?? `observation:${idOf(row, row.title)}`,
    text: joined(
      row.title,
      row.subtitle,
      text(row.narrative) ?? row.text,
      ...textList(row.facts).map((fact) => `- ${fact}`),
      files.length > 0 ? `Files: ${[...new Set(files)].join(', ')}` : '',
    ),
    tags: textList(row.concepts),
    type: text(row.type) ?? 'observation',
  }
}

function toSummary(row: Record<string, unknown>): ImportedMemory {
  const section = (title: string, value: unknown): string => (text(value) ? `${title}: ${text(value)}` : '')
  return {
    ...common(row),
    id: `summary:${idOf(row, row.request)}`,
    text: joined(
      section('Request', row.request),
      section('Investigated', row.investigated),
      section('Learned', row.learned),
      section('Completed', row.completed),
      section('Next steps', row.next_steps),
      section('Notes', row.notes),
    ),
    tags: [],
    type: 'session-summary-import',
  }
}

function common(row: Record<string, unknown>): Pick<ImportedMemory, 'source' | 'project' | 'at'> {
  const at = toInstant(row.created_at_epoch ?? row.created_at)
  const project = text(row.merged_into_project ?? row.project)
  return { source, ...(project ? { project } : {}), ...(at ? { at } : {}) }
}

/** The id by which the tool's own import recognises a record. */
const idOf = (row: Record<string, unknown>, title: unknown): string =>
  [row.memory_session_id, title, row.created_at_epoch ?? row.id]
    .map((part) => (typeof part === 'object' ? '' : String(part ?? '')))
    .join('|')
