import { type JsonValue, redactPartsOf, redactText } from '@recall/core'
import type { Io } from './io.ts'

/** The beginning of a secret of several lines. */
const severalLines = /-----BEGIN|Private-Lines:/
/** More lines than the longest such secret has. */
const farthest = 400

export interface Redaction {
  redact(text: string): string
  /** Some lines of a text, without the parts of a secret that begins or ends outside them. */
  excerpt(lines: readonly string[], from: number, to: number): string
  /** A part of a text made from a value, whose other members may reveal that the part is secret. */
  partOf(value: JsonValue, part: string): string
  /** Reports that something was replaced, if so. */
  tell(): void
}

/**
 * Replaces secrets, which people may have typed into files, in whatever is printed of a memory: agents run commands as
 * well, and what they read goes to the provider of their model.
 */
export function createRedaction(io: Io): Redaction {
  let isNeeded = false
  const redact = (text: string): string => {
    const redacted = redactText(text).text
    isNeeded ||= redacted !== text
    return redacted
  }
  /** The first line of a table names the content of a column, and the title above a list names its items. */
  const inParagraph = (lines: readonly string[], from: number, to: number): readonly string[] => {
    const shown = lines.slice(from, to)
    const start = startOfTitled(lines, from)
    const clean = redactText(lines.slice(start, to).join('\n')).text.split('\n')
    // A secret of several lines, such as a list of codes, shrinks to one line.
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

/** Like `startOfParagraph`, but includes the paragraph before, which may name the content of this one. */
function startOfTitled(lines: readonly string[], at: number): number {
  let end = startOfParagraph(lines, at)
  while (end > 0 && at - end < farthest && lines[end - 1]?.trim() === '') end--
  return startOfParagraph(lines, end)
}

/** The given lines; those that are not among the clean ones, without their secrets. */
function onlyThoseIn(clean: readonly string[], lines: readonly string[], kind: string): string[] {
  const kept = new Set(clean)
  return lines.map((line) => (line.trim() === '' || kept.has(line) ? line : withoutPart(line, kind)))
}

/** A line that is not shown as it is: by itself, it may not look like the part of a secret that it is. */
function withoutPart(line: string, kind: string): string {
  const { text } = redactText(line)
  return text === line ? `[redacted:${kind}]` : text
}
