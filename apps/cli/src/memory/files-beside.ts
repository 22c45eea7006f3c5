import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { redactText } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import { type FileStore, layouts } from '@recall/store-file'

/** A file is held in memory as a whole. */
const mostBytes = 64 * 1024 * 1024

/** A file in which something was found, or that could not be examined. */
export type FileBeside<Found> =
  | { path: string; found: Found; problem?: undefined }
  | { path: string; problem: string }

/**
 * Looks for something in all files of a memory's folders, also those that no search reads: copies, editors' backups,
 * other notes. Hidden folders are left out, as are the memory's own folder, archived entries, which are packed, and
 * encrypted values, which look like keys.
 *
 * @param known paths of files that were examined already
 * @param examine returns what it found in the text of a file, or `undefined`
 */
export function filesBeside<Found>(
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
  known: ReadonlySet<string>,
  examine: (text: string) => Found | undefined,
): FileBeside<Found>[] {
  const examineFile = (path: string): FileBeside<Found>[] => {
    try {
      const { size } = statSync(join(root, path))
      if (size > mostBytes) return [{ path, problem: 'it is larger than 64 MB' }]
      const found = examine(withoutSealed(readFileSync(join(root, path), 'utf8')))
      return found === undefined ? [] : [{ path, found }]
    } catch (error) {
      return [{ path, problem: (error as Error).message }]
    }
  }
  const below = (folder: string): string[] =>
    entriesOf(join(root, folder)).flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isFile()) return [path]
      return entry.isDirectory() && !entry.name.startsWith('.') ? below(path) : []
    })
  /** The window or the table, which may lie beside the folder of the memory, and copies of it. */
  const namedLike = (file: string): string[] => {
    const folder = dirname(file)
    const stem = basename(file, extname(file))
    return entriesOf(join(root, folder))
      .filter((entry) => entry.isFile() && entry.name.includes(stem))
      .map(({ name }) => (folder === '.' ? name : `${folder}/${name}`))
  }
  const isPacked = (path: string): boolean => path.startsWith(`${layout.cold}/`) && path.endsWith('.json.gz')
  const archives = [layout, ...Object.values(layouts)].map((each) => each.archives)
  const paths = new Set([
    ...[layout.memory, ...archives].flatMap(below),
    ...[layout.window, layout.archiveIndex].flatMap(namedLike),
  ])
  return [...paths].filter((path) => !known.has(path) && !isPacked(path)).flatMap(examineFile)
}

/** A file's name may repeat a secret of its text. */
export function withCleanName<File extends { path: string; problem?: string | undefined }>(file: File): File {
  const clean = (text: string): string => redactText(text).text
  const { path, problem } = file
  return { ...file, path: clean(path), ...(problem === undefined ? {} : { problem: clean(problem) }) }
}

const withoutSealed = (text: string): string =>
  text.replace(/\{[^{}]*\}/g, (each) => (/"sealed":\s*"aes-256-gcm"/.test(each) ? '{}' : each))

const entriesOf = (folder: string): Dirent[] =>
  orAbsent(() => readdirSync(folder, { withFileTypes: true })) ?? []
