import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../src/engines/database.ts'
import { migrateFrom } from '../../src/migrate.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Journal {
  entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[]
}

export interface Steps {
  /** The folder that holds them. */
  folder: string
  /** Makes those that a database lacks. */
  make(database: Database): Promise<void>
  /** Removes the folder. */
  remove(): void
}

/**
 * The migrations as a later version may have them: each invented step adds a column to every entry and rewrites the
 * table, which takes the lock that readers wait for.
 *
 * @param kept how many of the real ones there are
 */
export function inventSteps(invented: number, kept = Number.POSITIVE_INFINITY): Steps {
  const folder = mkdtempSync(join(root, 'node_modules', '.steps-'))
  cpSync(join(root, 'migrations'), folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(path, 'utf8')) as Journal
  const entries = journal.entries.slice(0, kept)
  for (let i = 0; i < invented; i++) {
    const last = entries.at(-1)
    if (!last) throw new Error('an invented step follows a real one')
    const tag = `later_${i}`
    entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag })
    writeFileSync(
      join(folder, `${tag}.sql`),
      `ALTER TABLE "entries" ADD COLUMN "${tag}" text DEFAULT gen_random_uuid()::text NOT NULL;`,
    )
  }
  writeFileSync(path, JSON.stringify({ ...journal, entries }))
  return {
    folder,
    make: (database) => migrateFrom(folder, database),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
