import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { geminiFolder } from './gemini/target.ts'
import { toMemoryError } from './open-file.ts'
import { listOpencodeSessions } from './opencode/read-session.ts'
import { opencodeDatabase } from './opencode/target.ts'

/** Files of hosts that are neither sessions nor memories, and folders that hold none. */
const otherFiles = new Set([
  'history.jsonl',
  'journal.jsonl',
  'logs.json',
  'sessions-index.json',
  'package.json',
])
const otherFolders = new Set(['tool-results', 'memory', 'node_modules'])

/** Where the hosts on this machine keep their sessions. */
export function sessionSources(machine: {
  home: string
  env: Readonly<Record<string, string | undefined>>
}): string[] {
  const { home, env } = machine
  const codex = env.CODEX_HOME || join(home, '.codex')
  return [
    join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects'),
    join(codex, 'sessions'),
    join(codex, 'archived_sessions'),
    join(geminiFolder(machine), 'tmp'),
    join(env.COPILOT_HOME || join(home, '.copilot'), 'session-state'),
    opencodeDatabase(machine),
  ].filter((path) => existsSync(path))
}

/**
 * What a path holds that may be imported: for a folder its JSON, JSON Lines and markdown files at any depth, a
 * session's file before those of its helpers; for a database of sessions each of them, as `<path>#<id>`.
 * Links are not followed.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the path cannot be read
 */
export async function listImportable(path: string): Promise<string[]> {
  try {
    if ((await stat(path)).isDirectory()) return (await listBelow(path)).sort(byCodeUnit)
  } catch (error) {
    throw toMemoryError(path, error)
  }
  if (/\.(?:db|sqlite3?)$/i.test(path)) return (await listOpencodeSessions(path)) ?? [path]
  return [path]
}

async function listBelow(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile() && /\.(?:jsonl?|md)$/i.test(entry.name) && !otherFiles.has(entry.name))
      found.push(path)
    else if (entry.isDirectory() && !otherFolders.has(entry.name) && !entry.name.startsWith('.')) {
      found.push(...(await listBelow(path)))
    }
  }
  return found
}

/** Puts `id.jsonl` right before `id/…`, since `.` sorts before `/`. */
const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
