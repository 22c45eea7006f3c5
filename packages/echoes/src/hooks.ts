import { type EchoEntry, plain } from './documents/entry.ts'
import { redactSensitive } from './documents/sensitive.ts'
import type { Echoes } from './echoes.ts'
import type { Consolidation } from './lifecycle/consolidate.ts'
import { type Surfaced, type SurfaceOptions, surface } from './surface.ts'

export interface ReviewFinding {
  severity: 'P1' | 'P2' | 'P3'
  title: string
  evidence: string
  learning: string
  /** 0.0 to 1.0 */
  confidence: number
}

export interface Discovery {
  kind: string
  title: string
  evidence: string
  learning: string
  confidence: number
}

/** The run of a workflow in which something was learned. */
export interface Occasion {
  workflow: string
  /** `YYYY-MM-DD` */
  day: string
  /** For example `PR #42`. */
  context?: string | undefined
}

/** A finding with less confidence is not recorded. */
const patternConfidence = 0.7

/**
 * After a review: findings of P1 and P2 with enough confidence enter the reviewers' memory. A finding that recurs, in
 * this review or since an earlier one, is inscribed; a new one is traced.
 */
export const afterReview = (
  echoes: Echoes,
  occasion: Occasion & { findings: readonly ReviewFinding[] },
): Promise<Consolidation> => afterFindings(echoes, 'reviewer', 'rune:review', occasion)

/** As `afterReview`, for the auditors. */
export const afterAudit = (
  echoes: Echoes,
  occasion: Occasion & { findings: readonly ReviewFinding[] },
): Promise<Consolidation> => afterFindings(echoes, 'auditor', 'rune:audit', occasion)

/** Before planning: what planners and the team have learned about the task, and the solutions that fit it. */
export const beforePlan = (
  echoes: Echoes,
  occasion: Pick<SurfaceOptions, 'task' | 'solutions'> & { workflow: string },
): Promise<Surfaced> => surface(echoes, { ...occasion, roles: ['planner'] })

/** After planning: discoveries about the architecture enter the planners' memory. */
export const afterPlan = (
  echoes: Echoes,
  occasion: Occasion & { discoveries: readonly Discovery[] },
): Promise<Consolidation> => afterDiscoveries(echoes, 'planner', 'rune:plan', occasion)

/** Before work: what workers and the team have learned about the task, and the solutions that fit it. */
export const beforeWork = (
  echoes: Echoes,
  occasion: Pick<SurfaceOptions, 'task' | 'solutions'> & { workflow: string },
): Promise<Surfaced> => surface(echoes, { ...occasion, roles: ['workers'] })

/** After work: patterns and gotchas enter the workers' memory. */
export const afterWork = (
  echoes: Echoes,
  occasion: Occasion & { discoveries: readonly Discovery[] },
): Promise<Consolidation> => afterDiscoveries(echoes, 'workers', 'rune:work', occasion)

async function afterFindings(
  echoes: Echoes,
  role: string,
  source: string,
  occasion: Occasion & { findings: readonly ReviewFinding[] },
): Promise<Consolidation> {
  // A review that is submitted twice, for example after a crash, does not make its own findings recur.
  const own = sourceOf(source, occasion)
  const seen = (await echoes.read(role)).echoes
    .filter(({ entry }) => entry.source !== own)
    .map(({ entry }) => plain(entry.title))
  const strong = occasion.findings.filter(
    ({ severity, confidence }) => severity !== 'P3' && confidence >= patternConfidence,
  )
  const counts = new Map<string, number>()
  for (const title of [...strong.map((each) => plain(each.title)), ...seen]) {
    counts.set(title, (counts.get(title) ?? 0) + 1)
  }
  const entries = strong.map((finding) => {
    const recurs = (counts.get(plain(finding.title)) ?? 0) > 1
    return entryOf({ ...finding, kind: recurs ? 'Pattern' : 'Observation' }, source, {
      ...occasion,
      layer: recurs ? 'inscribed' : 'traced',
    })
  })
  return write(echoes, role, occasion.workflow, entries)
}

const afterDiscoveries = (
  echoes: Echoes,
  role: string,
  source: string,
  occasion: Occasion & { discoveries: readonly Discovery[] },
): Promise<Consolidation> =>
  write(
    echoes,
    role,
    occasion.workflow,
    occasion.discoveries.map((each) => entryOf(each, source, { ...occasion, layer: 'inscribed' })),
  )

async function write(
  echoes: Echoes,
  role: string,
  workflow: string,
  entries: readonly EchoEntry[],
): Promise<Consolidation> {
  const agent = `workflow-${workflow.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 40)}`
  const stripped: Consolidation['stripped'] = []
  for (const entry of entries) {
    const { stripped: kinds } = await echoes.appendFinding(role, agent, entry)
    if (kinds.length > 0) stripped.push({ title: redactSensitive(entry.title).text, kinds })
  }
  const consolidated = await echoes.consolidate(role)
  return { ...consolidated, stripped: [...stripped, ...consolidated.stripped] }
}

const entryOf = (
  { kind, title, evidence, learning, confidence }: Discovery,
  source: string,
  occasion: Occasion & { layer: EchoEntry['layer'] },
): EchoEntry => ({
  date: occasion.day,
  kind,
  title,
  layer: occasion.layer,
  source: sourceOf(source, occasion),
  confidence,
  evidence,
  verified: occasion.day,
  supersedes: null,
  learning,
})

const sourceOf = (source: string, { context, workflow }: Occasion): string =>
  `${source} ${context ?? workflow}`.replace(/\s+/g, ' ').trim()
