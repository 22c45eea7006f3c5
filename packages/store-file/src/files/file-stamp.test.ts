import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createStampList, type FileStamp } from './file-stamp.ts'

const stamp: fc.Arbitrary<FileStamp> = fc.record({
  size: fc.nat(2),
  modified: fc.constantFrom(1.5, 2),
  changed: fc.constantFrom(-1, 1),
  inode: fc.nat(2),
})
const files = fc.dictionary(fc.constantFrom('a.md', 'b.md', 'c.md', 'd.md'), stamp, { noNullPrototype: true })

it('tells which files are new, changed and gone, however many entries one of them holds', () => {
  fc.assert(
    fc.property(files, files, fc.integer({ min: 1, max: 3 }), (before, now, entries) => {
      const list = createStampList()
      for (const [name, each] of Object.entries(now)) list.add(name, each)
      const rows = Object.entries(before).flatMap(([name, each]) =>
        Array.from({ length: entries }, () => ({ name, ...each })),
      )
      const expected = Object.keys({ ...before, ...now })
        .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]))
        .map((name) => [name, now[name] ?? null])
      expect(new Map(list.differences(rows))).toEqual(new Map(expected as [string, FileStamp | null][]))
      expect(list.count()).toBe(Object.keys(now).length)
    }),
  )
})
