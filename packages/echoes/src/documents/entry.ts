import { MemoryError, MemoryErrorCode } from '@recall/core'
import { isDay } from './day.ts'
import { sha256 } from './digest.ts'
import { type EchoLayer, isEchoLayer } from './layers.ts'

export interface EchoEntry {
  /** `YYYY-MM-DD` */
  date: string
  /** `Pattern`, `Observation`, `Architecture` …; may be empty. */
  kind: string
  title: string
  layer: EchoLayer
  /** `rune:{workflow} {context}`, or `manual`. */
  source: string
  /** 0.0 to 1.0 */
  confidence: number
  /** `` `{file}:{lines}` — {what was found} `` */
  evidence: string
  /** `YYYY-MM-DD` */
  verified: string
  supersedes: string | null
  /** One to three sentences; line breaks are kept. */
  learning: string
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Two texts that differ only in letter case, white space and Unicode normal form read the same. */
export const plain = (text: string): string => oneLine(text).normalize('NFC').toLowerCase()

/**
 * The entry in a form that the format can hold: every field except the learning on one line.
 *
 * @throws MemoryError INVALID_INPUT naming every field that is wrong
 */
export function normalizeEntry(entry: EchoEntry): EchoEntry {
  const wrong = mistyped(entry)
  if (wrong.length > 0) throw unwritable(wrong)
  const lines = entry.learning
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const clean: EchoEntry = {
    date: entry.date,
    kind: oneLine(entry.kind.replaceAll(':', ' ')),
    title: oneLine(entry.title),
    layer: entry.layer,
    source: oneLine(entry.source),
    confidence: entry.confidence,
    evidence: oneLine(entry.evidence),
    verified: entry.verified,
    supersedes: oneLine(entry.supersedes ?? '') || null,
    // A learning that begins like a field would be read as one.
    learning: lines.map((line) => line.replace(/^\*\*([\w-]+)\*\*:/, '$1:')).join('\n'),
  }
  const issues = entryIssues(clean)
  if (issues.length > 0) throw unwritable(issues)
  return clean
}

/** The fields whose values have the wrong type: an untyped program may pass anything. */
function mistyped(entry: EchoEntry): string[] {
  const given: { [Field in keyof EchoEntry]?: unknown } = entry ?? {}
  const texts = ['date', 'kind', 'title', 'layer', 'source', 'evidence', 'verified', 'learning'] as const
  const { confidence, supersedes = null } = given
  return [
    ...texts.filter((name) => typeof given[name] !== 'string').map((name) => `${name} must be a string`),
    ...(typeof confidence === 'number' ? [] : [confidenceRule]),
    ...(supersedes === null || typeof supersedes === 'string' ? [] : ['supersedes must be a string or null']),
  ]
}

const confidenceRule = 'confidence must be a number from 0.0 to 1.0'

const unwritable = (issues: string[]): MemoryError =>
  new MemoryError(`this entry cannot be written: ${issues.join('; ')}`, MemoryErrorCode.INVALID_INPUT, {
    details: { issues },
  })

/** What is wrong with an entry, in words that do not repeat its text. */
export function entryIssues(entry: Omit<EchoEntry, 'layer'> & { layer: string }): string[] {
  const rules: [boolean, string][] = [
    [isDay(entry.date), 'the date of the heading is not a day (YYYY-MM-DD)'],
    [entry.title !== '', 'the title is missing'],
    [isEchoLayer(entry.layer), 'layer must be etched, inscribed or traced'],
    [entry.source !== '', 'source is missing'],
    [entry.confidence >= 0 && entry.confidence <= 1, confidenceRule],
    [entry.evidence !== '', 'evidence is missing'],
    [isDay(entry.verified), 'verified must be a day (YYYY-MM-DD)'],
    [entry.learning !== '', 'the learning is missing'],
  ]
  return rules.filter(([holds]) => !holds).map(([, issue]) => issue)
}

/** The entry in the format of the files, ending with a line break. */
export function printEntry(entry: EchoEntry): string {
  const { date, kind, title, layer, source, confidence, evidence, verified, supersedes, learning } =
    normalizeEntry(entry)
  return [
    `### [${date}] ${kind === '' ? title : `${kind}: ${title}`}`,
    `- **layer**: ${layer}`,
    `- **source**: ${source}`,
    `- **confidence**: ${printConfidence(confidence)}`,
    `- **evidence**: ${evidence}`,
    `- **verified**: ${verified}`,
    `- **supersedes**: ${supersedes ?? 'none'}`,
    `- ${learning.replaceAll('\n', '\n  ')}`,
    '',
  ].join('\n')
}

export const printConfidence = (confidence: number): string => {
  if (Number.isInteger(confidence)) return confidence.toFixed(1)
  // `String` would print tiny numbers with an exponent, which the format does not allow.
  return confidence < 1e-6 ? confidence.toFixed(20) : String(confidence)
}

/** What replaces removed evidence. */
export const removedMark = (kinds: Iterable<string>): string => `[removed: ${[...kinds].join(', ')}]`

/**
 * Two entries with the same key are duplicates: the same pattern, on the same evidence, whatever its kind. If a part of
 * the evidence was removed, it can no longer be compared: then the learning has to be the same.
 */
export function duplicateKey({ title, evidence, learning }: EchoEntry): string {
  const key = `${plain(title)}\n${plain(evidence)}`
  return evidence.includes('[removed: ') ? `${key}\n${plain(learning)}` : key
}

/** Entries with the same key in the same layer share ids, in the order of the file. */
export function entryKey({ kind, title, evidence }: EchoEntry): string {
  return sha256(`${plain(kind)}\n${plain(title)}\n${plain(evidence)}`).slice(0, 20)
}
