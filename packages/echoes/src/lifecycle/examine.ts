import { lstatSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { countLines } from '../documents/echo-document.ts'
import { namesIn, orAbsent, readText } from '../files/files.ts'
import { knowledgePath, loadRole, memoryPath, waitingAgents } from '../files/role-folder.ts'
import { knowledgeLineLimit } from './compress-knowledge.ts'
import { readFindings } from './findings.ts'

/** Something about the echoes that a person should know. */
export interface EchoFinding {
  /** `null`: about the folder as a whole. */
  role: string | null
  ok: boolean
  message: string
  /** What to do about it. */
  remedy?: string
  fixed?: true
}

/** Checks everything below the root. A role that cannot be read becomes a finding, and the others are still checked. */
export function examine(
  root: string,
  roles: readonly string[],
  options: { lineLimit: number; active: readonly string[]; fix: boolean },
): EchoFinding[] {
  const findings = roles.flatMap((role) => examineRole(root, role, options.lineLimit))
  const workflows = options.active.map(
    (name): EchoFinding => ({
      role: null,
      ok: true,
      message: `the workflow ${name} is active: nothing is pruned before it ends`,
    }),
  )
  const temporary = leftovers(root, roles)
  if (options.fix) for (const path of temporary) orAbsent(() => unlinkSync(join(root, path)))
  const left: EchoFinding[] = temporary.map((path) => ({
    role: null,
    ok: options.fix,
    message: `${path} was left by a process that was killed`,
    ...(options.fix ? { fixed: true as const } : { remedy: 'remove it, with doctor --yes' }),
  }))
  return [...findings, ...workflows, ...left]
}

function examineRole(root: string, role: string, lineLimit: number): EchoFinding[] {
  const wrong = wrongIn(role)
  let memory: ReturnType<typeof loadRole>
  try {
    memory = loadRole(root, role)
  } catch (error) {
    return [wrong((error as Error).message, 'mend the file; until then nothing is written for this role')]
  }
  const lines = countLines(memory.text)
  const findings: EchoFinding[] = [
    {
      role,
      ok: true,
      message: `${memory.echoes.length === 1 ? '1 entry' : `${memory.echoes.length} entries`} in ${lines} lines`,
    },
  ]
  for (const { line, problems } of memory.problems) {
    findings.push(
      wrong(`${memoryPath(role)}, line ${line} is no entry: ${problems.join('; ')}`, 'mend it by hand'),
    )
  }
  if (lines > lineLimit) {
    findings.push(wrong(`the memory is above its ${lineLimit} lines`, 'look at the plan of prune'))
  }
  for (const [id, { archived }] of Object.entries(memory.sidecar.entries)) {
    for (const place of archived ? [archived, archived.learning] : []) {
      if (place && !isThere(join(root, role, 'archive', place.backup)))
        findings.push(wrong(`the backup of ${id} is gone: archive/${place.backup}`, 'put the file back'))
    }
  }
  try {
    if (countLines(readText(join(root, knowledgePath(role))) ?? '') > knowledgeLineLimit) {
      findings.push(
        wrong(`knowledge.md is above its ${knowledgeLineLimit} lines`, 'look at the plan of prune'),
      )
    }
  } catch (error) {
    findings.push(wrong((error as Error).message, 'mend the file; until then it is not compressed'))
  }
  const waiting = waitingAgents(root, role)
  if (waiting.length > 0) {
    findings.push({ role, ok: true, message: `findings wait to be consolidated: ${waiting.join(', ')}` })
  }
  return [...findings, ...waiting.flatMap((agent) => examineFindings(root, role, agent))]
}

function examineFindings(root: string, role: string, agent: string): EchoFinding[] {
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
          block.entry ? 'add it yourself, or take it out' : 'mend it by hand',
        ),
      )
  } catch (error) {
    return [wrong((error as Error).message, mendFile)]
  }
}

const wrongIn =
  (role: string) =>
  (message: string, remedy: string): EchoFinding => ({ role, ok: false, message, remedy })

const isThere = (path: string): boolean => orAbsent(() => lstatSync(path)) !== null

/** Temporary files of dead processes. Files are written under the lock, so any that is seen under it is a leftover. */
function leftovers(root: string, roles: readonly string[]): string[] {
  const folders = ['', '.workflows/', ...roles.flatMap((role) => [`${role}/`, `${role}/archive/`])]
  return folders.flatMap((folder) =>
    namesIn(join(root, folder))
      .filter((name) => name.startsWith('.tmp-'))
      .map((name) => `${folder}${name}`)
      .filter((path) => orAbsent(() => lstatSync(join(root, path)))?.isFile() === true),
  )
}
