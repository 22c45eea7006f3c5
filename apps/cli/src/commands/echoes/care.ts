import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { type KnowledgePlan, type PrunePlan, teamRole } from '@recall/echoes'
import { exitCodes, UsageError } from '../../exit-codes.ts'
import { languageModel } from '../../memory/language-model.ts'
import { count } from '../../terminal/format.ts'
import { afterChange, checkRoles, type EchoesOptions, type Project, print, toApply } from './project.ts'

/** Prunes memories above their line limit, and shortens `knowledge.md` files above theirs. */
export async function prune(project: Project, roles: string[], options: EchoesOptions): Promise<number> {
  const { io, echoes } = project
  const lm = languageModel(io)
  const { done, failed } = await eachRole(project, roles, options, async (role) => {
    const plan = await echoes.planPrune(role)
    // With `--yes`, reuse the answer that was shown: a model would answer differently the second time.
    const knowledge = await echoes.planKnowledge(role, { ...(lm ? { lm } : {}), asShown: options.yes })
    if (options.yes && plan.steps.length > 0) await echoes.applyPrune(plan)
    if (options.yes && knowledge.blocks.length > 0) await echoes.applyKnowledge(knowledge)
    return { plan, knowledge }
  })
  if (options.yes) await afterChange(project, options)
  const plans = done.map(({ plan }) => plan)
  const knowledge = done.map((each) => each.knowledge).filter(({ lines, lineLimit }) => lines > lineLimit)
  print(io, options.json, { applied: options.yes, plans, knowledge, failed }, () => {
    const nothing =
      [...knowledge.map(({ blocks }) => blocks), ...plans.map(({ steps }) => steps)].flat().length === 0
    const pruned = plans.flatMap((plan) => (hasMemory(project, plan) ? pruneLines(plan) : noMemory(plan)))
    const lines = [...pruned, ...knowledge.map(knowledgeLine)]
    const none = failed.length > 0 ? '' : 'No echoes yet.\n'
    return `${lines.join('\n')}${lines.length > 0 ? '\n' : none}${toApply(options.yes, nothing)}`
  })
  return failed.length > 0 ? exitCodes.failed : exitCodes.fine
}

interface FailedRole {
  role: string
  reason: string
}

/**
 * Runs work for several roles. A failure, even one that comes after part of the work, does not stop the other roles.
 */
async function eachRole<T>(
  project: Project,
  named: string[],
  options: EchoesOptions,
  work: (role: string) => Promise<T>,
): Promise<{ done: T[]; failed: FailedRole[] }> {
  const roles = rolesFor(project, named, options)
  const done: T[] = []
  const failed: FailedRole[] = []
  for (const role of roles) {
    try {
      done.push(await work(role))
    } catch (error) {
      if (!isMemoryError(error) || roles.length === 1) throw error
      failed.push({ role, reason: error.message })
      project.io.err(`recall: not finished for ${role}: ${error.message}\n`)
    }
  }
  return { done, failed }
}

/**
 * The named roles, or all that the caller may write to: a run over all roles must not fail because of the team's.
 *
 * @throws MemoryError NOT_FOUND for an unknown role
 */
function rolesFor(project: Project, named: string[], { lead }: EchoesOptions): string[] {
  const { io, echoes } = project
  checkRoles(project, named)
  if (named.length > 0) return named
  const all = echoes.roles()
  if (lead || !all.includes(teamRole)) return all
  io.err(`recall: ${teamRole} is left out: only the lead writes to it (--lead)\n`)
  return all.filter((role) => role !== teamRole)
}

const hasMemory = ({ folder }: Project, { role }: PrunePlan): boolean =>
  existsSync(join(folder, role, 'MEMORY.md'))

const noMemory = ({ role }: PrunePlan): string => `${role}: nothing to prune (there is no MEMORY.md)`

const pruneLines = ({ role, steps, lines, linesAfter, lineLimit }: PrunePlan): string[] => [
  steps.length === 0
    ? `${role}: nothing to prune (${lines} lines, limit ${lineLimit})`
    : `${role}: ${lines} lines become ${linesAfter} (limit ${lineLimit})`,
  ...steps.map(
    ({ id, action, title, reason, score }) =>
      `  ${action.padEnd(8)} ${id.padEnd(14)} ${score.score.toFixed(2)}  ${title}: ${reason}`,
  ),
]

const knowledgeLine = (plan: KnowledgePlan): string => {
  const { role, lines, linesAfter, lineLimit, blocks, tokens, tokensAfter } = plan
  if (blocks.length === 0)
    return `${role}/knowledge.md: ${lines} lines, limit ${lineLimit}; shorten it by hand: it has no entries that prune could shorten`
  const saved = Math.round((100 * (tokens - tokensAfter)) / tokens)
  return `${role}/knowledge.md: ${lines} lines become ${linesAfter}, about ${tokens} tokens become ${tokensAfter} (${saved} % saved)`
}

/** Merges the findings of agents into the memories of their roles. */
export async function consolidate(
  project: Project,
  roles: string[],
  options: EchoesOptions,
): Promise<number> {
  const { io, echoes } = project
  const { done: all, failed } = await eachRole(project, roles, options, (role) =>
    echoes.consolidate(role, { dryRun: !options.yes }),
  )
  if (options.yes) await afterChange(project, options)
  print(io, options.json, { applied: options.yes, roles: all, failed }, () => {
    const lines = all.flatMap(({ role, added, merged, kept, stripped, pruned }) => [
      `${role}: ${added} new, ${merged} known before`,
      ...kept.map(({ agent, line, reasons }) => `  ${agent}, line ${line} stays: ${reasons.join('; ')}`),
      ...stripped.map(({ title, kinds }) => `  taken out of "${title}": ${kinds.join(', ')}`),
      ...(pruned ? pruneLines(pruned).map((line) => `  ${line}`) : []),
    ])
    const nothing = all.every(({ added, merged, pruned }) => added + merged === 0 && !pruned)
    const none = failed.length > 0 ? '' : 'No findings wait.\n'
    return `${lines.length > 0 ? `${lines.join('\n')}\n` : none}${toApply(options.yes, nothing)}`
  })
  if (failed.length > 0) return exitCodes.failed
  return all.some(({ kept }) => kept.length > 0) ? exitCodes.no : exitCodes.fine
}

/** Replaces old names in the metadata of every file. */
export async function migrate(project: Project, args: string[], options: EchoesOptions): Promise<number> {
  const { io, echoes } = project
  const pairs = args.map((pair) => /^(.+?)=(.+)$/.exec(pair))
  if (pairs.length === 0 || pairs.includes(null))
    throw new UsageError('say what is renamed: recall echoes migrate old-name=new-name')
  const renames = Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
  const files = await echoes.migrate(renames, { dryRun: !options.yes })
  const changed = files.filter(({ problem }) => problem === undefined)
  for (const { path, problem } of files)
    if (problem !== undefined) io.err(`recall: ${path} is left as it is: ${problem}\n`)
  if (!options.lead && changed.some(({ path }) => path.startsWith(`${teamRole}/`)))
    io.err(`recall: nothing can be renamed like that: only the lead writes to ${teamRole} (--lead)\n`)
  if (options.yes) await afterChange(project, options)
  print(io, options.json, { applied: options.yes, files }, () => {
    const lines = changed.flatMap(({ path, backup, renamed }) => [
      `${path}${options.yes ? ` (before: ${backup})` : ''}`,
      ...renamed.map(({ line, field, from, to }) => `  line ${line}, ${field}: ${from} → ${to}`),
    ])
    if (changed.length === 0) return 'No metadata has these names.\n'
    return `${lines.join('\n')}\n\n${count(changed.length, 'file')}.\n${toApply(options.yes)}`
  })
  return changed.length < files.length ? exitCodes.no : exitCodes.fine
}
