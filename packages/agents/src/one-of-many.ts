/** A source that holds many sessions: a database, or a JSON list. */
const address = /^(.+\.(?:db|sqlite3?|json))#([^#/\\]+)$/i

/** The two parts of `<file>#<session>`, which stands for one session in a file of many; `null` for other paths. */
export function splitAddress(path: string): { file: string; id: string } | null {
  const [, file, id] = address.exec(path) ?? []
  return file === undefined || id === undefined ? null : { file, id }
}
