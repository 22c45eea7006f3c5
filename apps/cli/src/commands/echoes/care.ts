import { type Consolidation, type KnowledgePlan, type PrunePlan, teamRole } from '@recall/echoes'
import { exitCodes, UsageError } from '../../exit-codes.ts'
import { count } from '../../format.ts'
import { languageModel } from '../../memory.ts'
import { afterChange, type EchoesOptions, type Project, print, toApply } from './project.ts'

/** Shortens memories above their limit, and `knowledge.md` above its own. */
export async function prune(project: Project, roles: string[], options: EchoesOptions): Promise<number> {
  const { io, echoes } = project
  const lm = languageModel(io)
  const plans: PrunePlan[] = []
  const knowledge: KnowledgePlan[] = []
  for (const role of rolesFor(project, roles, options)) {
    plans.push(await echoes.planPrune(role))
    const plan = await echoes.planKnowledge(role, lm ? { lm } : {})
    if (plan.blocks.length > 0) knowledge.push(plan)
  }
  if (options.yes) {
    for (const plan of plans) if (plan.steps.length > 0) await echoes.applyPrune(plan)
    for (const plan of knowledge) await echoes.applyKnowledge(plan)
    await afterChange(project, options)
  }
  print(io, options.json, { applied: options.yes, plans, knowledge }, () => {
    const nothing = knowledge.length === 0 && plans.every(({ steps }) => steps.length === 0)
    const lines = [...plans.flatMap(pruneLines), ...knowledge.map(knowledgeLine)]
    return `${lines.join('\n')}${lines.length > 0 ? '\n' : 'No echoes yet.\n'}${toApply(options.yes, nothing)}`
  })
  return exitCodes.fine
}

/** Those that were named, else all that the caller may write to: a whole run must not stop at the team. */
function rolesFor({ io, echoes }: Project, named: string[], { lead }: EchoesOptions): string[] {
  if (named.length > 0) return named
  const all = echoes.roles()
  if (lead || !all.includes(teamRole)) return all
  io.err(`recall: ${teamRole} is left out: only the lead writes to it (--lead)\n`)
  return all.filter((role) => role !== teamRole)
}

const pruneLines = ({ role, steps, lines, linesAfter, lineLimit }: PrunePlan): string[] => [
  steps.length === 0
    ? `${role}: nothing to prune (${lines} lines, limit ${lineLimit})`
    : `${role}: ${lines} lines become ${linesAfter} (limit ${lineLimit})`,
  ...steps.map(
    ({ id, action, title, reason, score }) =>
      `  ${action.padEnd(8)} ${id.padEnd(14)} ${score.score.toFixed(2)}  ${title}: ${reason}`,
  ),
]

const knowledgeLine = ({ role, lines, linesAfter, tokens, tokensAfter }: KnowledgePlan): string => {
  const saved = Math.round((100 * (tokens - tokensAfter)) / tokens)
  return `${role}/knowledge.md: ${lines} lines become ${linesAfter}, about ${tokens} tokens become ${tokensAfter} (${saved} % saved)`
}

/** Brings the findings of agents into the memories of their roles. */
export async function consolidate(
  project: Project,
  roles: string[],
  options: EchoesOptions,
): Promise<number> {
  const { io, echoes } = project
  const all: Consolidation[] = []
  for (const role of rolesFor(project, roles, options)) {
    all.push(await echoes.consolidate(role, { dryRun: !options.yes }))
  }
  if (options.yes) await afterChange(project, options)
  print(io, options.json, { applied: options.yes, roles: all }, () => {
    const lines = all.flatMap(({ role, added, merged, kept, stripped, pruned }) => [
      `${role}: ${added} new, ${merged} known before`,
      ...kept.map(({ agent, line, reasons }) => `  ${agent}, line ${line} stays: ${reasons.join('; ')}`),
      ...stripped.map(({ title, kinds }) => `  taken out of "${title}": ${kinds.join(', ')}`),
      ...(pruned ? pruneLines(pruned).map((line) => `  ${line}`) : []),
    ])
    const nothing = all.every(({ added, merged, pruned }) => added + merged === 0 && !pruned)
    return `${lines.length > 0 ? lines.join('\n') : 'No findings wait.'}\n${toApply(options.yes, nothing)}`
  })
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
  if (options.yes) await afterChange(project, options)
  print(io, options.json, { applied: options.yes, files }, () => {
    const lines = files.flatMap(({ path, backup, renamed }) => [
      `${path}${options.yes ? ` (before: ${backup})` : ''}`,
      ...renamed.map(({ line, field, from, to }) => `  line ${line}, ${field}: ${from} → ${to}`),
    ])
    if (files.length === 0) return 'No metadata has these names.\n'
    return `${lines.join('\n')}\n\n${count(files.length, 'file')}.\n${toApply(options.yes)}`
  })
  return exitCodes.fine
}
