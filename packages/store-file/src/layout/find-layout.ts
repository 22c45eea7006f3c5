import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { FileSystem } from '../files/file-system.ts'
import { folderOf } from '../files/paths.ts'
import { archiveFoldersOf, type Layout, layouts } from './layout.ts'
import { layoutFile, readLayoutFile } from './layout-file.ts'

/**
 * The layout of a root: the one in `.recall-echo.json`, otherwise the one that the root's files show, otherwise the one
 * that is named, by default `entity`. Paths in `.recall-echo.json` override those of the layout.
 *
 * @param name decides between the two where the root holds both, or is new
 * @throws MemoryError CONFLICT when the root holds both layouts and none is named, INVALID_INPUT when no layout has
 * that name, or `.recall-echo.json` is not valid, or the root has another layout: read by the named one, its sessions
 * would be missing, and a second layout next to the first would force everybody to say which one they mean
 */
export function layoutOf(fileSystem: FileSystem, root: string, name?: Layout['name']): Layout {
  if (name !== undefined && !Object.hasOwn(layouts, name)) {
    throw new MemoryError("layout is 'entity' or 'user'", MemoryErrorCode.INVALID_INPUT)
  }
  const { layout: stated, paths } = readLayoutFile(fileSystem, root)
  if (name !== undefined && stated !== undefined && stated !== name) {
    throw new MemoryError(
      `${join(root, layoutFile)} names the ${stated} layout: leave out --layout (in a program: layout), or name the ${name} layout there`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  const layout = {
    ...(stated ? layouts[stated] : detectLayout(fileSystem, root, Object.values(paths), name)),
    ...paths,
  }
  assertApart(root, layout)
  return layout
}

/** Both layouts with the paths of `.recall-echo.json`: every place where a root may hold memory. */
export function layoutsOf(fileSystem: FileSystem, root: string): Layout[] {
  const { paths } = readLayoutFile(fileSystem, root)
  return Object.values(layouts).flatMap((layout) => [layout, { ...layout, ...paths }])
}

/** A folder of archives holds nothing else, and no two places may coincide. */
function assertApart(root: string, layout: Layout): void {
  const { window, archiveIndex, archives } = layout
  const isTaken = archiveFoldersOf(layout).includes(folderOf(layout.window))
  if (!isTaken && new Set([window, archiveIndex, archives].map((path) => path.toLowerCase())).size === 3)
    return
  throw new MemoryError(
    `${join(root, layoutFile)}: the window, the table of archives and the archives must lie apart, and the window must not be in a folder of archives`,
    MemoryErrorCode.INVALID_INPUT,
  )
}

/**
 * The layout that the files of a root show, ignoring those whose place was chosen; the named one when they show none.
 */
function detectLayout(
  fileSystem: FileSystem,
  root: string,
  chosen: readonly string[],
  name: Layout['name'] | undefined,
): Layout {
  const shown = Object.values(layouts).filter(({ window, archiveIndex, archives }) =>
    [window, archiveIndex, archives].some(
      (path) => !chosen.includes(path) && fileSystem.existsSync(join(root, path)),
    ),
  )
  const [only, other] = shown
  if (name !== undefined && (!only || other || only.name === name)) return layouts[name]
  if (other) {
    throw new MemoryError(
      `${root} holds both layouts (memory/conversations and memories): say which one to use, with --layout entity or --layout user, in a program with layout: 'entity' or layout: 'user', or for good in ${layoutFile}`,
      MemoryErrorCode.CONFLICT,
      { details: { root } },
    )
  }
  if (name !== undefined && only) {
    throw new MemoryError(
      `${root} holds a memory in the ${only.name} layout: leave out --layout (in a program: layout), or name the ${name} layout in its ${layoutFile}`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  return only ?? layouts.entity
}
