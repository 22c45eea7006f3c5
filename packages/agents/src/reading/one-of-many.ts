/** The address of one session in a database, JSON list or log of many. */
const address = /^(.+\.(?:db|sqlite3?|json|md))#([^#/\\]+)$/i

export const isJson = (path: string): boolean => /\.json$/i.test(path)
export const isMarkdown = (path: string): boolean => /\.md$/i.test(path)

/** The two parts of `<file>#<session>`, the address of one session in a file of many; `null` for other paths. */
export function splitAddress(path: string): { file: string; id: string } | null {
  const [, file, id] = address.exec(path) ?? []
  return file === undefined || id === undefined ? null : { file, id }
}
