import { type JsonValue, redactPartsOf, redactText } from '@recall/core'
import type { Io } from './io.ts'

/** What a secret of several lines begins with. */
const severalLines = /-----BEGIN|Private-Lines:/
/** More lines than the longest of them has. */
const farthest = 400

export interface Redaction {
  redact(text: string): string
  /** Some lines of a text, without those of a secret that begins or ends beyond them. */
  excerpt(lines: readonly string[], from: number, to: number): string
  /** A part of what is made of a value, whose members may be what tells of a secret. */
  partOf(value: JsonValue, part: string): string
  /** Says that something was replaced, if it was. */
  tell(): void
}

/**
 * Replaces secrets, which people may have typed into files, in what is printed of a memory: agents run commands as well,
 * and what they read goes to the provider of their model.
 */
export function createRedaction(io: Io): Redaction {
  let isNeeded = false
  const redact = (text: string): string => {
    const redacted = redactText(text).text
    isNeeded ||= redacted !== text
    return redacted
  }
  /** What a column of a table holds stands in its first line, and what a list holds in the title above it. */
  const inParagraph = (lines: readonly string[], from: number, to: number): readonly string[] => {
    const shown = lines.slice(from, to)
    const start = startOfTitled(lines, from)
    const clean = redactText(lines.slice(start, to).join('\n')).text.split('\n')
    // Of a secret that goes on for several lines, such as a list of codes, one is left.
    const isLineByLine = clean.length === from - start + shown.length
    const told = isLineByLine ? clean.slice(from - start) : onlyThoseIn(clean, shown, 'secret')
    isNeeded ||= told.some((line, i) => line !== shown[i])
    return told
  }
  return {
    redact,
    excerpt(lines, from, to) {
      const shown = lines.slice(from, to)
      const near = lines.slice(Math.max(0, from - farthest), to + farthest).join('\n')
      if (!severalLines.test(near)) return inParagraph(lines, from, to).join('\n')
      return onlyThoseIn(redact(near).split('\n'), shown, 'private-key').join('\n')
    },
    partOf(value, part) {
      const clean = redactPartsOf({ value, type: null })(part)
      isNeeded ||= clean !== part
      return clean
    },
    tell() {
      if (isNeeded) io.err("recall: secrets are not shown: 'recall scrub' says in which files they are\n")
    },
  }
}

function startOfParagraph(lines: readonly string[], at: number): number {
  let start = at
  while (start > 0 && at - start < farthest && lines[start - 1]?.trim() !== '') start--
  return start
}

/** The same with the paragraph before it, which may say what stands in this one. */
function startOfTitled(lines: readonly string[], at: number): number {
  let end = startOfParagraph(lines, at)
  while (end > 0 && at - end < farthest && lines[end - 1]?.trim() === '') end--
  return startOfParagraph(lines, end)
}

/** Some lines, of those that are not among the clean ones only what is no secret. */
function onlyThoseIn(clean: readonly string[], lines: readonly string[], kind: string): string[] {
  const kept = new Set(clean)
  return lines.map((line) => (line.trim() === '' || kept.has(line) ? line : withoutPart(line, kind)))
}

/** A line that is not shown as it is: alone, it may not look like the part of a secret that it is. */
function withoutPart(line: string, kind: string): string {
  const { text } = redactText(line)
  return text === line ? `[redacted:${kind}]` : text
}
