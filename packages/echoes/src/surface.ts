import { fenceRecalled, isMemoryError } from '@recall/core'
import { wordScores } from '@recall/core/ranking'
import { redactSensitive, withSafeEvidence } from './documents/sensitive.ts'
import type { KnownEcho } from './documents/sidecar.ts'
import type { Echoes } from './echoes.ts'
import { teamRole } from './files/role-folder.ts'
import { findRemembrance, type RemembranceDocument } from './lifecycle/remembrance.ts'

export interface SurfaceOptions {
  /** What the agent is about to do, in words. */
  task: string
  /** Roles to search; the team's memory is always searched too. */
  roles: readonly string[]
  /** The folder of the documents for people, for example `docs/solutions`, which are searched as well. */
  solutions?: string | undefined
  /** Records the surfaced entries as used by this workflow. */
  workflow?: string | undefined
  /** Entries and documents together. Default 8. */
  limit?: number | undefined
}

export interface Surfaced {
  echoes: { role: string; echo: KnownEcho }[]
  /** The documents that fit. */
  solutions: RemembranceDocument[]
  /** Why roles and documents could not be read. */
  problems: string[]
  /** For an agent's context: fenced, so that it is read as data, and without secrets. Empty when nothing fits. */
  text: string
}

/** Finds entries of roles, and solutions, that share telling words with a task, the best match first. */
export async function surface(echoes: Echoes, options: SurfaceOptions): Promise<Surfaced> {
  const { task, workflow, limit = 8 } = options
  const roles = [...new Set([...options.roles, teamRole])]
  const { documents, problems } = solutionsIn(options.solutions)
  const known = await Promise.all(roles.map((role) => echoesOf(echoes, role, problems)))
  const best = bestOf(task, [...known.flat(), ...documents], limit)
  const surfaced = best.flatMap((each) => ('echo' in each ? each : []))
  if (workflow !== undefined) {
    const present = new Set(echoes.roles())
    for (const role of roles.filter((each) => present.has(each))) {
      const ids = surfaced.filter((each) => each.role === role).map(({ echo }) => echo.id)
      await echoes.reference(role, workflow, ids)
    }
  }
  // A person may have typed a secret into the file, and the text goes to the provider of the agent's model.
  const { text } = redactSensitive(best.map(lineOf).join('\n'))
  return {
    echoes: surfaced,
    solutions: best.flatMap((each) => ('remembrance' in each ? each : [])),
    problems,
    text: text === '' ? '' : fenceRecalled(text, 'echoes'),
  }
}

/** A role that cannot be read must not hide what the others know. */
async function echoesOf(echoes: Echoes, role: string, problems: string[]): Promise<Surfaced['echoes']> {
  try {
    return (await echoes.read(role)).echoes.map((echo) => ({ role, echo }))
  } catch (error) {
    if (!isMemoryError(error)) throw error
    problems.push(error.message)
    return []
  }
}

type Candidate = Surfaced['echoes'][number] | RemembranceDocument

/** A folder that cannot be searched must not hide what else is known. */
function solutionsIn(folder: string | undefined): ReturnType<typeof findRemembrance> {
  try {
    return folder === undefined ? { documents: [], problems: [] } : findRemembrance(folder)
  } catch (error) {
    if (!isMemoryError(error)) throw error
    return { documents: [], problems: [error.message] }
  }
}

function bestOf(task: string, candidates: readonly Candidate[], limit: number): Candidate[] {
  const scores = wordScores(task, candidates.map(textOf))
  return candidates
    .map((candidate, i) => ({ candidate, score: scores[i] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || confidenceOf(b.candidate) - confidenceOf(a.candidate))
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}

/** A person vouches for a document, so it counts like an entry of full confidence. */
const confidenceOf = (candidate: Candidate): number =>
  'echo' in candidate ? candidate.echo.entry.confidence : 1

function textOf(candidate: Candidate): string {
  if ('echo' in candidate) {
    const { title, learning, evidence } = candidate.echo.entry
    return `${title}\n${learning}\n${evidence}`
  }
  const { title, symptom, root_cause: cause, solution_summary: solution, tags } = candidate.remembrance
  return [title, symptom, cause, solution, ...tags].join('\n')
}

function lineOf(candidate: Candidate): string {
  if ('echo' in candidate) {
    const { title, evidence, learning } = withSafeEvidence(candidate.echo.entry).entry
    return `- ${title} (${candidate.role} ${candidate.echo.id}, ${evidence}): ${learning}`
  }
  const { title, solution_summary: solution } = candidate.remembrance
  return `- ${title} (solution ${candidate.path}): ${solution}`.replace(/\s+/g, ' ')
}
