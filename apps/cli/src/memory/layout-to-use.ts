import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defaultFileSystem, type Layout, layoutFile, layoutOf } from '@recall/store-file'
import { UsageError } from '../exit-codes.ts'

/**
 * Where things lie in a root that a command is about to use.
 *
 * @throws UsageError when the root holds a memory in another layout than the one named: read by it, the
 * sessions would be missing, and beside a second one every later command would have to be told which of them is meant
 */
export function layoutToUse(root: string, name?: Layout['name']): Layout {
  const named = layoutOf(defaultFileSystem, root, name)
  if (name === undefined || isIn(root, named)) return named
  const present = layoutOf(defaultFileSystem, root)
  if (present.name === name || !isIn(root, present)) return named
  throw new UsageError(
    `${root} holds a memory in the ${present.name} layout: leave out --layout, or name the ${name} layout in its ${layoutFile}`,
  )
}

const isIn = (root: string, { window, archiveIndex, archives }: Layout): boolean =>
  [window, archiveIndex, archives].some((path) => existsSync(join(root, path)))
