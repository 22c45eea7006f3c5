/** One memory of another tool, in a form common to all tools. */
export interface ImportedMemory {
  /** The tool, for example `claude-mem`. */
  source: string
  /** Stable in the source: a second import finds it again. */
  id: string
  /** Whether the id is only the name of a file: another folder may have a file of the same name. */
  isFile?: true
  text: string
  tags: string[]
  /** For example `decision`. */
  type?: string
  project?: string
  /** When it was recorded, ISO 8601; absent when the source does not say. */
  at?: string
}

/** The memories of an export, and how many records were skipped, by reason. */
export interface MemoryExport {
  format: string
  records: ImportedMemory[]
  skipped: Record<string, number>
}

/** The texts that are present, one per line. */
export const joined = (...texts: unknown[]): string =>
  texts
    .filter((text): text is string => typeof text === 'string' && text.trim() !== '')
    .map((text) => text.trim())
    .join('\n')

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** Reads a list of texts that is given as a list, as JSON in a string, or separated by commas. */
export function textList(value: unknown): string[] {
  if (Array.isArray(value))
    return value.filter((item): item is string => typeof item === 'string' && item !== '')
  if (typeof value !== 'string') return []
  if (value.trimStart().startsWith('[')) {
    try {
      return textList(JSON.parse(value))
    } catch {
      // Not JSON after all: read it as a comma-separated list.
    }
  }
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}
