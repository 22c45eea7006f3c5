/**
 * Where things lie below the root. A layout is data: paths relative to the root, with `/`.
 *
 * - `entity`: one root per entity, everything below `memory/`
 * - `user`: one root per person, with window, index and archives next to `memory/`
 */
export interface Layout {
  name: 'entity' | 'user'
  /** Curated memory and its topic files, plain entries, and this store's own folder. */
  memory: string
  curated: string
  window: string
  archiveIndex: string
  archives: string
  /** Archive files are `<archivePrefix>NNN.md`. */
  archivePrefix: string
  config: string
  /** Archived entries, compressed. */
  cold: string
  /** Index, lock, access counts: nothing a person edits. */
  internal: string
}

const shared = {
  memory: 'memory',
  curated: 'memory/MEMORY.md',
  config: 'memory/.recall-echo.toml',
  cold: 'memory/cold',
  internal: 'memory/.recall',
}

export const layouts: Record<Layout['name'], Layout> = {
  entity: {
    ...shared,
    name: 'entity',
    window: 'memory/EPHEMERAL.md',
    archiveIndex: 'memory/ARCHIVE.md',
    archives: 'memory/conversations',
    archivePrefix: 'conversation-',
  },
  user: {
    ...shared,
    name: 'user',
    window: 'EPHEMERAL.md',
    archiveIndex: 'ARCHIVE.md',
    archives: 'memories',
    archivePrefix: 'archive-log-',
  },
}

/**
 * Archives of either layout are readable in both. A number of more digits may not be a safe integer, so that no next
 * number exists.
 */
export const archiveFile = /^(?:conversation-|archive-log-)(\d{3,15})\.md$/

/** How Syncthing, Dropbox and others name the later version of an archive. */
export const copyOfArchive = /^(?:conversation-|archive-log-)(\d{3,15})[^\da-z].*\.md$/i

/** The number in the name of an archive file, or of a copy of it. */
export const archiveNumber = (name: string): number =>
  Number((archiveFile.exec(name) ?? copyOfArchive.exec(name))?.[1])

/** The order of files in a folder of archives: the oldest first. */
export const compareArchives = (one: string, other: string): number => {
  if (one === other) return 0
  return archiveNumber(one) - archiveNumber(other) || (one < other ? -1 : 1)
}

/** Archives of the other layout are memory too. */
export const archiveFoldersOf = (layout: Layout): string[] => [
  ...new Set([layout.archives, ...Object.values(layouts).map(({ archives }) => archives)]),
]

/** The files and folders where a memory of this layout lies. */
export const placesOf = (layout: Layout): string[] => [
  layout.memory,
  layout.window,
  layout.archiveIndex,
  ...archiveFoldersOf(layout),
]

export const archiveName = (layout: Layout, number: number): string =>
  `${layout.archivePrefix}${String(number).padStart(3, '0')}.md`
