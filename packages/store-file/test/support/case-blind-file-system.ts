import { dirname, join } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../../src/files/file-system.ts'

const withPath = new Set(['accessSync', 'existsSync', 'lstatSync', 'openSync', 'unlinkSync'])
const withTwoPaths = new Set(['linkSync', 'renameSync'])

/**
 * A disk that finds a file under any case and normal form of its name, and on which Linux says of each path that it is
 * the real one: one of Windows below WSL, or of macOS in a container.
 */
export const caseBlindFileSystem: FileSystem = new Proxy(defaultFileSystem, {
  get(target, name: keyof FileSystem) {
    const original = target[name] as (...given: unknown[]) => unknown
    if (name === 'realpathSync') return { native: asGiven }
    if (withTwoPaths.has(name))
      return (from: string, to: string) => original(nameOnDisk(from), nameOnDisk(to))
    if (!withPath.has(name)) return original
    return (path: string, ...rest: unknown[]) => original(nameOnDisk(path), ...rest)
  },
})

/** @throws when there is no such file */
function asGiven(path: string): string {
  defaultFileSystem.accessSync(nameOnDisk(path))
  return path
}

const folded = (name: string): string => name.normalize('NFC').toLowerCase()

/** The path of the file that such a disk has under this one; itself where it has none. */
function nameOnDisk(path: string): string {
  if (defaultFileSystem.existsSync(path)) return path
  const folder = dirname(path)
  if (!defaultFileSystem.existsSync(folder)) return path
  const names = defaultFileSystem.readdirSync(folder)
  const wanted = folded(path.slice(folder.length + 1))
  const found = names.find((name) => folded(name) === wanted)
  return found === undefined ? path : join(folder, found)
}
