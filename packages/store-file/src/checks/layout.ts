import { join } from 'node:path'
import type { FileStore } from '../file-store.ts'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { layouts } from '../layout/layout.ts'
import { layoutFile } from '../layout/layout-file.ts'
import { secondNames } from '../layout/second-names.ts'
import { orUnreadable, type Report } from './report.ts'

/** Reports windows and archives that lie where another layout expects them; an empty folder does not count. */
export function checkLayout(fileSystem: FileSystem, { root, layout }: FileStore, report: Report): void {
  const again = secondNames(fileSystem, root, layout)
  const isElsewhere = (path: string): boolean =>
    ![layout.window, layout.archives].includes(path) &&
    !again.has(path) &&
    holdsSomething(fileSystem, join(root, path))
  report(
    'layout',
    Object.values(layouts).flatMap(({ name, window, archives }) =>
      [window, archives]
        .filter(isElsewhere)
        .map((path) =>
          name === layout.name
            ? `${path} is where the ${name} layout has it, but ${layoutFile} names another place`
            : `${path} belongs to the ${name} layout`,
        ),
    ),
    'one layout',
    'its archives are searched; move them to one place when convenient',
  )
}

/** A file, or a folder that is not known to be empty. */
const holdsSomething = (fileSystem: FileSystem, path: string): boolean =>
  statusOf(fileSystem, path) !== null && orUnreadable(() => fileSystem.readdirSync(path))?.length !== 0
