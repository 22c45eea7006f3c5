import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { orAbsent } from '@recall/core/process'
import type { FileStore, ScrubbedFile } from '@recall/store-file'

/** A file is held in memory as a whole. */
const mostBytes = 64 * 1024 * 1024

/**
 * Looks for secrets in files in the folders of a memory that no search reads: copies, editors' backups, other notes.
 * Hidden folders are left out, as are the memory's own folder, archived entries, which are packed, and encrypted
 * values, which look like keys.
 *
 * @param known paths of files that were examined already
 */
export function secretsBeside(
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
  known: ReadonlySet<string>,
  secretsIn: (text: string) => Record<string, number>,
): ScrubbedFile[] {
  const examineFile = (path: string): ScrubbedFile[] => {
    try {
      const { size } = statSync(join(root, path))
      if (size > mostBytes) return [{ path, counts: {}, problem: 'it is larger than 64 MB' }]
      const counts = secretsIn(withoutSealed(readFileSync(join(root, path), 'utf8')))
      return Object.keys(counts).length > 0 ? [{ path, counts }] : []
    } catch (error) {
      return [{ path, counts: {}, problem: (error as Error).message }]
    }
  }
  const below = (folder: string): string[] =>
    entriesOf(join(root, folder)).flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isFile()) return [path]
      return entry.isDirectory() && !entry.name.startsWith('.') ? below(path) : []
    })
  const isPacked = (path: string): boolean => path.startsWith(`${layout.cold}/`) && path.endsWith('.json.gz')
  const paths = new Set([layout.memory, layout.archives].flatMap(below))
  return [...paths].filter((path) => !known.has(path) && !isPacked(path)).flatMap(examineFile)
}

const withoutSealed = (text: string): string =>
  text.replace(/\{[^{}]*\}/g, (each) => (/"sealed":\s*"aes-256-gcm"/.test(each) ? '{}' : each))

const entriesOf = (folder: string): Dirent[] =>
  orAbsent(() => readdirSync(folder, { withFileTypes: true })) ?? []
