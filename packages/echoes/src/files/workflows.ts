import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { identityOf, isGone, orAbsent } from '@recall/core/process'
import * as z from 'zod/mini'
import { namesIn, readOwnText, removeFile, replaceFile } from './files.ts'

const workflowSchema = z.object({ pid: z.number(), started: z.number(), place: z.string() })

const folderOf = (root: string): string => join(root, '.workflows')

/** Marks a workflow as active, as long as its process lives. Call it under the lock. */
export function noteWorkflow(root: string, workflow: string, pid: number): void {
  replaceFile(pathOf(root, workflow), JSON.stringify(identityOf(pid)))
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
  const folder = folderOf(root)
  const files = namesIn(folder).filter((name) => name.endsWith('.json'))
  return files.flatMap((file) => {
    const text = readOwnText(join(folder, file))
    const written = orAbsent(() => lstatSync(join(folder, file)))?.mtimeMs
    if (text === null || written === undefined) return []
    const owner = parseOwner(text)
    if (owner && isGone(owner, () => written)) return []
    return [{ name: file.slice(0, -'.json'.length), isDamaged: owner === undefined }]
  })
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
