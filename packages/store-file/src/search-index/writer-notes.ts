import { dirname, join } from 'node:path'
import { errorCode, orAbsent, writing } from '@recall/core/process'
import { type FileSystem, namesIn } from '../files/file-system.ts'
import { ensureBelow } from '../files/folders.ts'
import { isAbandoned, ownedName } from '../files/owned-name.ts'
import { isDiskFull, isUnwritable } from '../sqlite/errors.ts'

/**
 * Every open store that writes keeps a note of the files it has written but not yet indexed. The next search reads the
 * notes of all writers, including dead ones, so that it finds what was acknowledged without walking the whole memory.
 * The notes need no fsync: a killed process leaves them in the page cache, and after a power loss the index is checked
 * as a whole.
 */
export function openWriterNotes(fileSystem: FileSystem, folder: string) {
  let own: string | undefined
  let descriptor: number | undefined
  /** Where the next note goes: Windows does not truncate a file that is open for appending. */
  let end = 0

  return {
    /** Must be called before the file is changed. */
    add(path: string): void {
      try {
        writing(folder, () => {
          if (descriptor !== undefined && fileSystem.fstatSync(descriptor).nlink === 0) release()
          descriptor ??= begin()
          const note = Buffer.from(`${path}\n`)
          end += fileSystem.writeSync(descriptor, note, 0, note.length, end)
        })
      } catch (error) {
        // Neither a full disk nor a file in the place of the folder must prevent deleting; other processes also notice
        // the time of the folder that changed.
        if (!isDiskFull(error) && !isInTheWay(error)) throw error
      }
    },

    /** Clears this store's notes, because the index has caught up with them. */
    done(): void {
      const held = descriptor
      if (held !== undefined) writing(folder, () => fileSystem.ftruncateSync(held, 0))
      end = 0
    },

    /** What other stores have noted, including the notes that dead processes left behind. */
    others(): { paths: string[]; abandoned: string[]; alive: boolean } {
      const paths: string[] = []
      const abandoned: string[] = []
      let alive = false
      for (const path of writersIn(fileSystem, folder)
        .filter((name) => name !== own)
        .map((name) => join(folder, name))) {
        // Checked before the notes are read: a writer that is gone by then adds no more.
        const isLeft = isAbandoned(fileSystem, path)
        if (isLeft === undefined) continue
        // Not spread: a long import notes more files than a call can have arguments.
        for (const noted of notesIn(path)) paths.push(noted)
        if (isLeft) abandoned.push(path)
        else alive = true
      }
      return { paths, abandoned, alive }
    },

    /** Where they cannot be removed, as on a read-only disk, they are read again. */
    discard(abandoned: readonly string[]): void {
      try {
        for (const path of abandoned) orAbsent(() => fileSystem.unlinkSync(path))
      } catch (error) {
        if (!isUnwritable(error)) throw error
      }
    },

    /** @param keep leaves the notes for other processes, because the files they name were not indexed */
    close(keep: boolean): void {
      if (descriptor === undefined) return
      release()
      if (!keep) orAbsent(() => fileSystem.unlinkSync(join(folder, own as string)))
    },
  }

  function notesIn(path: string): string[] {
    const text = orAbsent(() => fileSystem.readFileSync(path, 'utf8')) ?? ''
    return text.split('\n').filter((line) => line !== '')
  }

  function begin(): number {
    ensureBelow(fileSystem, dirname(dirname(folder)), folder)
    own = ownedName()
    end = 0
    return fileSystem.openSync(join(folder, own), 'w')
  }

  function release(): void {
    if (descriptor !== undefined) fileSystem.closeSync(descriptor)
    descriptor = undefined
  }
}

/** The folder of the notes. */
export const writersName = 'writers'

/** The names of the notes in a folder; none where there is no folder. */
export function writersIn(fileSystem: FileSystem, folder: string): string[] {
  try {
    return namesIn(fileSystem, folder) ?? []
  } catch (error) {
    if (!isInTheWay(error)) throw error
    return []
  }
}

/** A file is where the folder should be: nobody has noted anything. */
const isInTheWay = (error: unknown): boolean => errorCode(error) === 'ENOTDIR'
