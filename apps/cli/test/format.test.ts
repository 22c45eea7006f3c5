import { expect, it } from 'vitest'
import { quoted } from '../src/terminal/format.ts'

it.each([
  ['linux', '/home/ana/.recall', '/home/ana/.recall'],
  ['linux', "/home/ana's notes", "'/home/ana'\\''s notes'"],
  ['win32', 'C:\\Users\\ana\\.recall', 'C:\\Users\\ana\\.recall'],
  ['win32', "C:\\ana's notes", '"C:\\ana\'s notes"'],
  ['win32', 'D:\\記憶\\%TEMP%', '"D:\\記憶\\%TEMP%"'],
] as const)('a path is quoted as the shells of %s read it: %s', (platform, path, printed) => {
  expect(quoted(path, platform)).toBe(printed)
})
