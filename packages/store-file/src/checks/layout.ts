import { join } from 'node:path'
import type { FileStore } from '../file-store.ts'
import type { FileSystem } from '../files/file-system.ts'
import { layouts } from '../layout/layout.ts'
import { layoutFile } from '../layout/layout-file.ts'
import { secondNames } from '../layout/second-names.ts'
import type { Report } from './report.ts'

/** Reports windows and archives that lie where another layout has them. */
export function checkLayout(fileSystem: FileSystem, { root, layout }: FileStore, report: Report): void {
  const again = secondNames(fileSystem, root, layout)
  const isElsewhere = (path: string): boolean =>
    ![layout.window, layout.archives].includes(path) &&
    !again.has(path) &&
    fileSystem.existsSync(join(root, path))
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
