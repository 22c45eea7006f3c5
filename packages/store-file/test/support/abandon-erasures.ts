import { spawnSync } from 'node:child_process'
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'

/** Leaves what this process is erasing in a memory to a process that is dead. */
export function abandonErasures(root: string): void {
  const folder = join(root, 'memory/.recall/erasing')
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  for (const name of readdirSync(folder))
    renameSync(join(folder, name), join(folder, name.replace(/^\d+/, String(pid))))
}
