import { type EchoEntry, type EditPlan, redactSensitive } from '@recall/echoes'
import { exitCodes, UsageError } from '../../exit-codes.ts'
import { count } from '../../terminal/format.ts'
import {
  afterChange,
  checkRoles,
  type EchoesOptions,
  layerOf,
  type Project,
  parseReference,
  print,
  toApply,
} from './project.ts'

/** Adds an entry or, with `--agent`, a finding that waits for consolidation. */
export async function add(project: Project, args: string[], options: EchoesOptions): Promise<undefined> {
  const [role, ...words] = args
  const { texts } = options
  const title = words.join(' ')
  if (!role || title === '') throw new UsageError('say for which role, and the title of the entry')
  if (!texts.learning || !texts.evidence)
    throw new UsageError('an entry needs --learning "…" and --evidence "`file:lines` — what was found"')
  const today = new Date(project.io.now()).toISOString().slice(0, 10)
  const entry: EchoEntry = {
    date: today,
    kind: texts.kind ?? 'Pattern',
    title,
    layer: layerOf(texts.layer, 'traced'),
    source: texts.source ?? 'manual',
    confidence: Number(texts.confidence ?? 0.8),
    evidence: texts.evidence,
    verified: today,
    supersedes: texts.supersedes ?? null,
    learning: texts.learning,
  }
  const added = texts.agent
    ? await project.echoes.appendFinding(role, texts.agent, entry)
    : await project.echoes.add(role, entry)
  const { stripped } = added
  // A finding has no id before it is consolidated.
  const id = 'id' in added ? { id: String(added.id) } : {}
  await afterChange(project, options)
  if (id.id !== undefined) await tellOfSame(project, role, id.id)
  if (stripped.length > 0) project.io.err(`recall: taken out before it was written: ${stripped.join(', ')}\n`)
  const waits = texts.agent !== undefined
  const shown = redactSensitive(title).text
  print(project.io, options.json, { role, ...id, title: shown, waits, stripped }, () =>
    waits ? `Waits in ${role}/${texts.agent}-findings.md.\n` : `Added as ${role}/${id.id}.\n`,
  )
  return undefined
}

/** Reports entries in which the role already had the same words. */
async function tellOfSame({ io, echoes }: Project, role: string, id: string): Promise<void> {
  const wordsOf = ({ title, learning, evidence }: EchoEntry) => JSON.stringify([title, learning, evidence])
  const all = (await echoes.read(role)).echoes
  const added = all.find((echo) => echo.id === id)
  const same = all.filter((echo) => added && echo !== added && wordsOf(echo.entry) === wordsOf(added.entry))
  if (same.length === 0) return
  const names = same.map((echo) => `${role}/${echo.id}`).join(', ')
  io.err(`recall: the same is there already as ${names}\n`)
}

/** Moves an entry to another layer. */
export async function move(project: Project, [reference]: string[], options: EchoesOptions): Promise<number> {
  const { role, id } = parseReference(reference)
  const { to } = options.texts
  if (to === undefined) throw new UsageError('--to is missing: say etched, inscribed or traced')
  return carryOut(project, await project.echoes.planMove(role, id, layerOf(to)), options)
}

/** Removes entries of one role; they go to its archive. */
export async function remove(project: Project, args: string[], options: EchoesOptions): Promise<number> {
  const references = args.map((each) => parseReference(each))
  const [first] = references
  if (!first) throw new UsageError('say which entry, for example reviewer/traced-003')
  if (references.some(({ role }) => role !== first.role))
    throw new UsageError('remove takes entries of one role at a time')
  const ids = references.map(({ id }) => id)
  return carryOut(project, await project.echoes.planRemoval(first.role, ids), options)
}

/** Removes all entries of a role except the etched ones. With `--etched` it removes those, too, if a person agrees. */
export async function reset(project: Project, args: string[], options: EchoesOptions): Promise<number> {
  const { echoes } = project
  const [role, ...more] = args
  if (!role || more.length > 0) throw new UsageError('reset takes one role')
  if (role.includes('/')) return remove(project, args, options)
  checkRoles(project, [role])
  const all = options.etched ? (await echoes.read(role)).echoes.map(({ id }) => id) : undefined
  return carryOut(project, await echoes.planRemoval(role, all), options)
}

/** Restores entries that were pruned, shortened or removed. */
export async function restore(project: Project, args: string[], options: EchoesOptions): Promise<number> {
  const references = args.map((each) => parseReference(each))
  if (references.length === 0) throw new UsageError('say which entry, for example reviewer/traced-003')
  const restored: { role: string; id: string; changed: boolean }[] = []
  try {
    for (const { role, id } of references)
      restored.push({ role, id, changed: await project.echoes.restoreEntry(role, id) })
  } finally {
    // The entries before one that fails are restored, whatever happens next.
    if (restored.length > 0) await tellRestored(project, restored, options)
  }
  return exitCodes.fine
}

async function tellRestored(
  project: Project,
  restored: readonly { role: string; id: string; changed: boolean }[],
  options: EchoesOptions,
): Promise<void> {
  await afterChange(project, options)
  print(project.io, options.json, { restored }, () =>
    restored
      .map(({ role, id, changed }) => `${role}/${id} ${changed ? 'is back' : 'is unchanged'}\n`)
      .join(''),
  )
}

async function carryOut(project: Project, plan: EditPlan, options: EchoesOptions): Promise<number> {
  const { io, echoes } = project
  const newIds = options.yes ? await echoes.applyEdit(plan) : {}
  if (options.yes) await afterChange(project, options)
  print(
    io,
    options.json,
    { applied: options.yes, plan, ...(Object.keys(newIds).length > 0 ? { newIds } : {}) },
    () => {
      if (plan.steps.length === 0) return 'There is nothing to remove.\n'
      const lines = plan.steps.map(({ id, to, title }) => {
        const newId = newIds[id]
        return `${plan.role}/${id} → ${newId ? `${plan.role}/${newId}` : to}  ${title}\n`
      })
      const kept = `\n${count(lines.length, 'step')} done; a copy is in ${plan.role}/archive/.\n`
      return `${lines.join('')}${options.yes ? kept : toApply(false)}`
    },
  )
  return plan.steps.length > 0 ? exitCodes.fine : exitCodes.no
}
