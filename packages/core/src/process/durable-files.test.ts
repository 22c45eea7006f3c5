import nodeFileSystem, {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { syncFile, syncFolder, writeNewFile } from './durable-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'recall-durable-'))
afterAll(() => rmSync(folder, { recursive: true }))

const isPosix = process.platform !== 'win32'
if (!isPosix) process.stderr.write('Tests of modes and folders are skipped on Windows.\n')

describe('a new file', () => {
  it('holds what it was given, and never takes the place of another', () => {
    const path = join(folder, 'new')
    writeNewFile(path, 'first')
    expect(() => writeNewFile(path, 'second')).toThrow('EEXIST')
    expect(readFileSync(path, 'utf8')).toBe('first')
  })

  it.runIf(isPosix)('has its mode, whatever the umask takes', () => {
    const path = join(folder, 'shared')
    writeNewFile(path, '', 0o666)
    expect(statSync(path).mode & 0o777).toBe(0o666)
  })

  it('leaves nothing when it cannot be written', () => {
    expect(() => writeNewFile(join(folder, 'broken'), 7 as unknown as string)).toThrow()
    expect(readdirSync(folder)).not.toContain('broken')
  })
})

describe('what is there', () => {
  /** What is open when it is synced, and whether all is closed afterwards. */
  const watched = () => {
    const opened = new Map<number, [path: unknown, flags: unknown]>()
    const synced: unknown[] = []
    const calls: Pick<typeof nodeFileSystem, 'closeSync' | 'fsyncSync' | 'openSync'> = {
      openSync(path, flags) {
        const descriptor = nodeFileSystem.openSync(path, flags)
        opened.set(descriptor, [path, flags])
        return descriptor
      },
      fsyncSync: (descriptor) => void synced.push(opened.get(descriptor)),
      closeSync(descriptor) {
        opened.delete(descriptor)
        nodeFileSystem.closeSync(descriptor)
      },
    }
    return { calls, opened, synced }
  }

  it('is synced as a file that may be written', () => {
    const path = join(folder, 'file')
    writeFileSync(path, '')
    const { calls, opened, synced } = watched()
    syncFile(path, calls)
    expect(synced).toEqual([[path, 'r+']])
    expect(opened.size).toBe(0)
  })

  it.runIf(isPosix)('is synced as a folder', () => {
    const { calls, opened, synced } = watched()
    syncFolder(folder, calls)
    expect(synced).toEqual([[folder, 'r']])
    expect(opened.size).toBe(0)
  })
})
