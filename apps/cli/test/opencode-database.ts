import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { onTestFinished } from 'vitest'
import { writeFiles } from './support.ts'

/** The database of OpenCode in a home folder, with these rows; it stays open until the test ends. */
export function openOpencodeDatabase(home: string, rows: string) {
  const name = '.local/share/opencode/opencode.db'
  writeFiles(home, { [name]: '' })
  const path = join(home, name)
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT, parent_id TEXT, time_created INTEGER, title TEXT, directory TEXT);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    ${rows}`)
  return { path, database }
}

/** Sessions of one prompt each, which is `ocelot of <id>`. */
export const sessionsOfOnePrompt = (...sessions: { id: string; parent?: string }[]): string => `
  ${sessions
    .map(
      ({ id, parent }, i) =>
        `INSERT INTO session (id, parent_id, time_created) VALUES ('${id}', ${parent ? `'${parent}'` : 'NULL'}, ${i});`,
    )
    .join('\n')}
  INSERT INTO message SELECT 'm-' || id, id, 1763600000000, '{"role":"user"}' FROM session;
  INSERT INTO part SELECT 'p-' || id, 'm-' || id, '{"type":"text","text":"ocelot of ' || id || '"}' FROM session;`
