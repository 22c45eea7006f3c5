import { redactText } from '@recall/core'
import { type EchoBlock, parseEchoes, withFields } from './echo-document.ts'

/** What evidence may not hold. */
const patterns: { kind: string; pattern: RegExp; unless?: RegExp }[] = [
  {
    kind: 'api-key',
    pattern: /(?:key|token|secret)s?["'`]?\s{0,4}(?:is|[:=])\s{0,4}["'`]?[A-Za-z0-9_-]{20,}/i,
  },
  { kind: 'password', pattern: /password\s{0,8}[:=]\s{0,8}\S+/i },
  { kind: 'token', pattern: /bearer\s{1,8}[A-Za-z0-9._-]+/i },
  { kind: 'connection-string', pattern: /[a-z]:\/\/[^\s:/@]{1,256}:[^\s@]{1,256}@/i },
  {
    kind: 'e-mail-address',
    pattern: /(?<![\w.+-])(?!git@)[\w.+-]{1,64}@[\w-]{1,63}\.[\w-]{2,}/,
    unless: /e-?mail|smtp|mailbox/i,
  },
]

/** The kinds of sensitive data in a text; with a learning about e-mail, addresses belong to it. */
function sensitiveKinds(text: string, learning: string): string[] {
  const own = patterns.filter(({ pattern, unless }) => pattern.test(text) && unless?.test(learning) !== true)
  return [...new Set([...own.map(({ kind }) => kind), ...Object.keys(redactText(text).counts)])]
}

/** A text that was one block and stays one, also where a secret took a mark of the format with it. */
function reread(text: string, line: number): EchoBlock {
  const [first, ...rest] = parseEchoes(text).blocks
  if (first?.entry && rest.length === 0) return { ...first, line }
  return { text, line, problems: ['a secret that was taken out had swallowed a part of the entry'] }
}

/**
 * Takes sensitive data out of an entry: its evidence is stripped down to the place it names, elsewhere each
 * secret is replaced. The learning is kept.
 *
 * @returns the kinds of what was taken out; without an `entry` when what is left is none any more
 */
export function withoutSecrets(block: EchoBlock): { block: EchoBlock; stripped: string[] } {
  if (!block.entry) return { block, stripped: [] }
  const { evidence, learning, title } = block.entry
  const stripped = new Set(sensitiveKinds(evidence, `${title} ${learning}`))
  let clean = block
  if (stripped.size > 0) {
    const place = /^`[^`]+`/.exec(evidence)?.[0] ?? ''
    const kept = sensitiveKinds(place, learning).length === 0 && place !== '' ? `${place} — ` : ''
    clean = withFields(block, { evidence: `${kept}[removed: ${[...stripped].join(', ')}]` })
  }
  const { text, counts } = redactText(clean.text)
  for (const kind of Object.keys(counts)) stripped.add(kind)
  return { block: text === clean.text ? clean : reread(text, block.line), stripped: [...stripped] }
}
