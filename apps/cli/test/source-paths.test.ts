import { posix, win32 } from 'node:path'
import { expect, it } from 'vitest'
import { isWithin, nameBelow } from '../src/imports/source-paths.ts'

it('names a note by its path below the imported folder, alike on every platform', () => {
  expect(nameBelow('/notes', '/notes/work/pool.md', posix)).toBe('work/pool.md')
  expect(nameBelow('C:\\notes', 'C:\\notes\\work\\pool.md', win32)).toBe('work/pool.md')
})

it('knows the folders of a project, by whatever case Windows names its drive', () => {
  expect(isWithin('/home/ana/api', '/home/ana/api')).toBe(true)
  expect(isWithin('/home/ana/api', '/home/ana/api2')).toBe(false)
  expect(isWithin('C:\\Users\\ana\\api', 'c:\\Users\\ana\\api\\web')).toBe(true)
  expect(isWithin('c:\\Users\\ana\\api', 'C:/Users/ana/api2')).toBe(false)
})
