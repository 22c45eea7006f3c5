import { dirname, resolve, sep } from 'node:path'
import { listImportable, openTranscript, sessionSources, stateOfSource } from '@recall/agents'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import type { Io } from '../terminal/io.ts'
import { throwAll } from '../throw-all.ts'
import { type Failure, reasonOf } from './import-report.ts'
import { isWithin, nameBelow } from './source-paths.ts'

/** A file that may hold a session or memories. */
export interface Source {
  path: string
  stamp: string
  /** Milliseconds since the epoch. */
  changedAt: number
  /** Path of the file relative to the given folder, which identifies a note. */
  name: string
  /** Whether the user named the file, rather than a folder above it. */
  isNamed: boolean
}

/** The sources to read, and the paths that cannot be read, unless that is all of them. */
export async function listSources(
  io: Io,
  given: readonly string[],
  since: number,
): Promise<{ sources: Source[]; failed: Failure[] }> {
  const paths = given.length > 0 ? given.map((path) => resolve(io.cwd, path)) : sessionSources(io)
  if (paths.length === 0) {
    throw new MemoryError(
      'no agent on this machine has sessions where they usually are: name a file or folder',
      MemoryErrorCode.NOT_FOUND,
    )
  }
  const found = new Map<string, Source>()
  const unreadable = new Map<string, MemoryError>()
  const orUnreadable = <T>(path: string, reading: Promise<T>): Promise<T | undefined> =>
    reading.catch((error) => {
      if (!isMemoryError(error)) throw error
      unreadable.set(path, error)
      return undefined
    })
  for (const path of paths) {
    for (const file of (await orUnreadable(path, listImportable(path))) ?? []) {
      // Hosts keep plans and other markdown among their sessions: read those only in a folder that the user named.
      if (given.length === 0 && file.endsWith('.md')) continue
      const state = await orUnreadable(file, stateOfSource(file))
      if (!state || state.changedAt < since || found.has(file)) continue
      const isNamed = file === path
      const name = nameBelow(isNamed ? dirname(path) : path, file)
      found.set(file, { path: file, ...state, name, isNamed })
    }
  }
  if (found.size === 0) throwAll([...unreadable.values()])
  if (found.size === 0 && since === Number.NEGATIVE_INFINITY) {
    throw new MemoryError(`no transcripts or memories below ${paths.join(', ')}`, MemoryErrorCode.NOT_FOUND)
  }
  const failed = [...unreadable].map(([path, error]) => ({ path, reason: reasonOf(error, path) }))
  return { sources: oldestFirst([...found.values()]), failed }
}

/**
 * Archives are numbered as they arrive, so the oldest session comes first; each is followed by those of its helpers.
 */
function oldestFirst(sources: readonly Source[]): Source[] {
  const groups: [Source, ...Source[]][] = []
  for (const source of sources) {
    const group = groups.at(-1)
    const folder = group?.[0].path.replace(/\.jsonl?$/, sep)
    if (group && folder && source.path.startsWith(folder)) group.push(source)
    else groups.push([source])
  }
  return groups.sort(([a], [b]) => a.changedAt - b.changedAt).flat()
}

/** How many messages to read in search of one that names the project's folder. */
const headMessages = 20

/** Whether a session belongs to a project, given by its folder, a folder above it, or the folder's name. */
export async function isOfProject(io: Io, path: string, project: string): Promise<boolean> {
  try {
    const { facts, messages } = await openTranscript(path)
    let read = 0
    for await (const _ of messages) if (facts.project !== undefined || ++read >= headMessages) break
    const folder = facts.project ?? ''
    return isWithin(resolve(io.cwd, project), folder) || folder.split(/[\\/]/).includes(project)
  } catch (error) {
    // Files of other tools are not transcripts; they belong to no project.
    if (isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) return false
    throw error
  }
}
