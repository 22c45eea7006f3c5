import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { FileSystem } from './file-system.ts'

/**
 * Where things lie below the root. A layout is data: paths relative to the root, with `/`.
 *
 * - `entity`: one root per entity, everything below `memory/`
 * - `user`: one root per person, window, index and archives beside `memory/`
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

/** Archives of either layout are readable in both. */
export const archiveFile = /^(?:conversation-|archive-log-)(\d{3,})\.md$/

export const archiveName = (layout: Layout, number: number): string =>
  `${layout.archivePrefix}${String(number).padStart(3, '0')}.md`

/**
 * The layout that a root already has; `entity` when it has none yet.
 *
 * @throws MemoryError CONFLICT when it holds both
 */
export function detectLayout(fileSystem: FileSystem, root: string): Layout {
  const has = (layout: Layout): boolean =>
    [layout.window, layout.archiveIndex, layout.archives].some((path) =>
      fileSystem.existsSync(join(root, path)),
    )
  const entity = has(layouts.entity)
  const user = has(layouts.user)
  if (entity && user) {
    throw new MemoryError(
      `${root} holds both layouts (memory/conversations and memories): say which one to use, with --layout entity or --layout user, in a program with layout: 'entity' or layout: 'user'`,
      MemoryErrorCode.CONFLICT,
      { details: { root } },
    )
  }
  return user ? layouts.user : layouts.entity
}
