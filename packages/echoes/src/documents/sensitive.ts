import { redactText } from '@recall/core'
import { type EchoBlock, reread, withFields } from './echo-document.ts'
import { type EchoEntry, removedMark } from './entry.ts'

/** Sensitive data that evidence may not contain. */
const patterns: { kind: string; pattern: RegExp; unless?: RegExp }[] = [
  {
    kind: 'api-key',
    pattern:
      /(?:key|token|secret)s?["'`]?(?:\s{0,4}(?:is|[:=])\s{0,4}["'`]?|\s{1,4}["'`]?(?=[A-Za-z_-]{0,40}\d))[A-Za-z0-9_-]{20,}/i,
  },
  { kind: 'password', pattern: /password\s{0,40}[:=]\s{0,40}\S+/i },
  { kind: 'token', pattern: /bearer\s{1,40}[A-Za-z0-9._-]+/i },
  { kind: 'connection-string', pattern: /[a-z]:\/\/[^\s:/]{1,256}:(?!\d{1,5}[/?#,])[^\s@]{1,256}@/i },
  {
    kind: 'e-mail-address',
    pattern:
      /(?<![\p{L}\p{N}_.+-])(?!git@)[\p{L}\p{M}\p{N}_.+-]{1,64}@[\p{L}\p{M}\p{N}_-]{1,63}\.[\p{L}\p{M}\p{N}_-]{2,}/u,
    unless: /e-?mail|smtp|mailbox/i,
  },
]

/**
 * The place that evidence begins with: in backticks, or the path of a file, with its lines if any. Later text in
 * backticks may be the secret itself.
 */
const placeAtStart =
  /^(?:`[^`]+`|(?:[\w.@+-]{0,64}\/){0,32}[\w.@+-]{0,64}\.[A-Za-z]{1,12}(?::\d{1,7}(?:-\d{1,7})?)?(?=[\s,;:]|$))/

/** The kinds of sensitive data in a text. E-mail addresses are allowed when the subject is e-mail. */
function sensitiveKinds(text: string, subject: string): string[] {
  const own = patterns.filter(({ pattern, unless }) => pattern.test(text) && unless?.test(subject) !== true)
  return [...new Set([...own.map(({ kind }) => kind), ...Object.keys(redactText(text).counts)])]
}

/**
 * An entry for other eyes: sensitive evidence is reduced to the place that it begins with. Secrets in the title and the
 * learning are left to the redaction of the resulting text.
 *
 * @returns also the kinds of removed data
 */
export function withSafeEvidence<Entry extends Pick<EchoEntry, 'evidence' | 'learning' | 'title'>>(
  entry: Entry,
): { entry: Entry; stripped: string[] } {
  const { evidence, learning, title } = entry
  const subject = `${title} ${learning}`
  const stripped = sensitiveKinds(evidence, subject)
  if (stripped.length === 0) return { entry, stripped }
  const place = placeAtStart.exec(evidence)?.[0] ?? ''
  const kept = sensitiveKinds(place, subject).length === 0 && place !== '' ? `${place} — ` : ''
  return { entry: { ...entry, evidence: kept + removedMark(new Set(stripped)) }, stripped }
}

/**
 * Removes sensitive data from an entry. Sensitive evidence is reduced to the place that it begins with; elsewhere only
 * the secrets themselves are replaced.
 *
 * @returns the kinds of removed data, and the block, which has no `entry` if it is no longer valid
 */
export function withoutSecrets(block: EchoBlock): { block: EchoBlock; stripped: string[] } {
  if (!block.entry) return { block, stripped: [] }
  const safe = withSafeEvidence(block.entry)
  const stripped = new Set(safe.stripped)
  const clean = stripped.size > 0 ? withFields(block, { evidence: safe.entry.evidence }) : block
  const { text, counts } = redactText(clean.text)
  for (const kind of Object.keys(counts)) stripped.add(kind)
  const problem = 'a secret that was removed had swallowed a part of the entry'
  return { block: text === clean.text ? clean : reread(text, block, problem), stripped: [...stripped] }
}
