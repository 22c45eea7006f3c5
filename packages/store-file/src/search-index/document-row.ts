import { defaultNamespace } from '../layout/sources.ts'

/** A row of `documents`, as searches return it. */
export interface DocumentRow {
  id: number
  folder: number
  name: string
  scope: number
  namespace: string
  key: string
  type: string | null
  tags: string | null
  created: number
  updated: number
  expires: number | null
  session: string | null
  number: number | null
  fields: string | null
  units: number
  size: number
  modified: number
  changed: number
  inode: number
}

/** What ranking needs of a document; the rest is read only for the hits that are returned. */
export type RankedDocument = Pick<DocumentRow, 'id' | 'key' | 'type' | 'created' | 'updated' | 'units'>

/** A row with the hash of its file's content. */
export type HashedRow = DocumentRow & { hash: Uint8Array }

export const namespaceColumn = `iif(d.namespace = '', '${defaultNamespace}', d.namespace) AS namespace`

export const documentColumns = `d.id, d.folder, d.name, d.scope, ${namespaceColumn}, d.key, d.type, d.tags, d.created, d.updated, d.expires, d.session, d.number, d.fields, d.units, d.size, d.modified, d.changed, d.inode`

/** How the tables spell a namespace: in most memories every row has the same one. */
export const keptNamespace = (namespace: string): string => (namespace === defaultNamespace ? '' : namespace)

export const shownNamespace = (kept: string): string => (kept === '' ? defaultNamespace : kept)

/** Tags are enclosed in separators, so that only whole tags match. */
export const joinTags = (tags: readonly string[]): string | null =>
  tags.length === 0 ? null : `\u001f${tags.join('\u001f')}\u001f`

export const splitTags = (tags: string | null): string[] => tags?.slice(1, -1).split('\u001f') ?? []
