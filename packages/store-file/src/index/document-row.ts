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

/** A row with the hash of its file's content. */
export type HashedRow = DocumentRow & { hash: Uint8Array }

export const documentColumns =
  'd.id, d.folder, d.name, d.scope, d.namespace, d.key, d.type, d.tags, d.created, d.updated, d.expires, d.session, d.number, d.fields, d.units, d.size, d.modified, d.changed, d.inode'
