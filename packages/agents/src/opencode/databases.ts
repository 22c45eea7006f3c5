import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Surroundings } from '../install/target.ts'
import { toMemoryError } from '../reading/open-file.ts'

/** A release channel, such as `dev`, has a database of its own. */
const databaseName = /^opencode(?:-[\w.-]+)?\.db$/

/**
 * Where OpenCode keeps sessions on this machine, the most recently written database first. `OPENCODE_DB` names the only
 * one; there are none if it keeps sessions in memory.
 *
 * @throws MemoryError FORBIDDEN when its folder cannot be read
 */
export function opencodeDatabases({ env, home }: Pick<Surroundings, 'env' | 'home'>): string[] {
  const folder = join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'opencode')
  if (env.OPENCODE_DB) return env.OPENCODE_DB === ':memory:' ? [] : [resolve(folder, env.OPENCODE_DB)]
  return namesIn(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, at: Math.max(writtenAt(path), writtenAt(`${path}-wal`)) }))
    .sort((a, b) => b.at - a.at)
    .map(({ path }) => path)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => databaseName.test(name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw toMemoryError(folder, error)
  }
}

/** Milliseconds since the epoch; 0 for a missing file. */
const writtenAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
