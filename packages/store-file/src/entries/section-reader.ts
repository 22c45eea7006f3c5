import { basename } from 'node:path'
import type { FileEntry } from '../documents/file-entry.ts'
import { sectionEntries } from '../documents/sections.ts'
import type { TextFile } from '../files/read-text.ts'

/**
 * Returns a function that finds a section in a curated file that was just read. Who reads many sections of a long file,
 * one by one, has it split once: for as long as the file says the same, to the letter.
 */
export function createSectionReader(parse: typeof sectionEntries = sectionEntries) {
  let last: { path: string; content: string; modified: number; entries: Map<string, FileEntry> } | undefined

  return (path: string, { content, stamp }: Pick<TextFile, 'content' | 'stamp'>, key: string) => {
    const modified = Math.round(stamp.modified)
    if (last?.path !== path || last.modified !== modified || last.content !== content) {
      const entries = parse(content, basename(path), { modified })
      last = { path, content, modified, entries: new Map(entries.map((entry) => [entry.key, entry])) }
    }
    // Who reads a section may change what it gets.
    return structuredClone(last.entries.get(key)) ?? null
  }
}
