import { lstatSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { identityOf, isGone, orAbsent } from '@recall/core/process'
import * as z from 'zod/mini'
import { namesIn, readOwnText, removeFile, replaceFile } from './files.ts'

const workflowSchema = z.object({ pid: z.number(), started: z.number(), place: z.string() })

const folderOf = (root: string): string => join(root, '.workflows')

/**
 * Marks a workflow as active, as long as its process lives, and removes the files of those whose process is gone. Call
 * it under the lock.
 */
export function noteWorkflow(root: string, workflow: string, pid: number): void {
  const path = pathOf(root, workflow)
  for (const file of filesIn(folderOf(root))) removeIfGone(join(folderOf(root), file))
  replaceFile(path, JSON.stringify(identityOf(pid)))
}

/** Best effort: a file that cannot be read or removed must not keep another workflow from beginning. */
function removeIfGone(path: string): void {
  try {
    if (readWorkflow(path)?.isGone) unlinkSync(path)
  } catch {}
}

export function forgetWorkflow(root: string, workflow: string): void {
  removeFile(pathOf(root, workflow))
}

export interface ActiveWorkflow {
  name: string
  /** Whether its file does not say which process it belongs to, so that only a person can tell that it has ended. */
  isDamaged: boolean
}

export const damageOf = ({ name }: ActiveWorkflow): string =>
  `.workflows/${name}.json is damaged, and nothing is pruned while it is there`

export function activeWorkflows(root: string): ActiveWorkflow[] {
  return filesIn(folderOf(root)).flatMap((file) => {
    const read = readWorkflow(join(folderOf(root), file))
    if (read === null || read.isGone) return []
    return [{ name: file.slice(0, -'.json'.length), isDamaged: read.isDamaged }]
  })
}

const filesIn = (folder: string): string[] => namesIn(folder).filter((name) => name.endsWith('.json'))

/** What the file of a workflow says of its process; `null` when there is no such file. */
function readWorkflow(path: string): { isDamaged: boolean; isGone: boolean } | null {
  const text = readOwnText(path)
  const written = orAbsent(() => lstatSync(path))?.mtimeMs
  if (text === null || written === undefined) return null
  const owner = parseOwner(text)
  return owner === undefined
    ? { isDamaged: true, isGone: false }
    : { isDamaged: false, isGone: isGone(owner, () => written) }
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
