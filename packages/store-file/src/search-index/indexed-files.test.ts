import { DatabaseSync } from '@photostructure/sqlite'
import { type MemoryScope, memoryScopes } from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type FileStamp, mixFile, stampModulus } from '../files/file-stamp.ts'
import { layouts } from '../layout/layout.ts'
import type { LocatedEntry } from '../layout/sources.ts'
import type { Database } from '../sqlite/driver.ts'
import { schema } from './schema.ts'
import { createSearchIndex } from './search-index.ts'

const entryOf = (scope: MemoryScope, namespace: string, key: string, text: string): LocatedEntry => ({
  scope,
  namespace,
  key,
  type: null,
  tags: [],
  value: text,
  text,
  created: 0,
  updated: 0,
  ttl: null,
  expires: null,
  line: 1,
  fields: null,
})

/** A file with some entries, or its removal when there are none to put. */
const step = fc.record({
  name: fc.constantFrom('a.md', 'b.md', 'c.md'),
  stamp: fc.record({ size: fc.nat(9), modified: fc.nat(), changed: fc.nat(), inode: fc.nat() }),
  remove: fc.boolean(),
  /** The transaction breaks off after this step. */
  fails: fc.boolean(),
  entries: fc.uniqueArray(
    fc.record({
      scope: fc.constantFrom(...memoryScopes),
      namespace: fc.constantFrom('default', 'team', 'other'),
      key: fc.constantFrom('one', 'two', 'three'),
      text: fc.string(),
    }),
    { maxLength: 4, selector: ({ scope, namespace, key }) => `${scope} ${namespace} ${key}` },
  ),
})

it('knows how many entries each place holds, how large they are, and what the files of a folder look like', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const database: Database = new DatabaseSync(':memory:')
      database.exec(schema)
      const index = createSearchIndex(database, layouts.entity)
      const folder = index.transaction(() => index.folder('memory').id)
      for (const { name, stamp, remove, fails, entries } of steps) {
        try {
          index.transaction(() => {
            if (remove) index.removeFile(folder, name)
            else
              index.putFile({
                folder,
                name,
                stamp,
                bytes: Buffer.from(JSON.stringify(entries)),
                content: '',
                entries: entries.map((each) => entryOf(each.scope, each.namespace, each.key, each.text)),
              })
            if (fails) throw new Error('broken off')
          })
        } catch (error) {
          expect((error as Error).message).toBe('broken off')
        }
      }
      const counted = database
        .prepare('SELECT scope, namespace, count(*) AS n, sum(bytes) AS bytes FROM documents GROUP BY 1, 2')
        .all() as { scope: number; namespace: string; n: number; bytes: number }[]
      const kept = database.prepare('SELECT * FROM totals WHERE entries <> 0').all() as object[]
      expect(kept).toHaveLength(counted.length)
      for (const { scope, namespace, n, bytes } of counted.filter((row) => row.scope >= 0)) {
        const place = memoryScopes[scope] as MemoryScope
        expect(index.usage(place, namespace === '' ? 'default' : namespace)).toEqual({ entries: n, bytes })
      }
      const files = database
        .prepare('SELECT DISTINCT name, size, modified, changed, inode FROM documents')
        .all() as unknown as (FileStamp & { name: string })[]
      const sum = files.reduce((all, each) => (all + mixFile(each.name, each)) % stampModulus, 0)
      expect(index.knownFolder('memory')).toMatchObject({ count: files.length, sum })
      database.close()
    }),
  )
})
