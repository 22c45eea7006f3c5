import { type MemoryScope, memoryScopes } from '@recall/core'
import { fileStem } from '../files/paths.ts'
import { archiveFoldersOf, compareArchives, type Layout } from '../layout/layout.ts'
import { mayHold } from '../layout/sources.ts'
import type { Statement } from '../sqlite/driver.ts'
import { shownNamespace } from './document-row.ts'
import { noScope } from './schema.ts'

/** A file, by the number of its folder. */
export interface NamedFile {
  folder: number
  name: string
}

/** A key as the index has it. */
export interface IndexedKey {
  scope: number
  namespace: string
  key: string
}

/**
 * Decides which file has a key that several claim, such as a copied archive: the one whose claim takes precedence,
 * whichever was indexed first. The other gets a key of its own.
 */
export function createClaims(sql: (text: string) => Statement, layout: Layout) {
  const holderOf = ({ scope, namespace, key }: IndexedKey) =>
    sql('SELECT id, folder, name FROM documents WHERE scope = ? AND namespace = ? AND key = ?').get(
      scope,
      namespace,
      key,
    ) as (NamedFile & { id: number }) | undefined

  const placeOf = ({ folder, name }: NamedFile, { scope, namespace, key }: IndexedKey): number[] => {
    const { path } = sql('SELECT path FROM folders WHERE id = ?').get(folder) as { path: string }
    const place = { namespace: shownNamespace(namespace), scope: memoryScopes[scope] as MemoryScope }
    const archives = archiveFoldersOf(layout)
    return [
      mayHold(layout, path, name, place) ? 0 : 1,
      -strengthOf(key, name),
      archives.includes(path) ? archives.indexOf(path) : archives.length,
    ]
  }

  /**
   * Whether a file takes precedence over another that claims the same key: the one where a store looks first, and the
   * older archive.
   */
  const goesBefore = (file: NamedFile, other: NamedFile, claimed: IndexedKey): boolean => {
    const others = placeOf(other, claimed)
    const difference = placeOf(file, claimed).map((place, i) => place - (others[i] ?? 0))
    return (difference.find((each) => each !== 0) ?? compareArchives(file.name, other.name)) < 0
  }

  return {
    isHeld: (key: IndexedKey): boolean => holderOf(key) !== undefined,

    /** The key for an entry of a file. Takes it from a file whose claim ranks lower. */
    claim({ scope, namespace, key }: IndexedKey, file: NamedFile): string {
      const ownKey = (loser: string): string => {
        const own = `${key}${displaced(loser)}`
        const isTaken = holderOf({ scope, namespace, key: own }) !== undefined
        return isTaken ? `${own}@${Math.random().toString(36).slice(2)}` : own
      }
      const holder = holderOf({ scope, namespace, key })
      if (!holder) return key
      if (!goesBefore(file, holder, { scope, namespace, key })) return ownKey(file.name)
      sql('UPDATE documents SET key = ? WHERE id = ?').run(ownKey(holder.name), holder.id)
      return key
    },

    /** Files that claim the key which a file had, and go by keys of their own until then. */
    waitingFor(
      name: string,
      { scope, namespace, key, session }: IndexedKey & { session: string | null },
    ): NamedFile[] {
      if (claimedKey({ key, name }) !== key) return []
      // Each copy of a session's archive may hold another part of it.
      if (session !== null)
        return sql(
          "SELECT folder, name FROM documents WHERE session = ? AND key LIKE '%@%' ORDER BY number",
        ).all(session) as unknown as NamedFile[]
      const behind = sql(
        'SELECT folder, name, key FROM documents WHERE scope = ? AND namespace = ? AND key > ? AND key < ? ORDER BY name',
      ).all(scope, namespace, `${key}@`, `${key}A`) as unknown as (NamedFile & { key: string })[]
      return behind.filter((each) => claimedKey(each) === key)
    },

    /** Notes that claim a key which another file has: searches find them, but they cannot be read by that key. */
    displacedNotes(): { folder: string; name: string; claimed: string }[] {
      const rows = sql(
        `SELECT f.path AS folder, d.name AS name, d.key AS key FROM documents d JOIN folders f ON f.id = d.folder
         WHERE d.key LIKE '%@%' AND d.session IS NULL AND d.scope <> ? ORDER BY folder, name`,
      ).all(noScope) as unknown as { folder: string; name: string; key: string }[]
      return rows
        .map(({ folder, name, key }) => ({ folder, name, key, claimed: claimedKey({ key, name }) }))
        .filter(({ key, claimed }) => claimed !== key)
    },
  }
}

export type Claims = ReturnType<typeof createClaims>

/**
 * The order in which a store reads: a section of the file before any note, and the note that writes go to before one of
 * another name.
 */
const strengthOf = (key: string, name: string): number =>
  key.startsWith(`${name}#`) ? 2 : name === `${fileStem(key)}.md` ? 1 : 0

/** The suffix of a key in the index when another file has that key. */
const displaced = (name: string): string => `@${name.replace(/\.md$/, '')}`

/** The key that a file gives its entry, derived from the key in the index. */
export function claimedKey({ key, name }: { key: string; name: string }): string {
  const at = key.lastIndexOf(displaced(name))
  return at > 0 ? key.slice(0, at) : key
}
