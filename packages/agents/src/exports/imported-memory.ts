/** One memory that another tool kept, in a form that is the same for all. */
export interface ImportedMemory {
  /** The tool, for example `claude-mem`. */
  source: string
  /** Stable in the source: a second import finds it again. */
  id: string
  text: string
  tags: string[]
  /** For example `decision`. */
  type?: string
  project?: string
  /** When it was recorded, ISO 8601; absent when the source does not say. */
  at?: string
}

/** What an export holds, and what was passed over in it, by reason. */
export interface MemoryExport {
  format: string
  records: ImportedMemory[]
  skipped: Record<string, number>
}

/** Texts on lines of their own, without those that are missing. */
export const joined = (...texts: unknown[]): string =>
  texts
    .filter((text): text is string => typeof text === 'string' && text.trim() !== '')
    .map((text) => text.trim())
    .join('\n')

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** Lists come as lists, as JSON in a string, or separated by commas. */
export function textList(value: unknown): string[] {
  if (Array.isArray(value))
    return value.filter((item): item is string => typeof item === 'string' && item !== '')
  if (typeof value !== 'string') return []
  if (value.trimStart().startsWith('[')) {
    try {
      return textList(JSON.parse(value))
    } catch {
      // It was no JSON after all.
    }
  }
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}
