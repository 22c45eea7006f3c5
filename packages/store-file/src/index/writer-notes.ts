import { join } from 'node:path'
import { ensureFolder } from '../atomic-write.ts'
import { randomName } from '../digest.ts'
import { type FileSystem, orAbsent } from '../file-system.ts'
import { isAlive, thisProcess } from '../process-identity.ts'

const noteName = /^(\d+)-(\d+)-[0-9a-f]+$/

/**
 * Every open store that writes keeps a note of the files it has written but not yet indexed. Whoever searches
 * next reads the notes of all writers, also of those that died, so that a search finds what was acknowledged
 * without walking the whole memory. The notes need no fsync: a killed process leaves them in the page cache,
 * and after a power loss the index is checked as a whole.
 */
export function openWriterNotes(fileSystem: FileSystem, folder: string) {
  const own = `${thisProcess.pid}-${thisProcess.started}-${randomName()}`
  let descriptor: number | undefined

  return {
    /** Must be called before the file is changed. */
    add(path: string): void {
      if (descriptor === undefined) {
        ensureFolder(fileSystem, folder)
        descriptor = fileSystem.openSync(join(folder, own), 'a')
      }
      fileSystem.writeSync(descriptor, `${path}\n`)
    },

    /** What this store had noted is in the index now. */
    done(): void {
      if (descriptor !== undefined) fileSystem.ftruncateSync(descriptor, 0)
    },

    /** What other stores have noted, and the notes that dead processes left behind. */
    others(): { paths: string[]; abandoned: string[]; alive: boolean } {
      const paths: string[] = []
      const abandoned: string[] = []
      let alive = false
      for (const name of orAbsent(() => fileSystem.readdirSync(folder)) ?? []) {
        const [, pid, started] = noteName.exec(name) ?? []
        if (name === own || pid === undefined) continue
        const path = join(folder, name)
        const text = orAbsent(() => fileSystem.readFileSync(path, 'utf8')) ?? ''
        paths.push(...text.split('\n').filter((line) => line !== ''))
        if (isAlive({ pid: Number(pid), started: Number(started) })) alive = true
        else abandoned.push(path)
      }
      return { paths, abandoned, alive }
    },

    discard(abandoned: readonly string[]): void {
      for (const path of abandoned) orAbsent(() => fileSystem.unlinkSync(path))
    },

    close(): void {
      if (descriptor === undefined) return
      fileSystem.closeSync(descriptor)
      descriptor = undefined
      orAbsent(() => fileSystem.unlinkSync(join(folder, own)))
    },
  }
}
