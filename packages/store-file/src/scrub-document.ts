import { isEnvelope, type JsonValue, MemoryError, MemoryErrorCode, redactJson } from '@recall/core'
import { equalJson } from '@recall/core/json'
import { parseFrontMatter, updateFrontMatter } from './documents/front-matter.ts'
import { keepingLineEnds } from './documents/line-ends.ts'
import { parseFenced, printFenced } from './documents/note.ts'
import type { Redact } from './scrub-archive.ts'

type Redacted = ReturnType<Redact>

/**
 * A file without its secrets, otherwise saying the same: the fields of its front matter and the members of a JSON value
 * are replaced one by one, and new text is quoted where it has to be. Ciphertext is left as it is: it reveals nothing,
 * but looks like a key.
 *
 * @throws MemoryError CORRUPTION when the result could no longer be read
 */
export function redactDocument(content: string, redact: Redact): Redacted {
  const { fields, body, problem } = parseFrontMatter(content)
  if (problem !== undefined) return redact(content)
  const head = content.slice(0, content.length - body.length)
  const cleanHead = head.trim() === '' ? { text: head, counts: {} } : redactHead(head, fields, redact)
  const cleanBody = redactBody(body, fields.format === 'json', redact)
  return {
    text: cleanHead.text + cleanBody.text,
    counts: sumOf(cleanHead.counts, cleanBody.counts),
  }
}

function redactHead(head: string, fields: Record<string, JsonValue>, redact: Redact): Redacted {
  const byName = redactJson(fields)
  const clean = byName.value as Record<string, JsonValue>
  const changed = Object.entries(clean).filter(([name, value]) => !equalJson(fields[name] ?? null, value))
  const gone = Object.keys(fields).filter((name) => !Object.hasOwn(clean, name))
  const quoted =
    changed.length + gone.length === 0
      ? head
      : keepingLineEnds(head, (plain) =>
          updateFrontMatter(
            plain,
            Object.fromEntries([...changed, ...gone.map((name) => [name, null] as const)]),
            'front matter',
          ),
        )
  // The remaining secrets are in comments, or only the lines around them show what they are.
  const whole = redact(quoted)
  const { problem } = parseFrontMatter(whole.text)
  if (problem !== undefined) {
    throw new MemoryError(
      `a secret in it cannot be replaced without damage (${problem}): take it out by hand`,
      MemoryErrorCode.CORRUPTION,
    )
  }
  return { text: whole.text, counts: sumOf(byName.counts, whole.counts) }
}

function redactBody(body: string, isJson: boolean, redact: Redact): Redacted {
  const value = isJson ? parseFenced(body) : undefined
  if (value === undefined) return redact(body)
  if (isEnvelope(value)) return { text: body, counts: {} }
  const { value: clean, counts } = redactJson(value)
  const isClean = Object.keys(counts).length === 0
  return { text: isClean ? body : keepingLineEnds(body, () => `${printFenced(clean)}\n`), counts }
}

function sumOf(one: Redacted['counts'], other: Redacted['counts']): Redacted['counts'] {
  const sum = { ...one }
  for (const [kind, count] of Object.entries(other)) sum[kind] = (sum[kind] ?? 0) + count
  return sum
}
