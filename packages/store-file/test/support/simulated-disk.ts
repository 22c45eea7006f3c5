import { basename, dirname } from 'node:path'
import type { FileSystem } from '../../src/files/file-system.ts'

type Content = string
type Folders = Map<string, Map<string, number>>

/** What a disk holds: names in folders, and the content of each file by its number. */
export interface DiskState {
  folders: Folders
  files: Map<number, Content>
}

/** A change to names; until its folders are synced a power loss may undo it. */
interface NameChange {
  folders: string[]
  apply(folders: Folders): void
}

type Step =
  | { kind: 'write'; file: number; content: Content }
  | { kind: 'sync'; file: number }
  | { kind: 'names'; change: NameChange }
  | { kind: 'syncFolder'; folder: string }
  | { kind: 'mark'; label: string }

const copyOf = ({ folders, files }: DiskState): DiskState => ({
  folders: new Map([...folders].map(([path, names]) => [path, new Map(names)])),
  files: new Map(files),
})

const failure = (code: string): Error => Object.assign(new Error(code), { code })

/** A disk in memory that records what is done to it, call by call. */
export function simulateDisk(initial: DiskState) {
  const start = copyOf(initial)
  const now = copyOf(initial)
  const steps: Step[] = []
  const open = new Map<number, { file: number } | { folder: string }>()
  let next = Math.max(0, ...now.files.keys()) + 1
  let descriptors = 3

  const names = (folder: string): Map<string, number> => {
    const found = now.folders.get(folder)
    if (!found) throw failure('ENOENT')
    return found
  }
  const find = (path: string): number | undefined => now.folders.get(dirname(path))?.get(basename(path))
  const fileAt = (path: string): number => {
    const file = find(path)
    if (file === undefined) throw failure('ENOENT')
    return file
  }
  const change = (folders: string[], apply: NameChange['apply']): void => {
    apply(now.folders)
    steps.push({ kind: 'names', change: { folders, apply } })
  }
  const setName =
    (path: string, file: number): NameChange['apply'] =>
    (folders) => {
      folders.get(dirname(path))?.set(basename(path), file)
    }

  const calls = {
    existsSync: (path: string) => now.folders.has(path) || find(path) !== undefined,
    lstatSync: (path: string) => ({
      ino: fileAt(path),
      mode: 0o644,
      isFile: () => true,
      mtimeMs: 0,
      size: now.files.get(fileAt(path))?.length,
    }),
    fstatSync: () => ({ mode: 0o644, mtimeMs: 1 }),
    openSync(path: string, flags: string) {
      const descriptor = descriptors++
      if (now.folders.has(path)) open.set(descriptor, { folder: path })
      else {
        if (flags === 'wx' && find(path) !== undefined) throw failure('EEXIST')
        if (find(path) === undefined && flags !== 'r') {
          names(dirname(path))
          const file = next++
          now.files.set(file, '')
          change([dirname(path)], setName(path, file))
        }
        open.set(descriptor, { file: fileAt(path) })
      }
      return descriptor
    },
    writeSync(descriptor: number, bytes: Uint8Array, offset = 0, length = bytes.length) {
      const { file } = open.get(descriptor) as { file: number }
      const content = `${now.files.get(file)}${Buffer.from(bytes).toString('utf8', offset, offset + length)}`
      now.files.set(file, content)
      steps.push({ kind: 'write', file, content })
      return length
    },
    fsyncSync(descriptor: number) {
      const target = open.get(descriptor) as { file: number } | { folder: string }
      steps.push(
        'file' in target
          ? { kind: 'sync', file: target.file }
          : { kind: 'syncFolder', folder: target.folder },
      )
    },
    closeSync: (descriptor: number) => void open.delete(descriptor),
    renameSync(from: string, to: string) {
      const file = fileAt(from)
      change([...new Set([dirname(from), dirname(to)])], (folders) => {
        folders.get(dirname(from))?.delete(basename(from))
        setName(to, file)(folders)
      })
    },
    linkSync(from: string, to: string) {
      if (find(to) !== undefined) throw failure('EEXIST')
      change([dirname(to)], setName(to, fileAt(from)))
    },
    unlinkSync(path: string) {
      fileAt(path)
      change([dirname(path)], (folders) => void folders.get(dirname(path))?.delete(basename(path)))
    },
    mkdirSync(path: string) {
      const missing: string[] = []
      for (let level = path; !now.folders.has(level); level = dirname(level)) missing.unshift(level)
      for (const level of missing) {
        // A folder is a name in the folder above it; -1 stands for "a folder".
        change([dirname(level)], (folders) => {
          if (!folders.has(dirname(level))) return
          folders.get(dirname(level))?.set(basename(level), -1)
          if (!folders.has(level)) folders.set(level, new Map())
        })
      }
      return missing[0]
    },
    readFileSync: (path: string) => now.files.get(fileAt(path)),
    realpathSync: {
      native(path: string) {
        if (!calls.existsSync(path)) throw failure('ENOENT')
        return path
      },
    },
  }

  return {
    fileSystem: calls as unknown as FileSystem,
    now,
    /** Notes a moment, for example that a write was acknowledged. */
    mark: (label: string) => void steps.push({ kind: 'mark', label }),
    crashes: () => crashes(start, steps),
  }
}

export interface Crash {
  state: DiskState
  /** Marks passed before the power went. */
  marks: string[]
}

/** Every state a power loss can leave: after every step, with un-synced names and data kept or lost. */
function* crashes(start: DiskState, steps: readonly Step[]): Generator<Crash> {
  for (let end = 0; end <= steps.length; end++) {
    const done = steps.slice(0, end)
    const marks = done.flatMap((step) => (step.kind === 'mark' ? step.label : []))
    const loose = done.flatMap((step, i) => (step.kind === 'names' && !isSynced(done, i) ? i : []))
    for (let kept = 0; kept < 2 ** loose.length; kept++) {
      const lost = new Set(loose.filter((_, bit) => (kept & (1 << bit)) === 0))
      const folders = copyOf(start).folders
      done.forEach((step, i) => {
        if (step.kind === 'names' && !lost.has(i)) step.change.apply(folders)
      })
      for (const files of contents(start, done)) yield { state: { folders, files }, marks }
    }
  }
}

/** A change to names is safe once every folder it concerns was synced after it. */
function isSynced(done: readonly Step[], at: number): boolean {
  const step = done[at]
  if (step?.kind !== 'names') return true
  const later = done.slice(at + 1)
  return step.change.folders.every((folder) =>
    later.some((each) => each.kind === 'syncFolder' && each.folder === folder),
  )
}

/** Data written since a file's last sync may be lost, there in part, zeros, or all there. */
function contents(start: DiskState, done: readonly Step[]): Map<number, Content>[] {
  let variants = [new Map(start.files)]
  const written = new Map<number, { safe: Content; last: Content }>()
  for (const step of done) {
    if (step.kind === 'write') {
      const safe = written.get(step.file)?.safe ?? start.files.get(step.file) ?? ''
      written.set(step.file, { safe, last: step.content })
    } else if (step.kind === 'sync') {
      const last = written.get(step.file)?.last ?? start.files.get(step.file) ?? ''
      written.set(step.file, { safe: last, last })
    }
  }
  for (const [file, { safe, last }] of written) {
    const half = last.slice(0, safe.length + Math.ceil((last.length - safe.length) / 2))
    const zeros = safe + '\0'.repeat(Math.max(0, last.length - safe.length))
    const fates = safe === last ? [last] : [safe, half, zeros, last]
    variants = variants.flatMap((variant) => fates.map((content) => new Map(variant).set(file, content)))
  }
  return variants
}
