import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createFolder } from './create-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'recall-folders-'))
afterAll(() => rmSync(folder, { recursive: true }))

const isPosix = process.platform !== 'win32'
const hasProc = existsSync('/proc/self')
if (!isPosix) process.stderr.write('Tests of modes and links are skipped on Windows.\n')
if (!hasProc) process.stderr.write('The test of a disk that takes no folders is skipped: no /proc.\n')

describe('a folder that is created', () => {
  it.runIf(isPosix)('gets its mode on each level that was missing', () => {
    createFolder(join(folder, 'a/b'), 0o700)
    for (const level of ['a', 'a/b']) expect(statSync(join(folder, level)).mode & 0o777).toBe(0o700)
    createFolder(join(folder, 'a/b'), 0o755)
    expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o700)
  })

  it.runIf(hasProc)('is an error at once on a file system that takes none', () => {
    expect(() => createFolder('/proc/recall/memory')).toThrow('/proc/recall cannot be created (ENOENT)')
  })

  it.runIf(isPosix)('is an error where a link leads nowhere', () => {
    symlinkSync('nowhere', join(folder, 'link'))
    expect(() => createFolder(join(folder, 'link/memory'))).toThrow('link cannot be created (EEXIST)')
  })

  it('is an error where a file stands, and below it', () => {
    writeFileSync(join(folder, 'file'), '')
    for (const path of ['file', 'file/memory'])
      expect(() => createFolder(join(folder, path))).toThrow(
        'file cannot be created (EEXIST): what is there is not a folder',
      )
  })
})
