import { isMemoryError } from '@recall/core'
import {
  type EchoEntry,
  type KnownEcho,
  redactSensitive,
  scoreEcho,
  surface,
  withoutSecrets,
  withSafeEvidence,
} from '@recall/echoes'
import { addCounts } from '../../add-counts.ts'
import { exitCodes, UsageError } from '../../exit-codes.ts'
import { printable } from '../../terminal/printable.ts'
import {
  checkRoles,
  docsOf,
  type EchoesOptions,
  findEcho,
  mirror,
  type Project,
  parseReference,
  print,
} from './project.ts'

/** Shows the entries of all or some roles with their scores, or one entry in full. */
export async function show(project: Project, args: string[], { json }: EchoesOptions): Promise<number> {
  const { io, echoes } = project
  if (args.length === 1 && /[/#]/.test(args[0] ?? '')) return showOne(project, args[0] ?? '', json)
  checkRoles(project, args)
  const named = args.length > 0 ? args : echoes.roles()
  const read = await Promise.all(named.map((role) => shownRole(project, role)))
  const removed: Record<string, number> = {}
  const safe = (title: string): string => {
    const { text, counts } = redactSensitive(title)
    addCounts(removed, counts)
    return text
  }
  const roles = read
    .filter((role) => role !== undefined)
    .map((role) => ({
      ...role,
      entries: role.entries.map((entry) => ({ ...entry, title: safe(entry.title) })),
    }))
  const text = () => {
    if (named.length === 0)
      return `No echoes in ${project.folder} yet: 'recall echoes add' writes the first.\n`
    const lines = roles.flatMap(({ role, entries, problems, archived }) => [
      `${role}`,
      ...entries.map(({ id, score, title }) => `  ${id.padEnd(14)} ${score.toFixed(2)}  ${title}`),
      ...problems.map((each) => `  line ${each.line} is not an entry: ${each.problems.join('; ')}`),
      ...archived.map(({ id, shortened }) => `  ${id.padEnd(14)} ${shortened ? 'shortened' : 'archived'}`),
    ])
    return `${lines.join('\n')}\n`
  }
  print(io, json, { folder: project.folder, roles }, text, removed)
  if (roles.length < named.length) return exitCodes.failed
  const hasAny = roles.some(({ entries, archived }) => entries.length + archived.length > 0)
  return hasAny ? exitCodes.fine : exitCodes.no
}

/** @returns `undefined` for a role that cannot be read, which is reported: the other roles are shown all the same */
async function shownRole({ io, echoes }: Project, role: string) {
  try {
    const { echoes: all, problems, archived } = await echoes.read(role)
    return { role, entries: all.map((echo) => summaryOf(echo, io.now())), problems, archived }
  } catch (error) {
    if (!isMemoryError(error)) throw error
    io.err(`recall: not shown: ${role}: ${printable(error.message)}\n`)
    return undefined
  }
}

async function showOne({ io, echoes }: Project, reference: string, json: boolean): Promise<number> {
  const { role, id } = parseReference(reference)
  const echo = await findEcho(echoes, role, id)
  const score = scoreEcho(echo, io.now())
  const { block, stripped } = withoutSecrets(echo.block)
  const text = () => {
    const { importance, relevance, recency } = score
    const parts = `importance ${importance}, relevance ${relevance.toFixed(2)}, recency ${recency.toFixed(2)}`
    return `${block.text.trimEnd()}\n\nscore ${score.score.toFixed(2)} (${parts})\n`
  }
  const removed = Object.fromEntries(stripped.map((kind) => [kind, 1]))
  print(io, json, { role, id, entry: safeEntry(echo), score, sessions: echo.sessions }, text, removed)
  return exitCodes.fine
}

const safeEntry = (echo: KnownEcho): EchoEntry =>
  withoutSecrets(echo.block).block.entry ?? withSafeEvidence(echo.entry).entry

const summaryOf = (echo: KnownEcho, now: number) => ({
  id: echo.id,
  layer: echo.entry.layer,
  title: echo.entry.title,
  confidence: echo.entry.confidence,
  verified: echo.entry.verified,
  sessions: echo.sessions,
  score: scoreEcho(echo, now).score,
})

/** Prints what roles and the team have learned about a task, fenced as data. With `--workflow`, counts it as used. */
export async function surfaceFor(project: Project, roles: string[], options: EchoesOptions): Promise<number> {
  const { io, echoes } = project
  const { for: task, workflow } = options.texts
  if (!task) throw new UsageError('say what the task is: --for "add a list of users"')
  const found = await surface(echoes, {
    task,
    roles: roles.length > 0 ? roles : echoes.roles(),
    limit: options.limit,
    solutions: docsOf(project, options),
    ...(workflow ? { workflow } : {}),
  })
  const known = echoes.roles()
  if (known.length > 0) await mirror(project, options)
  // A role that has learned nothing yet is not a mistake: what the team knows is shown all the same.
  for (const role of roles.filter((each) => !known.includes(each)))
    io.err(`recall: there is no role ${printable(role)} yet\n`)
  for (const problem of found.problems) io.err(`recall: ${printable(problem)}\n`)
  const entries = found.echoes.map(({ role, echo }) => ({
    role,
    id: echo.id,
    entry: safeEntry(echo),
  }))
  const solutions = found.solutions.map(({ path, remembrance }) => ({ path, ...remembrance }))
  print(io, options.json, { task, echoes: entries, solutions, text: found.text }, () =>
    found.text === '' ? '' : `${found.text}\n`,
  )
  // The output goes into an agent's context, where this message would be of no use.
  const isEmpty = entries.length + solutions.length === 0
  if (isEmpty && !options.json) io.err('recall: no echo fits the task\n')
  return isEmpty ? exitCodes.no : exitCodes.fine
}
