import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  defaultFileSystem,
  type Layout,
  layoutFile,
  layoutOf,
  layouts,
  readLayoutFile,
} from '@recall/store-file'
import { UsageError } from '../exit-codes.ts'

/**
 * Where things lie in a root that a command is about to use.
 *
 * @throws UsageError when its own file names another layout than the one given, or it holds a memory in another: read by
 * it, the sessions would be missing, and beside a second one every later command would have to be told which of them is
 * meant
 */
export function layoutToUse(root: string, name?: Layout['name']): Layout {
  const named = layoutOf(defaultFileSystem, root, name)
  if (name === undefined) return named
  const { layout, paths } = readLayoutFile(defaultFileSystem, root)
  if (layout === name) return named
  if (layout !== undefined) {
    throw new UsageError(
      `${join(root, layoutFile)} names the ${layout} layout: leave out --layout, or name the ${name} layout there`,
    )
  }
  const other = name === 'user' ? 'entity' : 'user'
  const chosen = Object.values(paths)
  if (isIn(root, layouts[name], chosen) || !isIn(root, layouts[other], chosen)) return named
  throw new UsageError(
    `${root} holds a memory in the ${other} layout: leave out --layout, or name the ${name} layout in its ${layoutFile}`,
  )
}

/** What lies at a place that was chosen tells no layout. */
const isIn = (root: string, { window, archiveIndex, archives }: Layout, chosen: readonly string[]): boolean =>
  [window, archiveIndex, archives].some((path) => !chosen.includes(path) && existsSync(join(root, path)))
