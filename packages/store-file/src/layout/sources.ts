import { join } from 'node:path'
import { type MemoryScope, memoryScopes, type Place } from '@recall/core'
import { parseConversation } from '../documents/conversation.ts'
import type { FileEntry, FileTimes } from '../documents/file-entry.ts'
import { parseNote } from '../documents/note.ts'
import { sectionEntries } from '../documents/sections.ts'
import { windowEntries } from '../documents/window.ts'
import { entriesIn, type FileSystem } from '../files/file-system.ts'
import { fileStem, folderOf } from '../files/paths.ts'
import { archiveFile, archiveFoldersOf, archiveNumber, type Layout } from './layout.ts'
import { secondNames } from './second-names.ts'

export const defaultNamespace = 'default'

/** A folder whose files are memory, and how to read them. Subfolders are not included. */
export interface Source {
  /** Relative to the root, with `/`; empty for the root itself. */
  path: string
  /** Other folders where the same files may lie: a person moves them there after a change of the layout. */
  others?: readonly string[]
  accepts(name: string): boolean
  parse(name: string, content: string, times: FileTimes): LocatedEntry[]
}

export interface LocatedEntry extends FileEntry {
  scope: MemoryScope
  namespace: string
}

/** Every folder that holds memory in this layout, present or not. */
export function sourcesOf(fileSystem: FileSystem, root: string, layout: Layout): Source[] {
  const windowFolder = folderOf(layout.window)
  const windowName = layout.window.slice(windowFolder.length === 0 ? 0 : windowFolder.length + 1)
  const reserved = new Set(
    [layout.window, layout.archiveIndex].filter((path) => folderOf(path) === layout.memory),
  )
  const isCurated = (name: string): boolean =>
    name.endsWith('.md') && !name.startsWith('.') && !reserved.has(`${layout.memory}/${name}`)

  const windowSource: Source = {
    path: windowFolder,
    accepts: (name) => name === windowName,
    parse: (_name, content, times) => located('short-term', windowEntries(content, times)),
  }
  const curatedSource: Source = {
    path: layout.memory,
    accepts: isCurated,
    parse: (name, content, times) => located('long-term', sectionEntries(content, name, times)),
  }
  const documents =
    windowFolder === layout.memory ? [together(windowSource, curatedSource)] : [windowSource, curatedSource]

  const again = secondNames(fileSystem, root, layout)
  const folders = archiveFoldersOf(layout)
  const archives = folders.map(
    (path): Source => ({
      path,
      others: folders.filter((each) => each !== path),
      accepts: (name) => !again.has(path) && archiveFile.test(name),
      parse: parseArchive,
    }),
  )

  return [...documents, ...archives, ...noteSources(fileSystem, root, layout)]
}

/** The folder, relative to the root, of the plain entries of a namespace and scope. */
export function noteFolder(layout: Layout, namespace: string, scope: MemoryScope): string {
  if (namespace === defaultNamespace) return `${layout.memory}/${scope}`
  return `${layout.memory}/namespaces/${fileStem(namespace)}/${scope}`
}

/** Whether a file of a source, by its folder and name, may hold entries of a namespace and scope. */
export function mayHold(layout: Layout, folder: string, name: string, { namespace, scope }: Place): boolean {
  if (folder === noteFolder(layout, namespace, scope)) return true
  if (namespace !== defaultNamespace) return false
  if (archiveFile.test(name) && archiveFoldersOf(layout).includes(folder)) return scope === 'episodic'
  const isWindow = layout.window === (folder === '' ? name : `${folder}/${name}`)
  return isWindow ? scope === 'short-term' : folder === layout.memory && scope === 'long-term'
}

function noteSources(fileSystem: FileSystem, root: string, layout: Layout): Source[] {
  const folder = `${layout.memory}/namespaces`
  const found = entriesIn(fileSystem, join(root, folder)) ?? []
  const others = found.filter((each) => each.isDirectory()).map(({ name }) => name)
  return memoryScopes.flatMap((scope) => [
    noteSource(`${layout.memory}/${scope}`, scope, defaultNamespace),
    ...others.sort().map((name) => noteSource(`${folder}/${name}/${scope}`, scope, name)),
  ])
}

function noteSource(path: string, scope: MemoryScope, folderName: string): Source {
  return {
    path,
    accepts: (name) => name.endsWith('.md') && !name.startsWith('.'),
    parse(name, content, times) {
      const entry = parseNote(content, name.slice(0, -3), times)
      const spelled = entry.namespace !== undefined && fileStem(entry.namespace) === folderName
      return [{ ...entry, scope, namespace: spelled ? (entry.namespace as string) : folderName }]
    },
  }
}

function parseArchive(name: string, content: string, times: FileTimes): LocatedEntry[] {
  return located('episodic', [parseConversation(content, archiveNumber(name), name.slice(0, -3), times)])
}

const located = (scope: MemoryScope, entries: FileEntry[]): LocatedEntry[] =>
  entries.map((entry) => ({ ...entry, scope, namespace: defaultNamespace }))

/** Two sources in one folder. */
function together(first: Source, second: Source): Source {
  const of = (name: string): Source => (first.accepts(name) ? first : second)
  return {
    path: first.path,
    accepts: (name) => first.accepts(name) || second.accepts(name),
    parse: (name, content, times) => of(name).parse(name, content, times),
  }
}
