import { basename } from 'node:path'
import type { FileEntry } from '../documents/file-entry.ts'
import { sectionEntries } from '../documents/sections.ts'
import type { TextFile } from '../files/read-text.ts'

/**
 * Returns a function that finds a section in a curated file that was just read. When many sections of a long file are
 * read one by one, it is split once, for as long as its text stays exactly the same.
 */
export function createSectionReader(parse: typeof sectionEntries = sectionEntries) {
  let last: { path: string; content: string; modified: number; entries: Map<string, FileEntry> } | undefined

  return (path: string, { content, stamp }: Pick<TextFile, 'content' | 'stamp'>, key: string) => {
    const modified = Math.round(stamp.modified)
    if (last?.path !== path || last.modified !== modified || last.content !== content) {
      const entries = parse(content, basename(path), { modified })
      last = { path, content, modified, entries: new Map(entries.map((entry) => [entry.key, entry])) }
    }
    // Callers may change what they get.
    return structuredClone(last.entries.get(key)) ?? null
  }
}
