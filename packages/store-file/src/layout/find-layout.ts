import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { FileSystem } from '../files/file-system.ts'
import { folderOf } from '../files/paths.ts'
import { archiveFoldersOf, type Layout, layouts } from './layout.ts'
import { layoutFile, readLayoutFile } from './layout-file.ts'

/**
 * Where things lie in a root: by the layout that is named, else the one of `.recall-echo.json`, else the one that the
 * root already has; `entity` when it has none yet. Paths of `.recall-echo.json` take the place of the layout's own.
 *
 * @throws MemoryError CONFLICT when the root holds both layouts and none is named, INVALID_INPUT when there is none of
 * that name, or `.recall-echo.json` is not valid
 */
export function layoutOf(fileSystem: FileSystem, root: string, name?: Layout['name']): Layout {
  if (name !== undefined && !Object.hasOwn(layouts, name)) {
    throw new MemoryError("layout is 'entity' or 'user'", MemoryErrorCode.INVALID_INPUT)
  }
  const file = readLayoutFile(fileSystem, root)
  const named = name ?? file.layout
  const layout = {
    ...(named ? layouts[named] : detectLayout(fileSystem, root, Object.values(file.paths))),
    ...file.paths,
  }
  assertApart(root, layout)
  return layout
}

/** Both layouts with the paths of `.recall-echo.json`: all places where a root may hold memory. */
export function layoutsOf(fileSystem: FileSystem, root: string): Layout[] {
  const { paths } = readLayoutFile(fileSystem, root)
  return Object.values(layouts).flatMap((layout) => [layout, { ...layout, ...paths }])
}

/** A folder of archives holds nothing else, and two places are not one. */
function assertApart(root: string, layout: Layout): void {
  const { window, archiveIndex, archives } = layout
  const isTaken = archiveFoldersOf(layout).includes(folderOf(layout.window))
  if (!isTaken && new Set([window, archiveIndex, archives].map((path) => path.toLowerCase())).size === 3)
    return
  throw new MemoryError(
    `${join(root, layoutFile)}: the window, the table of archives and the archives must lie apart, and the window in no folder of archives`,
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** The layout that the files of a root show, apart from those whose place was chosen; `entity` when none does. */
function detectLayout(fileSystem: FileSystem, root: string, chosen: readonly string[]): Layout {
  const has = (layout: Layout): boolean =>
    [layout.window, layout.archiveIndex, layout.archives].some(
      (path) => !chosen.includes(path) && fileSystem.existsSync(join(root, path)),
    )
  const entity = has(layouts.entity)
  const user = has(layouts.user)
  if (entity && user) {
    throw new MemoryError(
      `${root} holds both layouts (memory/conversations and memories): say which one to use, with --layout entity or --layout user, in a program with layout: 'entity' or layout: 'user', or for good in ${layoutFile}`,
      MemoryErrorCode.CONFLICT,
      { details: { root } },
    )
  }
  return user ? layouts.user : layouts.entity
}
