import { dayOf } from '../documents/day.ts'
import { sha256 } from '../documents/digest.ts'
import { countLines, withLearning } from '../documents/echo-document.ts'
import { type EchoLayer, layerRules } from '../documents/layers.ts'
import type { KnownEcho } from '../documents/sidecar.ts'
import type { RoleMemory } from '../files/role-folder.ts'
import { type EchoScore, scoreEcho } from './score.ts'

export interface PrunePolicy {
  /** A memory of at most this many lines is not pruned. Default 150. */
  lineLimit: number
}

export const defaultPrunePolicy: PrunePolicy = { lineLimit: 150 }

export interface PruneStep {
  id: string
  layer: EchoLayer
  title: string
  /** `compress` shortens the learning to its first sentence. Restoring the entry undoes either action. */
  action: 'archive' | 'compress'
  reason: string
  score: EchoScore
}

/** What pruning would do. Plain JSON: it can be shown, kept and applied later. */
export interface PrunePlan {
  role: string
  /** Day in the backup's name. */
  day: string
  /** 0 for a role that has no `MEMORY.md`. */
  lines: number
  lineLimit: number
  /** Lines afterwards; if they still exceed the limit, a person has to decide. */
  linesAfter: number
  /** SHA-256 of the file that the plan was made for. */
  fingerprint: string
  steps: PruneStep[]
}

/**
 * Plans what to archive or shorten in a memory that is above its line limit. Changes nothing.
 *
 * Inscribed: archived when score < 0.3 and more than 90 days unreferenced, the least useful first, at most as
 * many as make 20 % of the layer.
 * Traced: archived when score < 0.2 and more than 30 days old; others in the middle 30 % of the layer are compressed.
 * Etched: never.
 */
export function planPrune(
  memory: Pick<RoleMemory, 'role' | 'text' | 'echoes'>,
  now: number,
  policy: PrunePolicy = defaultPrunePolicy,
): PrunePlan {
  const lines = countLines(memory.text)
  const steps = lines <= policy.lineLimit ? [] : [...inscribedSteps(memory, now), ...tracedSteps(memory, now)]
  const saved = steps.map((step) => {
    const block = memory.echoes.find(({ id }) => id === step.id)?.block
    if (block === undefined) return 0
    const rest = step.action === 'archive' ? '' : withLearning(block, shortened(block.entry?.learning)).text
    return countLines(block.text) - countLines(rest)
  })
  return {
    role: memory.role,
    day: dayOf(now),
    lines,
    lineLimit: policy.lineLimit,
    linesAfter: saved.reduce((left, count) => left - count, lines),
    fingerprint: sha256(memory.text),
    steps,
  }
}

/**
 * The end of a sentence, but not of `e.g.` or of a leading number. Marks of Chinese, Japanese, Indic and Arabic scripts
 * end one without a space.
 */
const sentenceEnd = /[.!?](?<!^\d+.)(?<!(?:^|[^\p{L}\p{N}])\p{L}.)(?=\s|$)|[。！？｡।॥۔؟]/u

/** The first sentence of a learning. */
export function shortened(learning = ''): string {
  const text = onOneLine(learning)
  const end = text.search(sentenceEnd)
  return end === -1 ? text : text.slice(0, end + 1)
}

/** Whether a learning was shortened, perhaps further by hand, and not rewritten. */
export const isBeginningOf = (short = '', whole = ''): boolean => onOneLine(whole).startsWith(short)

const onOneLine = (learning: string): string => learning.replaceAll('\n', ' ')

interface Ranked {
  echo: KnownEcho
  score: EchoScore
}

/**
 * The entries of a layer, the least useful first; if equal, the longest unreferenced first, then in the order of the
 * file.
 */
const ranked = ({ echoes }: Pick<RoleMemory, 'echoes'>, layer: EchoLayer, now: number): Ranked[] =>
  echoes
    .filter(({ entry }) => entry.layer === layer)
    .map((echo) => ({ echo, score: scoreEcho(echo, now) }))
    .sort(({ score: a }, { score: b }) => a.score - b.score || b.daysUnreferenced - a.daysUnreferenced)

function inscribedSteps(memory: Pick<RoleMemory, 'echoes'>, now: number): PruneStep[] {
  const { share, archiveBelow, maxAgeDays } = layerRules.inscribed
  const all = ranked(memory, 'inscribed', now)
  return all
    .filter(({ score }) => score.score < archiveBelow && score.daysUnreferenced > maxAgeDays)
    .slice(0, Math.ceil(all.length * share))
    .map((each) =>
      stepOf(
        each,
        'archive',
        `score below ${archiveBelow} and ${each.score.daysUnreferenced} days unreferenced`,
      ),
    )
}

function tracedSteps(memory: Pick<RoleMemory, 'echoes'>, now: number): PruneStep[] {
  const { share, archiveBelow, maxAgeDays } = layerRules.traced
  const all = ranked(memory, 'traced', now)
  const size = Math.ceil(all.length * share)
  const from = Math.floor((all.length - size) / 2)
  return all.flatMap((each, rank): PruneStep[] => {
    const { score, echo } = each
    if (score.score < archiveBelow && score.daysSinceVerified > maxAgeDays) {
      return [stepOf(each, 'archive', `score below ${archiveBelow} and ${score.daysSinceVerified} days old`)]
    }
    const isMiddle = rank >= from && rank < from + size
    if (!isMiddle || shortened(echo.entry.learning) === echo.entry.learning) return []
    return [stepOf(each, 'compress', `in the middle ${share * 100} % of the traced`)]
  })
}

const stepOf = ({ echo, score }: Ranked, action: PruneStep['action'], reason: string): PruneStep => ({
  id: echo.id,
  layer: echo.entry.layer,
  title: echo.entry.title,
  action,
  reason,
  score,
})
