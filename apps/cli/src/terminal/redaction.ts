import { redactText } from '@recall/core'
import type { Io } from './io.ts'

/** What a secret of several lines begins with. */
const severalLines = /-----BEGIN|Private-Lines:/
/** More lines than the longest of them has. */
const farthest = 400

export interface Redaction {
  redact(text: string): string
  /** Some lines of a text, without those of a secret that begins or ends beyond them. */
  excerpt(lines: readonly string[], from: number, to: number): string
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
  /** What a column of a table holds stands in its first line. */
  const inParagraph = (lines: readonly string[], from: number, to: number): readonly string[] => {
    const shown = lines.slice(from, to)
    const start = startOfParagraph(lines, from)
    const clean = redactText(lines.slice(start, to).join('\n'))
      .text.split('\n')
      .slice(from - start)
    if (clean.length !== shown.length) return shown
    isNeeded ||= clean.some((line, i) => line !== shown[i])
    return clean
  }
  return {
    redact,
    excerpt(lines, from, to) {
      const shown = lines.slice(from, to)
      const near = lines.slice(Math.max(0, from - farthest), to + farthest).join('\n')
      if (!severalLines.test(near)) return inParagraph(lines, from, to).join('\n')
      const kept = new Set(redact(near).split('\n'))
      return shown.map((line) => (kept.has(line) ? line : withoutPart(line))).join('\n')
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

/** A line that is not shown as it is: alone, it may not look like the part of a secret that it is. */
function withoutPart(line: string): string {
  const { text } = redactText(line)
  return text === line ? '[redacted:private-key]' : text
}
