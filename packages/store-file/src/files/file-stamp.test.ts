import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStampList, type FileStamp, lastingStamp, lastingTime, neverRead } from './file-stamp.ts'

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

it('keeps the stamp of each of thousands of files with its name', () => {
  const list = createStampList()
  const named = Array.from({ length: 3000 }, (_, i) => ({ name: `${i}.md`, ...stampOfNumber(i) }))
  for (const { name, ...stamp } of named) list.add(name, stamp)
  expect(list.count()).toBe(named.length)
  expect(list.differences(named)).toEqual(new Map())
  const changed = named.map((file, i) => (i % 1000 === 24 ? { ...file, size: -1 } : file))
  expect(list.differences(changed)).toEqual(
    new Map([24, 1024, 2024].map((i) => [`${i}.md`, stampOfNumber(i)])),
  )
})

it('sums up files so that a new name or an exchange of two names shows', () => {
  const [one, other] = [stampOfNumber(1), stampOfNumber(2)]
  const sumOf = (...files: [string, FileStamp][]): number => {
    const list = createStampList()
    for (const [name, each] of files) list.add(name, each)
    return list.sum()
  }
  const sum = sumOf(['a.md', one], ['b.md', other])
  expect(sumOf(['b.md', other], ['a.md', one])).toBe(sum)
  expect(sumOf(['a.md', one], ['c.md', other])).not.toBe(sum)
  expect(sumOf(['b.md', one], ['a.md', other])).not.toBe(sum)
})

describe('what is remembered of a file or folder', () => {
  const step = Date.UTC(2026, 10, 27)
  const stampAt = (modified: number, changed: number): FileStamp => ({ size: 7, modified, changed, inode: 1 })

  it('equals no other while the same whole second may stand for another change', () => {
    for (const [modified, changed] of [
      [step, step],
      [step, 0],
      [0, step],
    ] as const)
      expect(lastingStamp(stampAt(modified, changed), step + 1999).changed).toBe(neverRead)
    expect(lastingTime(step, step + 1999)).toBe(-step)
    // As the clock of a server says that is ahead.
    expect(lastingTime(step + 5000, step)).toBe(-step - 5000)
  })

  it('is what the disk says once the step is over, and where a time tells more than seconds', () => {
    for (const [stamp, now] of [
      [stampAt(step, step), step + 2000],
      [stampAt(step, step + 0.25), step + 1],
      [stampAt(step + 60_000, step + 10), step + 10],
    ] as const)
      expect(lastingStamp(stamp, now)).toEqual(stamp)
    expect(lastingTime(step, step + 2000)).toBe(step)
    expect(lastingTime(step + 10, step + 10)).toBe(step + 10)
  })
})

const stampOfNumber = (i: number): FileStamp => ({ size: i, modified: i + 0.25, changed: i + 0.5, inode: -i })
