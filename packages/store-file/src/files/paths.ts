import { basename, dirname, join, relative, sep } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import { sha256 } from './digest.ts'
import { entriesIn, type FileSystem, reading, statusOf } from './file-system.ts'

/** Keys that are safe as file names on every file system, including case-insensitive ones. */
const plainName = /^[a-z0-9](?:[a-z0-9._-]{0,78}[a-z0-9_-])?$/
/** Names that Windows reserves for devices. */
const deviceName = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³]|conin\$|conout\$) *(?:\.|$)/

/**
 * The file name of a key, without its ending: the key itself where that is safe, otherwise its readable part and a
 * hash. No key can name a file outside its folder, and no two keys share a name.
 */
export function fileStem(key: string): string {
  if (plainName.test(key) && !deviceName.test(key)) return key
  const readable = key
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
  return `${readable}~${sha256(key).slice(0, 16)}`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses
const oneName = /^(?!\.)[^/\u0000-\u001f\u007f]+$/
/** For a path with U+10FFFF, Node on Windows reports no error: the process ends. */
const nameOnWindows = /^[^\\:*?"<>|\u{10ffff}]+(?<![. ])$/u
/** File systems take names of up to 255 bytes, the ending included. */
const longestStem = 252

/** Whether a person may have given a markdown file this name, without its ending; never a way out of the folder. */
export const isHandName = (stem: string, platform = process.platform): boolean =>
  oneName.test(stem) &&
  Buffer.byteLength(stem) <= longestStem &&
  (platform !== 'win32' || (nameOnWindows.test(stem) && !deviceName.test(stem.toLowerCase())))

/** A file that a person named exactly like the key; `null` when there is none. */
export function ownFile(fileSystem: FileSystem, folder: string, key: string): string | null {
  if (!isHandName(key)) return null
  const path = join(folder, `${key}.md`)
  // Most keys have no such file, and this look-up takes a twentieth of the time of resolving a path that does not
  // exist.
  const stats = statusOf(fileSystem, path)
  return stats && (stats.isSymbolicLink() || isSpelledSo(fileSystem, path)) ? path : null
}

/**
 * Whether a file's real name is exactly the one it was found by. Where case or accents are ignored, or long names also
 * have short ones, it may have another name, and belong to another key.
 */
export function isSpelledSo(fileSystem: FileSystem, path: string): boolean {
  const [folder, name] = [dirname(path), basename(path)]
  const real = orAbsent(() => fileSystem.realpathSync.native(path))
  if (real === null || basename(real) !== name) return false
  // Linux repeats the name it was given, even on a disk that ignores case, such as a Windows disk in WSL.
  const others = [name.toLowerCase(), name.toUpperCase(), name.normalize('NFC'), name.normalize('NFD')]
  const isElse = others.some((other) => other !== name && fileSystem.existsSync(join(folder, other)))
  return !isElse || fileSystem.readdirSync(folder).includes(name)
}

/**
 * Makes sure that a folder lies inside the root after all symbolic links are followed.
 *
 * @returns false when the folder does not exist
 * @throws MemoryError FORBIDDEN when it lies outside
 */
export function isInside(fileSystem: FileSystem, realRoot: string, folder: string): boolean {
  const real = reading(fileSystem, folder, () => orAbsent(() => fileSystem.realpathSync.native(folder)))
  if (real === null) return false
  const path = relative(realRoot, real)
  if (path === '..' || path.startsWith(`..${sep}`) || path.startsWith(sep) || /^[a-z]:/i.test(path)) {
    throw new MemoryError(
      `${folder} leads out of the memory's root (to ${real}): replace the link by a real folder`,
      MemoryErrorCode.FORBIDDEN,
      { details: { path: folder, target: real } },
    )
  }
  return true
}

/**
 * Makes sure that the store's own folder holds nothing but files and folders, and that no link leads there from
 * outside. Its files are overwritten in place, appended to and, when damaged, emptied; and a memory may have come from
 * anybody, for example with a repository.
 *
 * @throws MemoryError FORBIDDEN naming the link, or the pipe; UNAVAILABLE when a file stands in its place
 */
export function refuseLinks(fileSystem: FileSystem, realRoot: string, folder: string): void {
  if (!isInside(fileSystem, realRoot, folder)) return
  const odd = entriesIn(fileSystem, folder)?.find((entry) => !entry.isFile() && !entry.isDirectory())
  if (!odd) return
  const path = join(folder, odd.name)
  const what = odd.isSymbolicLink() ? 'symbolic link' : 'pipe, a socket or a device'
  throw new MemoryError(
    `${path} is a ${what}, and nothing in this folder may be one: delete it`,
    MemoryErrorCode.FORBIDDEN,
    { details: { path } },
  )
}

/** A path below the root, with `/` on every platform, as displayed and indexed. */
export const shownPath = (root: string, path: string): string => relative(root, path).split(sep).join('/')

export const fromShown = (root: string, shown: string): string => join(root, ...shown.split('/'))

/** The folder of a path relative to the root; empty for the root itself. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
