import { exitCodes, UsageError } from '../../exit-codes.ts'
import { type EchoesOptions, keepOutOfVersionControl, type Project, print } from './project.ts'

/** Marks a workflow as active until `end`: this process ends at once, so its own life says nothing. */
export async function begin(
  project: Project,
  [workflow]: string[],
  { json }: EchoesOptions,
): Promise<number> {
  if (!workflow) throw new UsageError('say which workflow: recall echoes begin review-1')
  await project.echoes.beginWorkflow(workflow, null)
  keepOutOfVersionControl(project)
  print(project.io, json, { workflow }, () => `Nothing is pruned before 'recall echoes end ${workflow}'.\n`)
  return exitCodes.fine
}

/** Ends a workflow, so that memories are pruned again. */
export async function end(
  { io, echoes }: Project,
  [workflow]: string[],
  { json }: EchoesOptions,
): Promise<number> {
  if (!workflow) throw new UsageError('say which workflow: recall echoes end review-1')
  const ended = echoes.activeWorkflows().includes(workflow)
  await echoes.endWorkflow(workflow)
  const active = echoes.activeWorkflows()
  print(io, json, { workflow, ended, active }, () => {
    const others = active.length > 0 ? ` Still active: ${active.join(', ')}.` : ''
    return `${workflow} ${ended ? 'has ended' : 'was not active'}.${others}\n`
  })
  return ended ? exitCodes.fine : exitCodes.no
}
