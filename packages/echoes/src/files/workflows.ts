import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { identityOf, isGone } from '@recall/core/process'
import * as z from 'zod/mini'
import { namesIn, orAbsent, readOwnText, removeFile, replaceFile } from './files.ts'

const workflowSchema = z.object({ pid: z.number(), started: z.number(), place: z.string() })

const folderOf = (root: string): string => join(root, '.workflows')

/** Marks a workflow as active, as long as its process lives. Call it under the lock. */
export function noteWorkflow(root: string, workflow: string, pid: number): void {
  replaceFile(pathOf(root, workflow), JSON.stringify(identityOf(pid)))
}

export function forgetWorkflow(root: string, workflow: string): void {
  removeFile(pathOf(root, workflow))
}

/** The active workflows. One whose file is damaged counts as active: a person has to look. */
export function activeWorkflows(root: string): string[] {
  const folder = folderOf(root)
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .filter((name) => {
      const text = readOwnText(join(folder, name))
      const written = orAbsent(() => lstatSync(join(folder, name)))?.mtimeMs
      if (text === null || written === undefined) return false
      const owner = parseOwner(text)
      return owner === undefined || !isGone(owner, () => written)
    })
    .map((name) => name.slice(0, -'.json'.length))
}

function parseOwner(text: string): z.output<typeof workflowSchema> | undefined {
  try {
    return workflowSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function pathOf(root: string, workflow: string): string {
  if (!/^\w[\w.-]{0,99}$/.test(workflow)) {
    throw new MemoryError(
      `'${workflow}' names no workflow: a name is made of the letters a to z, digits, dots, dashes and underscores`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  return join(folderOf(root), `${workflow}.json`)
}
