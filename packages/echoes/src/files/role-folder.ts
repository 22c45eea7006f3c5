import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import { isDay } from '../documents/day.ts'
import {
  type EchoDocument,
  emptyEchoes,
  entriesIn,
  parseEchoes,
  printEchoes,
} from '../documents/echo-document.ts'
import {
  emptySidecar,
  identify,
  type KnownEcho,
  parseSidecar,
  printSidecar,
  type Sidecar,
} from '../documents/sidecar.ts'
import { namesIn, readText } from './files.ts'
import type { FileChange } from './transaction.ts'

/** The memory that all roles share; only the lead writes to it. */
export const teamRole = 'team'

/** A role's memory as it is on disk. */
export interface RoleMemory {
  role: string
  text: string
  echoes: KnownEcho[]
  /** Entries that cannot be read, by line; they are kept as they are. */
  problems: { line: number; problems: string[] }[]
  /** The entries that `restoreEntry` can restore: removed ones and shortened ones. */
  archived: { id: string; backup: string; shortened: boolean }[]
}

export interface LoadedRole extends RoleMemory {
  document: EchoDocument
  /** The text of the file as read; `null` when there is none. */
  onDisk: string | null
  /** The stored sidecar, completed with an id for every entry of the file. */
  sidecar: Sidecar
}

export const memoryPath = (role: string): string => `${role}/MEMORY.md`
const sidecarPath = (role: string): string => `${role}/.echoes.json`
export const knowledgePath = (role: string): string => `${role}/knowledge.md`
export const knowledgePlanPath = (role: string): string => `${role}/.knowledge-plan.json`
export const findingsPath = (role: string, agent: string): string => `${role}/${agent}-findings.md`

/** @throws MemoryError INVALID_INPUT for a name that is not a plain folder or file name */
export function checkName(name: string, what: 'role' | 'agent'): void {
  if (typeof name === 'string' && /^[A-Za-z0-9](?:[\w-]|\.(?!\.)){0,63}$/.test(name)) return
  throw new MemoryError(
    `'${name}' is not a valid ${what} name: a name has up to 64 letters A to Z and a to z, digits, dots, dashes and underscores, begins with a letter or a digit, and has no two dots in a row`,
    MemoryErrorCode.INVALID_INPUT,
  )
}

/**
 * Reads a role's memory; a role without a file has an empty one.
 *
 * @throws MemoryError INVALID_INPUT when the folder is a link, NOT_SUPPORTED when a newer version wrote the file
 */
export function loadRole(root: string, role: string): LoadedRole {
  checkName(role, 'role')
  if (orAbsent(() => lstatSync(join(root, role)))?.isSymbolicLink() === true) {
    throw new MemoryError(
      `${join(root, role)} is a link: memories are not followed out of their folder`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  const path = join(root, memoryPath(role))
  const text = readText(path)
  const document = text === null ? emptyEchoes(role) : parseEchoes(text)
  if (document.schema > 1) {
    throw new MemoryError(
      `${path} was written by a newer version (echo-schema v${document.schema}): update this one`,
      MemoryErrorCode.NOT_SUPPORTED,
      { details: { path } },
    )
  }
  const known = readText(join(root, sidecarPath(role)))
  const { echoes, sidecar } = identify(
    document,
    known === null ? emptySidecar() : parseSidecar(known, join(root, sidecarPath(role))),
  )
  const problems = document.blocks.flatMap(({ line, problems: found }) =>
    found ? [{ line, problems: found }] : [],
  )
  const archived = Object.entries(sidecar.entries).flatMap(([id, { archived: place }]) =>
    place ? [{ id, backup: place.backup, shortened: place.as === 'shortened' }] : [],
  )
  return { role, text: printEchoes(document), echoes, problems, archived, document, onDisk: text, sidecar }
}

/** The error for a plan that was made for another text than the current one. */
export const outdatedPlan = (subject: string): MemoryError =>
  new MemoryError(
    `the ${subject} has changed since this plan was made: make a new plan`,
    MemoryErrorCode.CONFLICT,
  )

/** The error for a step of a plan that names no existing entry, or one that it may not touch. */
export const unfitPlan = (id: string): MemoryError =>
  new MemoryError(
    `the plan does not fit the memory at ${id}: make a new plan, and apply it as it is`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { id } },
  )

export const noEntry = (role: string, id: string): MemoryError =>
  new MemoryError(
    `${role} has no entry ${id} (see 'recall echoes show ${role}', in a program 'read')`,
    MemoryErrorCode.NOT_FOUND,
  )

/**
 * The change that writes a role's memory, unless somebody has written it since it was loaded.
 *
 * @throws MemoryError FORBIDDEN when the etched entries would differ, unless a person wants it
 */
export function memoryChange(
  { role, onDisk, document: before }: Pick<LoadedRole, 'role' | 'onDisk' | 'document'>,
  document: EchoDocument,
  { byPerson = false } = {},
): FileChange {
  if (!byPerson && etchedIn(before) !== etchedIn(document)) {
    throw new MemoryError(
      `nothing was changed: this would change the etched entries of ${role}, which only a person may do`,
      MemoryErrorCode.FORBIDDEN,
    )
  }
  return { path: memoryPath(role), content: printEchoes(document), seen: onDisk }
}

/** The etched entries, without the day and the confidence that a finding may raise. */
const etchedIn = ({ blocks }: EchoDocument): string =>
  JSON.stringify(
    entriesIn(blocks)
      .filter(({ layer }) => layer === 'etched')
      .map(({ verified, confidence, ...rest }) => rest),
  )

export const sidecarChange = (role: string, sidecar: Sidecar): FileChange => ({
  path: sidecarPath(role),
  content: printSidecar(sidecar),
})

/**
 * The change that keeps a copy of a file in `archive/`, named after the day. A backup is never overwritten: a further
 * one on the same day gets a number.
 *
 * @throws MemoryError INVALID_INPUT when the day of a plan is not a day: as a part of a path it could lead anywhere
 */
export function backupChange(
  root: string,
  role: string,
  file: 'MEMORY' | 'findings' | 'knowledge',
  text: string,
  day: string,
): { name: string; change: FileChange } {
  if (!isDay(day)) {
    throw new MemoryError(
      'the day of the plan is not a day (YYYY-MM-DD): make a new plan, and apply it as it is',
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  for (let n = 1; ; n++) {
    const name = `${file}-${day}${n === 1 ? '' : `-${n}`}.md`
    const path = `${role}/archive/${name}`
    const taken = readText(join(root, path))
    if (taken === null || taken === text) return { name, change: { path, content: text } }
  }
}

/** The agents of a role whose findings wait to be consolidated. */
export const waitingAgents = (root: string, role: string): string[] =>
  namesIn(join(root, role)).flatMap((name) => /^(?!\.)(.+)-findings\.md$/.exec(name)?.[1] ?? [])
