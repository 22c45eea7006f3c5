import { redactText } from '@recall/core'
import { type EchoBlock, reread, withFields } from './echo-document.ts'
import { type EchoEntry, removedMark } from './entry.ts'

interface SensitivePattern {
  kind: string
  /** The group `secret` is what is replaced in a title or a learning, where the words around it are kept. */
  pattern: RegExp
  /** Not sensitive when the subject of the entry is this. */
  unless?: RegExp
  /** Which values are words of a sentence or names in code; evidence that contains one is removed all the same. */
  isHarmless?: (value: string) => boolean
}

/** White space within a sentence: a line that begins like a list item or a heading is another part of the entry. */
const gap = '(?:[^\\S\\n]|\\n(?![-*#\\r\\n]))'
const keyNames = '(?:key|token|secret)s?["\'`]?'
const isAssigned = `${gap}{0,4}(?:is|[:=])${gap}{0,4}["'\`]?`
const standsBefore = `${gap}{1,4}["'\`]?(?=[A-Za-z_-]{0,40}\\d)`

/** Sensitive data that an entry may not contain. */
const patterns: SensitivePattern[] = [
  {
    kind: 'api-key',
    pattern: new RegExp(`${keyNames}(?:${isAssigned}|${standsBefore})(?<secret>[A-Za-z0-9_-]{20,})`, 'gi'),
    isHarmless: isNameInCode,
  },
  {
    kind: 'token',
    pattern: new RegExp(`bearer${gap}{1,40}(?<secret>[A-Za-z0-9._-]+)`, 'gi'),
    isHarmless: (value) =>
      /^(?:tokens?|auth|authentication|authori[sz]ation|credentials?|headers?|jwts?|keys?|prefix|schemes?)$/i.test(
        value,
      ) || /^(?:and|as|at|for|from|in|is|must|of|on|or|should|that|to|when|with|without)$/.test(value),
  },
  {
    kind: 'password',
    pattern: new RegExp(`password${gap}{0,40}[:=]${gap}{0,40}(?<secret>\\S+)`, 'gi'),
    isHarmless: (value) =>
      /^["'`]?(?:\$\{?[A-Z_]+\}?|<[\w-]+>?|string|str|required|optional|null|none|undefined|true|false)$/.test(
        value,
      ),
  },
  {
    kind: 'connection-string',
    pattern: /[a-z]:\/\/[^\s:/]{1,256}:(?!\d{1,5}[/?#,])(?<secret>[^\s@]{1,256})(?=@)/gi,
  },
]

/** Allowed everywhere but in evidence. */
const emailAddress: SensitivePattern = {
  kind: 'e-mail-address',
  pattern:
    /(?<![\p{L}\p{N}_.+-])(?!git@)[\p{L}\p{M}\p{N}_.+-]{1,64}@[\p{L}\p{M}\p{N}_-]{1,63}\.[\p{L}\p{M}\p{N}_-]{2,}/gu,
  unless: /e-?mail|smtp|mailbox/i,
}

/** Whether a value is words of some length, joined by punctuation or by capitals. */
function isNameInCode(value: string): boolean {
  const parts = value.split(/[_-]+/)
  const words = value.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? []
  const isName = [
    /^(?:[a-z]{1,15}|v?\d{1,6})$/,
    /^(?:[A-Z]{1,15}|[A-Z]?[a-z]{1,15}(?:[A-Z][a-z]{1,15})*)$/,
  ].some((word) => parts.every((part) => word.test(part)))
  return isName && value.length / words.length >= 4
}

/** `redactText` that also knows the patterns of sensitive data, apart from e-mail addresses. */
export function redactSensitive(text: string): { text: string; counts: Record<string, number> } {
  const redacted = redactText(text)
  const counts = { ...redacted.counts }
  let clean = redacted.text
  for (const { kind, pattern, isHarmless } of patterns) {
    clean = clean.replace(pattern, (match: string, ...rest) => {
      const { secret = '' } = rest.at(-1) as { secret?: string }
      const value = secret.replace(/["'`),.;:\]]{1,8}$/, '')
      const isReplaced = !/[\p{L}\p{N}]/u.test(secret.replace(/\[redacted:[\w-]+\]/g, ''))
      if (isReplaced || isHarmless?.(value)) return match
      counts[kind] = (counts[kind] ?? 0) + 1
      return `${match.slice(0, -secret.length)}[redacted:${kind}]${secret.slice(value.length)}`
    })
  }
  return { text: clean, counts }
}

/**
 * The place that evidence begins with: in backticks, or the path of a file, with its lines if any. Later text in
 * backticks may be the secret itself.
 */
const placeAtStart =
  /^(?:`[^`]+`|(?:[\w.@+-]{0,64}\/){0,32}[\w.@+-]{0,64}\.[A-Za-z]{1,12}(?::\d{1,7}(?:-\d{1,7})?)?(?=[\s,;:]|$))/

/** The kinds of sensitive data in a text. E-mail addresses are allowed when the subject is e-mail. */
function sensitiveKinds(text: string, subject: string): string[] {
  const own = [...patterns, emailAddress].filter(
    ({ pattern, unless }) => text.search(pattern) !== -1 && unless?.test(subject) !== true,
  )
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
  const { text, counts } = redactSensitive(clean.text)
  for (const kind of Object.keys(counts)) stripped.add(kind)
  const problem = 'a secret that was removed had swallowed a part of the entry'
  return { block: text === clean.text ? clean : reread(text, block, problem), stripped: [...stripped] }
}
