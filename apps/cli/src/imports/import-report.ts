import { memoryFormats } from '@recall/agents'
import type { MemoryError } from '@recall/core'
import { withoutFormats } from '../archiving/known-formats.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count, formatCounts, formatSkipped } from '../terminal/format.ts'

/** A source that could not be imported, and why. */
export interface Failure {
  path: string
  reason: string
}

/** The outcome of one file of memories. */
export interface ImportOutcome {
  written: number
  unchanged: number
  /** Left out, because a person had forgotten them. */
  forgotten: number
  /** Left as they are, because the memory has something else under their keys. */
  kept: number
  redactions: Record<string, number>
  skipped: Record<string, number>
}

export const emptyOutcome = (): ImportOutcome => ({
  written: 0,
  unchanged: 0,
  forgotten: 0,
  kept: 0,
  redactions: {},
  skipped: {},
})

/** The outcome of an import. */
export interface ImportReport {
  archived: number
  updated: number
  unchanged: number
  empty: number
  /** Sessions and memories that a person had forgotten; they stay forgotten. */
  forgotten: number
  /** Memories of other tools, new or changed. */
  memories: number
  /** Entries that `recall export` printed. */
  entries: number
  /** Memories that differ from their source, and were left as they are. */
  kept: number
  /** Sessions of other projects, and files of no known format. */
  passedOver: number
  failed: Failure[]
  messages: number
  redactions: Record<string, number>
  skipped: Record<string, number>
}

export const emptyReport = (): ImportReport => ({
  archived: 0,
  updated: 0,
  unchanged: 0,
  empty: 0,
  forgotten: 0,
  memories: 0,
  entries: 0,
  kept: 0,
  passedOver: 0,
  failed: [],
  messages: 0,
  redactions: {},
  skipped: {},
})

export function describeImport(report: ImportReport, formats: readonly string[] = []): string {
  const lines = [
    `${report.archived} archived, ${report.updated} brought up to date, ${report.unchanged} unchanged, ${report.empty} empty (${count(report.messages, 'message')})`,
    ...(report.memories > 0 ? [`${count(report.memories, 'memory', 'memories')} of other tools`] : []),
    ...(report.entries > 0 ? [`${count(report.entries, 'memory', 'memories')} of an export`] : []),
    ...(report.kept > 0 ? [`${report.kept} left as they are: they say something else here`] : []),
    ...(report.passedOver > 0
      ? [`${report.passedOver} passed over: other projects, or no known format`]
      : []),
    ...(Object.keys(report.redactions).length > 0
      ? [`secrets replaced: ${formatCounts(report.redactions)}`]
      : []),
    ...(Object.keys(report.skipped).length > 0 ? [`passed over: ${formatSkipped(report.skipped)}`] : []),
    ...(report.forgotten > 0 ? [`left out, because forgotten: ${report.forgotten}`] : []),
    ...describeFailed(report.failed),
    ...(formats.length > 0
      ? [`Recall understands: ${[...formats, ...memoryFormats, "what 'recall export' printed"].join('; ')}`]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

export const describeFailed = (failed: readonly Failure[]): string[] =>
  firstFew(
    failed.map(({ path, reason }) => `not imported: ${path}: ${reason}`),
    'file',
  )

/** Why a file was not imported, without its path. */
export function reasonOf(error: MemoryError, path: string): string {
  const message = withoutFormats(error, path)
  // For a conversation, the message names the export that contains it.
  const named = [`${path} `, `${path.replace(/#[^#]*$/, '')}: `].find((each) => message.startsWith(each))
  return message.slice(named?.length ?? 0)
}
