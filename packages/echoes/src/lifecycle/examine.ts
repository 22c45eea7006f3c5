import { lstatSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { orAbsent } from '@recall/core/process'
import { dayMs, dayOf } from '../documents/day.ts'
import { countLines } from '../documents/echo-document.ts'
import { namesIn, readText } from '../files/files.ts'
import { knowledgePath, type LoadedRole, loadRole, memoryPath, waitingAgents } from '../files/role-folder.ts'
import { type ActiveWorkflow, damageOf, endingOf } from '../files/workflows.ts'
import { hasOpenEntries, knowledgeLineLimit } from './compress-knowledge.ts'
import { readFindings } from './findings.ts'

/** Something about the echoes that a person should know. */
export interface EchoCheck {
  /** `null`: about the folder as a whole. */
  role: string | null
  ok: boolean
  message: string
  /** What to do about it. */
  remedy?: string
  fixed?: true
}

interface Limits {
  lineLimit: number
  /** The last day on which an entry can have been verified, given that time zones and clocks may differ by a day. */
  lastDay: string
}

/** Checks everything below the root. A role that cannot be read becomes a finding, and the others are still checked. */
export function examine(
  root: string,
  roles: readonly string[],
  options: Limits & { active: readonly ActiveWorkflow[]; now: number; fix: boolean },
): EchoCheck[] {
  const findings = roles.flatMap((role) => examineRole(root, role, options))
  const workflows = options.active.map((active) => examineWorkflow(active, options.now))
  const temporary = leftovers(root, roles)
  if (options.fix) for (const path of temporary) orAbsent(() => unlinkSync(join(root, path)))
  const left: EchoCheck[] = temporary.map((path) => ({
    role: null,
    ok: options.fix,
    message: `${path} was left by a process that was killed`,
    ...(options.fix ? { fixed: true as const } : { remedy: 'remove it, with doctor --yes' }),
  }))
  return [...findings, ...workflows, ...left]
}

function examineWorkflow(active: ActiveWorkflow, now: number): EchoCheck {
  const { name, began = now } = active
  if (!active.isDamaged) {
    const message = `the workflow ${name} is active: nothing is pruned before it ends`
    if (now - began <= dayMs) return { role: null, ok: true, message }
    return {
      role: null,
      ok: false,
      message: `${message}; it began on ${dayOf(began)}`,
      remedy: endingOf(active),
    }
  }
  return {
    role: null,
    ok: false,
    message: damageOf(active),
    remedy: 'remove it, unless that workflow still runs',
  }
}

function examineRole(root: string, role: string, limits: Limits): EchoCheck[] {
  let memory: LoadedRole
  try {
    memory = loadRole(root, role)
  } catch (error) {
    const remedy = 'mend the file; until then nothing is written for this role'
    return [wrongIn(role)((error as Error).message, remedy)]
  }
  return [
    ...examineMemory(memory, limits),
    ...examineBackups(root, memory),
    ...examineKnowledge(root, role),
    ...examineWaiting(root, role),
  ]
}

function examineMemory(
  { role, text, onDisk, echoes, problems }: LoadedRole,
  { lineLimit, lastDay }: Limits,
): EchoCheck[] {
  const wrong = wrongIn(role)
  const lines = countLines(text)
  const size = `${echoes.length === 1 ? '1 entry' : `${echoes.length} entries`} in ${lines} lines`
  const unreadable = problems.map((each) =>
    wrong(
      `${memoryPath(role)}, line ${each.line} is not an entry: ${each.problems.join('; ')}`,
      'mend it by hand',
    ),
  )
  const ahead = echoes
    .filter(({ entry }) => entry.verified > lastDay)
    .map(({ id, entry }) =>
      wrong(
        `${id} says that it was verified on ${entry.verified}, which has not come yet`,
        'correct the day: until it has come, nothing prunes the entry',
      ),
    )
  const isLong = lines > lineLimit
  return [
    { role, ok: true, message: onDisk === null ? 'there is no MEMORY.md' : size },
    ...unreadable,
    ...ahead,
    ...(isLong ? [wrong(`the memory is above its ${lineLimit} lines`, 'look at the plan of prune')] : []),
  ]
}

function examineBackups(root: string, { role, sidecar }: LoadedRole): EchoCheck[] {
  const places = Object.entries(sidecar.entries).flatMap(([id, { archived }]) =>
    [archived, archived?.learning].flatMap((place) => (place ? [{ id, backup: place.backup }] : [])),
  )
  return places
    .filter(({ backup }) => !isThere(join(root, role, 'archive', backup)))
    .map(({ id, backup }) =>
      wrongIn(role)(`the backup of ${id} is gone: archive/${backup}`, 'put the file back'),
    )
}

function examineKnowledge(root: string, role: string): EchoCheck[] {
  const wrong = wrongIn(role)
  try {
    const text = readText(join(root, knowledgePath(role))) ?? ''
    if (countLines(text) <= knowledgeLineLimit) return []
    const remedy = hasOpenEntries(text)
      ? 'look at the plan of prune'
      : 'shorten it by hand: it has no entries that prune could shorten'
    return [wrong(`knowledge.md is above its ${knowledgeLineLimit} lines`, remedy)]
  } catch (error) {
    return [wrong((error as Error).message, 'mend the file; until then it is not compressed')]
  }
}

function examineWaiting(root: string, role: string): EchoCheck[] {
  const agents = waitingAgents(root, role)
  if (agents.length === 0) return []
  const message = `findings wait to be consolidated: ${agents.join(', ')}`
  return [{ role, ok: true, message }, ...agents.flatMap((agent) => examineAgentFindings(root, role, agent))]
}

function examineAgentFindings(root: string, role: string, agent: string): EchoCheck[] {
  const wrong = wrongIn(role)
  const mendFile = 'mend the file; until then its findings are not consolidated'
  try {
    const { path, kept, problem } = readFindings(root, role, agent)
    if (problem !== undefined) return [wrong(problem, mendFile)]
    return kept
      .filter(({ block }) => block.entry ?? block.problems)
      .map(({ block, reasons }) =>
        wrong(
          `${path}, line ${block.line} is not consolidated: ${reasons.join('; ')}`,
          block.entry ? 'add it yourself, or remove it' : 'mend it by hand',
        ),
      )
  } catch (error) {
    return [wrong((error as Error).message, mendFile)]
  }
}

const wrongIn =
  (role: string) =>
  (message: string, remedy: string): EchoCheck => ({ role, ok: false, message, remedy })

const isThere = (path: string): boolean => orAbsent(() => lstatSync(path)) !== null

/** Temporary files of dead processes. Files are written under the lock, so any that exists under it is a leftover. */
function leftovers(root: string, roles: readonly string[]): string[] {
  const folders = ['', '.workflows/', ...roles.flatMap((role) => [`${role}/`, `${role}/archive/`])]
  return folders.flatMap((folder) =>
    namesIn(join(root, folder))
      .filter((name) => name.startsWith('.tmp-'))
      .map((name) => `${folder}${name}`)
      .filter((path) => orAbsent(() => lstatSync(join(root, path)))?.isFile() === true),
  )
}
