import { join } from 'node:path'
import { redactJson, redactText } from '@recall/core'
import { foldLetters, queryTerms } from '@recall/core/ranking'
import { sha256 } from '../documents/digest.ts'
import { plain } from '../documents/entry.ts'
import { redactSensitive } from '../documents/sensitive.ts'
import type { KnownEcho } from '../documents/sidecar.ts'
import { createFile } from '../files/files.ts'
import {
  checkCategoryFolder,
  findRemembrance,
  printRemembrance,
  type Remembrance,
  type RemembranceCategory,
  type RemembranceDocument,
} from './remembrance.ts'

/** The parts of a document that an echo does not have. */
export interface PromotionDetails {
  category: RemembranceCategory
  tags: string[]
  /** Empty when the echo describes no problem. */
  symptom: string
  root_cause: string
  solution_summary: string
  /** Whether a person can act on it: it is not merely an optimisation of the agents themselves. */
  actionable: boolean
}

export interface Promotion {
  /** `skip`: a condition is not met. `blocked`: a person has to confirm first. */
  decision: 'promote' | 'skip' | 'blocked'
  /** Why it is not promoted, one reason for each condition that is not met. */
  reasons: string[]
  /** Documents that may be about the same problem. */
  duplicates: { path: string; reason: string }[]
  /** Path of the new document, below the folder of the documents. */
  path: string
  remembrance: Remembrance
}

/** From this confidence of an entry on, its document has `confidence: high`. */
const highConfidence = 0.8
/** Root causes that share at least this part of their words count as the same. */
const similarRootCause = 0.6
const sharedTags = 3

/** Decides whether an echo becomes a document. Changes nothing; what needs a person's consent is `blocked`. */
export function planPromotion(
  role: string,
  echo: KnownEcho,
  details: PromotionDetails,
  existing: readonly RemembranceDocument[],
): Promotion {
  return planned(role, echo, details, existing, 'agent')
}

function planned(
  role: string,
  echo: KnownEcho,
  details: PromotionDetails,
  existing: readonly RemembranceDocument[],
  verifiedBy: Remembrance['verified_by'],
): Promotion {
  const { entry, sessions } = echo
  const safe = (text: string): string => redactSensitive(text).text
  const remembrance = redactJson({
    title: safe(entry.title),
    category: details.category,
    tags: details.tags.map(safe),
    date: entry.date,
    symptom: safe(details.symptom),
    root_cause: safe(details.root_cause),
    solution_summary: safe(details.solution_summary),
    confidence: entry.confidence >= highConfidence ? 'high' : 'medium',
    verified_by: verifiedBy,
    requires_human_approval: false,
  }).value as Remembrance
  // Set after the redaction, because the hash looks like a secret.
  remembrance.echo_ref = echoRef(role, echo)
  const rules: [boolean, string][] = [
    [entry.layer === 'etched', 'only etched echoes are promoted'],
    [
      [details.symptom, details.root_cause, details.solution_summary].every((each) => each.trim() !== ''),
      'it needs a problem and its solution: symptom, root_cause and solution_summary',
    ],
    [
      remembrance.confidence === 'high' || sessions >= 2,
      'it is not validated: neither high confidence nor used by two sessions',
    ],
    [details.actionable, 'it is not actionable for people'],
  ]
  const reasons = rules.filter(([holds]) => !holds).map(([, reason]) => reason)
  const duplicates = duplicatesOf(remembrance, existing)
  if (duplicates.length > 0) reasons.push(`it may be known: ${duplicates.map(({ path }) => path).join(', ')}`)
  const isBlocked = details.category === 'security' && verifiedBy !== 'human'
  return {
    decision: reasons.length > 0 ? 'skip' : isBlocked ? 'blocked' : 'promote',
    reasons: isBlocked ? [...reasons, 'security needs a person who confirms it'] : reasons,
    duplicates,
    path: freePath(remembrance, existing),
    remembrance,
  }
}

/**
 * Promotes an echo to a document of `docs/solutions`, and asks a person where consent is needed.
 *
 * @param options.folder the folder of the documents
 * @param options.askHuman supply it only where a person sits at a terminal
 * @throws MemoryError INVALID_INPUT for an unknown category, or one whose folder is a link
 */
export async function promoteEcho(
  options: { folder: string; askHuman?: ((question: string) => Promise<boolean>) | undefined },
  role: string,
  echo: KnownEcho,
  details: PromotionDetails,
): Promise<Promotion> {
  const { folder, askHuman } = options
  checkCategoryFolder(folder, details.category)
  let promotion = planPromotion(role, echo, details, findRemembrance(folder).documents)
  if (promotion.decision === 'blocked' && askHuman) {
    const agreed = await askHuman(`Is this right, and may it be published: ${echo.entry.title}`)
    if (agreed) promotion = planned(role, echo, details, findRemembrance(folder).documents, 'human')
  }
  if (promotion.decision !== 'promote') return promotion
  const { remembrance } = promotion
  const content = printRemembrance(remembrance, bodyOf(remembrance, echo))
  for (let n = 2; !createFile(join(folder, promotion.path), content); n++) {
    promotion = { ...promotion, path: `${details.category}/${slugOf(remembrance.title)}-${n}.md` }
  }
  return promotion
}

/**
 * `{echo_path}#{entry_id}@sha256:{hash}`: names an echo and its text at this time. Secrets that a person may have
 * written there are left out of the hash, which would otherwise confirm each guess at them.
 */
const echoRef = (role: string, { id, block }: KnownEcho): string => {
  const text = block.text.replaceAll('\r\n', '\n').trim()
  return `echoes/${role}/MEMORY.md#${id}@sha256:${sha256(redactText(text).text)}`
}

function bodyOf({ title, symptom, root_cause, solution_summary }: Remembrance, { entry }: KnownEcho): string {
  return [
    `# ${title}`,
    `## Symptom\n\n${symptom}`,
    `## Root cause\n\n${root_cause}`,
    `## Solution\n\n${solution_summary}`,
    `## Learned\n\n${redactSensitive(entry.learning).text}`,
  ].join('\n\n')
}

function duplicatesOf(
  { title, root_cause, tags }: Remembrance,
  existing: readonly RemembranceDocument[],
): Promotion['duplicates'] {
  const own = new Set(tags.map(plain))
  return existing.flatMap(({ path, remembrance: other }) => {
    const common = new Set(other.tags.map(plain).filter((tag) => own.has(tag))).size
    if (plain(other.title) === plain(title)) return [{ path, reason: 'the same title' }]
    if (similarity(other.root_cause, root_cause) >= similarRootCause) {
      return [{ path, reason: 'a similar root cause' }]
    }
    return common >= sharedTags ? [{ path, reason: `${common} tags in common` }] : []
  })
}

const wordsIn = (text: string): Set<string> => new Set(queryTerms(foldLetters(text)))

/** Jaccard similarity of the words of two texts without stop words, 0..1; texts that read the same have 1. */
function similarity(first: string, second: string): number {
  if (plain(first) === plain(second)) return 1
  const [a, b] = [wordsIn(first), wordsIn(second)]
  const both = [...a].filter((word) => b.has(word)).length
  return both === 0 ? 0 : both / (a.size + b.size - both)
}

function slugOf(title: string): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 80)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? `echo-${sha256(title).slice(0, 8)}` : slug
}

function freePath(
  { category, title }: Pick<Remembrance, 'category' | 'title'>,
  existing: readonly RemembranceDocument[],
): string {
  const taken = new Set(existing.map(({ path }) => path))
  const base = `${category}/${slugOf(title)}`
  let path = `${base}.md`
  for (let n = 2; taken.has(path); n++) path = `${base}-${n}.md`
  return path
}
