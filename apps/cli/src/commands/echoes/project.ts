import { existsSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { targets } from '@recall/agents'
import { MemoryError, MemoryErrorCode, redactJson, redactText } from '@recall/core'
import {
  applyVersionControl,
  type Echoes,
  type EchoLayer,
  type KnownEcho,
  type Mirrored,
  mirrorEchoes,
  openEchoes,
} from '@recall/echoes'
import { sha256 } from '../../digest.ts'
import { UsageError } from '../../exit-codes.ts'
import { findRoot, type RootOptions } from '../../memory/find-root.ts'
import { holdsMemory } from '../../memory/require-memory.ts'
import { withMemory } from '../../memory/with-memory.ts'
import { formatCounts } from '../../terminal/format.ts'
import type { Io } from '../../terminal/io.ts'
import { isYes } from '../../terminal/is-yes.ts'
import { printable } from '../../terminal/printable.ts'

export interface EchoesOptions extends RootOptions {
  json: boolean
  yes: boolean
  dryRun: boolean
  lead: boolean
  etched: boolean
  actionable: boolean
  /** Options with a value, as typed. */
  texts: Partial<Record<TextOption, string>>
  limit: number
}

export type TextOption =
  | 'folder'
  | 'for'
  | 'layer'
  | 'kind'
  | 'evidence'
  | 'learning'
  | 'source'
  | 'confidence'
  | 'supersedes'
  | 'agent'
  | 'to'
  | 'category'
  | 'symptom'
  | 'root-cause'
  | 'solution'
  | 'tags'
  | 'docs'
  | 'workflow'
  | 'url'
  | 'key-file'

export interface Project {
  io: Io
  /** The folder of the project. */
  path: string
  folder: string
  echoes: Echoes
  /** Asks the person at the terminal; `false` without a terminal. */
  askHuman(question: string): Promise<boolean>
}

/**
 * Finds a project's echoes: `--folder`, otherwise those in this folder or the nearest one above it that has any, up to
 * the root of the repository.
 *
 * @throws UsageError when a file stands there
 */
export function openProject(io: Io, { lead, texts }: EchoesOptions): Project {
  const path = projectOf(io)
  const folder = texts.folder === undefined ? usualFolder(path) : resolve(io.cwd, texts.folder)
  if (statSync(folder, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`${folder} is a file: echoes are kept in a folder`)
  // Only a person at a terminal can agree: no option or variable can do so for them.
  const askHuman = async (question: string): Promise<boolean> =>
    isYes(await io.ask(`${question}\nAre you sure? [y/N] `))
  return {
    io,
    path,
    folder,
    askHuman,
    echoes: openEchoes({ root: folder, lead, askHuman, clock: io.now }),
  }
}

/** The folder of the documents for people: `--docs`, otherwise the project's. */
export const docsOf = ({ io, path }: Project, { texts }: EchoesOptions): string =>
  texts.docs === undefined ? join(path, 'docs', 'solutions') : resolve(io.cwd, texts.docs)

/** The folders that may hold a project's echoes, relative to it; new echoes go to the first. */
const ownFolder = '.recall/echoes'
const folders = [ownFolder, ...targets.flatMap(({ echoes = [] }) => echoes)]

/** The folder of a project's echoes; the first, if it has several. */
const usualFolder = (path: string): string =>
  join(path, folders.find((folder) => existsSync(join(path, folder))) ?? ownFolder)

/** The project that echoes in a folder belong to, by their place in it. A folder of another name stands for itself. */
export function projectHolding(folder: string): string {
  const usual = folders.find((each) => folder.endsWith(join(sep, each)))
  return usual === undefined ? folder : folder.slice(0, -join(sep, usual).length)
}

/**
 * The nearest folder at or above this one with echoes or with version control, otherwise this one: a project does not
 * share the echoes of a folder that contains it, such as a home folder with a memory.
 */
function projectOf({ cwd }: Io): string {
  const marks = [...folders, '.git']
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (marks.some((mark) => existsSync(join(folder, mark)))) return folder
    if (dirname(folder) === folder) return cwd
  }
}

/**
 * Runs after each change: copies the echoes into the memory, so that searches find them, and excludes their folder from
 * version control.
 */
export async function afterChange(project: Project, options: EchoesOptions): Promise<void> {
  keepOutOfVersionControl(project)
  await mirror(project, options)
}

/** Excludes the folder of the echoes from version control, unless a `talisman.yml` in the project says otherwise. */
export function keepOutOfVersionControl({ io, path, folder }: Project): void {
  const below = relative(path, folder).split(sep).join('/')
  if (isInRepository(path) && !leadsOut(below)) {
    const settings = join(dirname(folder), 'talisman.yml')
    try {
      const { changed, versionControlled } = applyVersionControl({ project: path, folder: below, settings })
      const did = versionControlled ? 'no longer excludes' : 'now excludes'
      if (changed) io.err(`recall: .gitignore ${did} ${below}/\n`)
    } catch (error) {
      // The change itself succeeded; an error here would make the user repeat it.
      io.err(`recall: .gitignore stays as it is: ${(error as Error).message}\n`)
    }
  }
}

const isInRepository = (folder: string): boolean =>
  existsSync(join(folder, '.git')) || (dirname(folder) !== folder && isInRepository(dirname(folder)))

/** Whether a relative path leads out of the folder it starts in; on Windows a path to another drive is absolute. */
const leadsOut = (path: string): boolean => path === '..' || path.startsWith('../') || isAbsolute(path)

export const notFound = (why: string): string => `searches do not find the latest echoes: ${why}`

/** Copies the echoes into the memory; a failure is reported, and the next change copies them again. */
export async function mirror(project: Project, options: RootOptions): Promise<void> {
  try {
    const { problems = [] } = (await copyToMemory(project, options)) ?? {}
    for (const problem of problems) project.io.err(`recall: ${notFound(problem)}\n`)
  } catch (error) {
    project.io.err(`recall: ${notFound((error as Error).message)}\n`)
  }
}

/** @returns `undefined` without a memory */
export async function copyToMemory(
  { io, path, folder, echoes }: Project,
  options: RootOptions,
): Promise<Mirrored | undefined> {
  const root = findRoot(io, options)
  const isNamed = Boolean(options.root || io.env.RECALL_ROOT)
  // Without a memory there is nothing to update, but a missing root that was named is reported.
  if (!isNamed && !holdsMemory(root, options)) return undefined
  const prefix = prefixOf(root, path, folder)
  // A memory in its own project moves along with the echoes.
  const origin = prefix === ownPrefix ? undefined : { folder, host: hostname() }
  return withMemory(io, options, (memory) => mirrorEchoes(echoes, memory, { prefix, origin }))
}

const ownPrefix = 'echo:'

/** The prefix of the copies' keys. Several projects and folders may share a memory, so it names the folder. */
function prefixOf(root: string, path: string, folder: string): string {
  const usual = usualFolder(path)
  // Only one folder of a project may use the plain prefix; a second one would replace its copies.
  const isOwn = (root === path || root.startsWith(path + sep)) && (folder === usual || !existsSync(usual))
  return isOwn
    ? ownPrefix
    : `${ownPrefix}${basename(path).replace(/[^\w.-]+/g, '-')}-${sha256(folder).slice(0, 6)}/`
}

/** @throws MemoryError NOT_FOUND for an unknown role */
export function checkRoles({ folder }: Project, named: readonly string[]): void {
  const missing = named.find((role) => !existsSync(join(folder, role)))
  if (missing !== undefined)
    throw new MemoryError(`there is no role ${missing} (see 'recall echoes show')`, MemoryErrorCode.NOT_FOUND)
}

/** @throws MemoryError NOT_FOUND when no entry of the role has the id */
export async function findEcho(echoes: Echoes, role: string, id: string): Promise<KnownEcho> {
  const echo = (await echoes.read(role)).echoes.find((each) => each.id === id)
  if (echo) return echo
  throw new MemoryError(
    `${role} has no entry ${id} (see 'recall echoes show ${role}')`,
    MemoryErrorCode.NOT_FOUND,
  )
}

/** Parses `reviewer/etched-004`, or the form in documents: `echoes/reviewer/MEMORY.md#etched-004@sha256:…`. */
export function parseReference(text: string | undefined): { role: string; id: string; hash?: string } {
  const match =
    /^(?:(?:.*\/)?echoes\/)?([^/#]+)(?:\/MEMORY\.md#|[/#])([a-z]+-\d{3,})(?:@sha256:([0-9a-f]{64}))?$/.exec(
      text ?? '',
    )
  const [, role, id, hash] = match ?? []
  if (!role || !id) {
    throw new UsageError(`an entry is named like reviewer/inscribed-003, not '${text ?? ''}'`)
  }
  return { role, id, ...(hash ? { hash } : {}) }
}

export function layerOf(text: string | undefined, fallback?: EchoLayer): EchoLayer {
  if (text === 'etched' || text === 'inscribed' || text === 'traced') return text
  if (text === undefined && fallback) return fallback
  throw new UsageError(`a layer is etched, inscribed or traced, not '${text ?? ''}'`)
}

/**
 * Prints one JSON document, or text for people. Others wrote the text, so terminal controls are removed from it, and
 * secrets that somebody typed in: agents run commands as well.
 *
 * @param removed how many secrets the caller has removed already, by kind
 */
export function print(
  io: Io,
  json: boolean,
  value: object,
  text: () => string,
  removed: Readonly<Record<string, number>> = {},
): void {
  const shown = json ? redactJson(JSON.parse(JSON.stringify(value))) : redactText(text())
  io.out('value' in shown ? `${JSON.stringify(shown.value)}\n` : printable(shown.text))
  const counts = { ...removed, ...shown.counts }
  if (Object.keys(counts).length > 0)
    io.err(`recall: secrets are not shown: take them out of the files (${formatCounts(counts)})\n`)
}

/** The hint below a plan that was only shown. */
export const toApply = (applied: boolean, nothing = false): string =>
  applied || nothing ? '' : '\nNothing was changed. Run the same with --yes to do it.\n'
