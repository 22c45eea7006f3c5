import { lstatSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { identityOf, isGone, orAbsent } from '@recall/core/process'
import * as z from 'zod/mini'
import { dayOf } from '../documents/day.ts'
import { namesIn, readOwnText, removeFile, replaceFile } from './files.ts'

const processSchema = z.object({ pid: z.number(), started: z.number(), place: z.string() })
/** The latest that a date can be. */
const latestTime = 8.64e15
/** Of a workflow that no process stands for: when it began, in milliseconds. */
const markSchema = z.object({ began: z.number().check(z.gte(0), z.lte(latestTime)) })
const workflowSchema = z.union([processSchema, markSchema])

const folderOf = (root: string): string => join(root, '.workflows')

/**
 * Marks a workflow as active, as long as its process lives or, without a process, until it is forgotten. Removes the
 * files of those whose process is gone. Call it under the lock.
 */
export function noteWorkflow(root: string, workflow: string, pid: number | null, now: number): void {
  const path = pathOf(root, workflow)
  for (const file of filesIn(folderOf(root))) removeIfGone(join(folderOf(root), file))
  replaceFile(path, JSON.stringify(pid === null ? { began: now } : identityOf(pid)))
}

/** Best effort: a file that cannot be read or removed must not keep another workflow from beginning. */
function removeIfGone(path: string): void {
  try {
    if (readWorkflow(path)?.isGone) unlinkSync(path)
  } catch {}
}

export const isNoted = (root: string, workflow: string): boolean => isThere(pathOf(root, workflow))

const isThere = (path: string): boolean => orAbsent(() => lstatSync(path)) !== null

export function forgetWorkflow(root: string, workflow: string): void {
  removeFile(pathOf(root, workflow))
}

export interface ActiveWorkflow {
  name: string
  /** Whether its file does not say which process it belongs to, so that only a person can tell that it has ended. */
  isDamaged: boolean
  /** When it began, in milliseconds, if no process stands for it: it is then active until somebody ends it. */
  began?: number
}

export const damageOf = ({ name }: ActiveWorkflow): string =>
  `.workflows/${name}.json is damaged, and nothing is pruned while it is there`

/** Why nothing is pruned, and what to do about it. */
export function refusalOf(active: ActiveWorkflow): string {
  const { name, began } = active
  if (active.isDamaged) return `${damageOf(active)}: remove it, unless that workflow still runs`
  const wait = `the workflow ${name} is active: prune once it has ended`
  return began === undefined ? wait : `${wait}; it began on ${dayOf(began)}: ${endingOf(active)}`
}

export const endingOf = ({ name }: ActiveWorkflow): string =>
  `if it no longer runs, end it with 'recall echoes end ${name}', in a program with 'endWorkflow'`

export function activeWorkflows(root: string): ActiveWorkflow[] {
  return filesIn(folderOf(root)).flatMap((file) => {
    const read = readWorkflow(join(folderOf(root), file))
    if (read === null || read.isGone) return []
    const { isDamaged, began } = read
    return [{ name: file.slice(0, -'.json'.length), isDamaged, ...(began === undefined ? {} : { began }) }]
  })
}

const filesIn = (folder: string): string[] => namesIn(folder).filter((name) => name.endsWith('.json'))

/** What the file of a workflow says of its process; `null` when there is no such file. */
function readWorkflow(path: string): { isDamaged: boolean; isGone: boolean; began?: number } | null {
  const text = readOwnText(path)
  const written = orAbsent(() => lstatSync(path))?.mtimeMs
  if (text === null || written === undefined) return null
  const owner = parseOwner(text)
  if (owner === undefined) return { isDamaged: true, isGone: false }
  if ('began' in owner) return { isDamaged: false, isGone: false, began: owner.began }
  return { isDamaged: false, isGone: isGone(owner, () => written) }
}

function parseOwner(text: string): z.output<typeof workflowSchema> | undefined {
  try {
    return workflowSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function pathOf(root: string, workflow: string): string {
  // A name that is absent would be read as 'undefined'.
  if (typeof workflow !== 'string' || !/^\w[\w.-]{0,99}$/.test(workflow)) {
    throw new MemoryError(
      `'${workflow}' is not a valid workflow name: a name has up to 100 letters A to Z and a to z, digits, dots, dashes and underscores, and begins with no dot and no dash`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  return join(folderOf(root), `${workflow}.json`)
}
