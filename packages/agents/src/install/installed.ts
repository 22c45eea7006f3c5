import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openReceipt, type Wired } from './receipt.ts'
import type { FileEdit } from './target.ts'
import { uninstall } from './uninstall.ts'

/** Names of the targets that are installed, or whose installation was cut short. */
export function installedNames(state: string): string[] {
  if (!existsSync(state)) return []
  return readdirSync(state, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(state, entry.name)).length > 0)
    .map(({ name }) => name)
    .sort()
}

/**
 * What is wired into a host, and the files that should hold parts of it but hold none any more; `null` if nothing is
 * wired in, or it was not recorded.
 */
export function wiredIn(
  name: string,
  edits: readonly FileEdit[],
  state: string,
): { wired: Wired; lost: string[] } | null {
  const { wired, find } = openReceipt(join(state, name))
  if (!wired) return null
  const lost = uninstall(name, edits, { state, dryRun: true })
    .filter(({ path, status }) => status === 'absent' && find(path))
    .map(({ path }) => path)
  return { wired, lost }
}
