import { expect, it } from 'vitest'
import { isLeftOut } from '../src/memory/derived-files.ts'

it.each([
  'memory/.recall/index.db',
  'memory/.recall/index.db-wal',
  'memory/.recall/lock',
  'memory/.recall/archiving.lock',
  'memory/.recall/access.db-shm',
  'memory/.recall/writers/1',
  'memory/.recall/journal.json',
  'memory/conversations/.tmp-1f0c4e',
  '.tmp-1f0c4e',
])('a backup leaves %s out, which is derived or not finished', (path) => {
  expect(isLeftOut(path)).toBe(true)
})

it.each([
  'memory/MEMORY.md',
  'memory/index.db',
  'memory/journal.json',
  'memory/.recall/tombstones.jsonl',
  'memory/.recall/imports.json',
  'memory/.recall/access.db',
  'memory/.recall/sessions/1f0c4e.json',
  'memory/.recall/writers.md',
])('a backup holds %s, which nothing else tells', (path) => {
  expect(isLeftOut(path)).toBe(false)
})
