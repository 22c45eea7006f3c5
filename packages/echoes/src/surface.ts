import { fenceRecalled, redactText, wordScores } from '@recall/core'
import { withSafeEvidence } from './documents/sensitive.ts'
import type { KnownEcho } from './documents/sidecar.ts'
import type { Echoes } from './echoes.ts'
import { teamRole } from './files/role-folder.ts'

export interface SurfaceOptions {
  /** What the agent is about to do, in words. */
  task: string
  /** Roles to search; the team's memory is always searched too. */
  roles: readonly string[]
  /** Records the surfaced entries as used by this workflow. */
  workflow?: string
  /** Default 8. */
  limit?: number
}

export interface Surfaced {
  echoes: { role: string; echo: KnownEcho }[]
  /** For an agent's context: fenced, so that it is read as data, and without secrets. Empty when nothing fits. */
  text: string
}

/** Finds entries of roles that share telling words with a task, the best match first. */
export async function surface(echoes: Echoes, options: SurfaceOptions): Promise<Surfaced> {
  const { task, workflow, limit = 8 } = options
  const roles = [...new Set([...options.roles, teamRole])]
  const known = await Promise.all(
    roles.map(async (role) => (await echoes.read(role)).echoes.map((echo) => ({ role, echo }))),
  )
  const all = known.flat()
  const scores = wordScores(
    task,
    all.map(({ echo }) => textOf(echo)),
  )
  const best = all
    .map((each, i) => ({ ...each, score: scores[i] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.echo.entry.confidence - a.echo.entry.confidence)
    .slice(0, limit)
    .map(({ role, echo }) => ({ role, echo }))
  if (workflow !== undefined) {
    const present = new Set(echoes.roles())
    for (const role of roles.filter((each) => present.has(each))) {
      const ids = best.filter((each) => each.role === role).map(({ echo }) => echo.id)
      await echoes.reference(role, workflow, ids)
    }
  }
  // A person may have typed one into the file, and the text goes to the provider of the agent's model.
  const { text } = redactText(best.map(lineOf).join('\n'))
  return { echoes: best, text: text === '' ? '' : fenceRecalled(text, 'echoes') }
}

const textOf = ({ entry: { title, learning, evidence } }: KnownEcho): string =>
  `${title}\n${learning}\n${evidence}`

function lineOf({ role, echo }: Surfaced['echoes'][number]): string {
  const { title, evidence, learning } = withSafeEvidence(echo.entry).entry
  return `- ${title} (${role} ${echo.id}, ${evidence}): ${learning}`
}
