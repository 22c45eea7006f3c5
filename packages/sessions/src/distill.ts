import { MemoryError, MemoryErrorCode, redactText, refuseUnknownOptions } from '@recall/core'
import { fingerprint, parseHeading, proseLines, splitPointer } from '@recall/core/text'
import { parseLineLimit } from './options.ts'
import { isTopicFile, topicFileFor } from './topic-file.ts'

/** A section shorter than this stays: moving it would hide it and save next to nothing. */
const shortestExtraction = 8

export interface DistillSection {
  heading: string
  /** Counted from 1, both ends included. */
  fromLine: number
  toLine: number
  lines: number
}

export interface DistillExtraction extends DistillSection {
  /** File that the section moves to, for example `debugging.md`. */
  topicFile: string
  /** The line that takes its place. */
  pointer: string
}

/** What distilling would do. Plain JSON: it can be shown, kept and applied later. */
export interface DistillPlan {
  lines: number
  limit: number
  /** Fingerprint of the text, to detect that it has changed since. */
  fingerprint: string
  /** All sections, the longest first. */
  sections: DistillSection[]
  /** The sections to move, in the order of the text; empty when the text is within its limit. */
  extractions: DistillExtraction[]
}

export interface DistillOptions {
  /** Default 200. */
  limit?: number | undefined
  /** Existing topic files, which must not be overwritten. */
  existingTopics?: readonly string[] | undefined
}

/**
 * Finds the sections that make a memory too long and proposes to move the longest ones into topic files, no more
 * than it takes to get within the limit. Changes nothing.
 *
 * @throws MemoryError INVALID_INPUT unless the limit is a whole number of at least 1, and for an unknown option
 */
export function planDistill(memoryText: string, options: DistillOptions = {}): DistillPlan {
  const { existingTopics = [], limit: asked, ...others } = options
  refuseUnknownOptions(others)
  const limit = parseLineLimit(asked)
  const lines = linesOf(memoryText)
  const sections = sectionsOf(lines).sort((a, b) => b.lines - a.lines)

  const heavy: DistillSection[] = []
  let remaining = lines.length
  for (const section of sections) {
    if (remaining <= limit || section.lines < shortestExtraction) break
    heavy.push(section)
    remaining -= section.lines - replacement('', section, lines).length
  }

  const taken = new Set(existingTopics.map((name) => name.toLowerCase()))
  const extractions = heavy
    .sort((a, b) => a.fromLine - b.fromLine)
    .map((section) => {
      // A section that was moved before has links, and has grown again.
      const { name, links } = splitPointer(section.heading)
      // Nobody would look for a secret in the name of a file.
      const topicFile = topicFileFor(redactText(name).text, taken)
      taken.add(topicFile)
      const marks = /^#+/.exec(lines[section.fromLine - 1] ?? '')?.[0] ?? '##'
      const pointer = `${marks} ${name} (see ${links ? `${links}, ` : ''}[${topicFile}](${topicFile}))`
      return { ...section, topicFile, pointer }
    })
  return { lines: lines.length, limit, fingerprint: fingerprint(memoryText), sections, extractions }
}

/**
 * Carries out a plan on the text it was made for. Afterwards every line of the text is in the memory or in a topic,
 * except for blank lines at the end of a moved section.
 *
 * @returns the new memory text, and the text of each topic by file name
 * @throws MemoryError CONFLICT when the text has changed since, INVALID_INPUT when the plan is not sound
 */
export function applyDistill(
  memoryText: string,
  plan: DistillPlan,
): { memory: string; topics: Record<string, string> } {
  if (fingerprint(memoryText) !== plan.fingerprint) {
    throw new MemoryError(
      'the memory has changed since this plan was made: make a new plan',
      MemoryErrorCode.CONFLICT,
    )
  }
  const lines = linesOf(memoryText)
  const pieces: string[][] = []
  const topics: Record<string, string> = {}
  let position = 0
  for (const extraction of plan.extractions) {
    const { fromLine, toLine, topicFile, pointer } = extraction
    const isSound = fromLine > position && toLine >= fromLine && toLine <= lines.length
    if (!isSound || !isTopicFile(topicFile) || topicFile in topics) {
      throw new MemoryError(
        'the plan does not fit the memory: make a new plan, and apply it as it is',
        MemoryErrorCode.INVALID_INPUT,
        {
          details: { extraction },
        },
      )
    }
    pieces.push(lines.slice(position, fromLine - 1), replacement(pointer, extraction, lines))
    const section = lines.slice(fromLine - 1, toLine)
    while (section.at(-1)?.trim() === '') section.pop()
    topics[topicFile] = `${section.join('\n')}\n`
    position = toLine
  }
  const kept = [...pieces, lines.slice(position)].flat()
  const mark = memoryText.startsWith(byteOrderMark) ? byteOrderMark : ''
  const ending = memoryText.endsWith('\n') ? '\n' : ''
  return { memory: `${mark}${kept.join('\n')}${ending}`, topics }
}

const byteOrderMark = '\uFEFF'

/** The lines of a text, without a byte order mark. A line ending at its very end does not begin another empty line. */
function linesOf(text: string): string[] {
  const lines = (text.startsWith(byteOrderMark) ? text.slice(1) : text).split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** The lines that replace a section: the pointer, and the blank line before the next section, if there was one. */
function replacement(pointer: string, section: DistillSection, lines: readonly string[]): string[] {
  const last = lines[section.toLine - 1] ?? ''
  const ending = last.endsWith('\r') ? '\r' : ''
  return last.trim() === '' ? [`${pointer}${ending}`, last] : [`${pointer}${ending}`]
}

/** Sections at the highest heading level that occurs more than once, otherwise at the deepest level below 1. */
function sectionsOf(lines: readonly string[]): DistillSection[] {
  const headings = headingsOf(lines)
  const levels = [...new Set(headings.map(({ level }) => level))].sort((a, b) => a - b)
  const dividing = levels.find((level) => headings.filter((each) => each.level === level).length > 1)
  const level = dividing ?? levels.filter((each) => each > 1).at(-1)
  const ends = headings.filter((each) => level !== undefined && each.level <= level)
  return ends.flatMap(({ heading, line, level: own }, index) => {
    if (own !== level) return []
    const toLine = (ends[index + 1]?.line ?? lines.length + 1) - 1
    return [{ heading, fromLine: line, toLine, lines: toLine - line + 1 }]
  })
}

function headingsOf(lines: readonly string[]): { heading: string; level: number; line: number }[] {
  const isProse = proseLines(lines)
  return lines.flatMap((line, index) => {
    const heading = isProse[index] ? parseHeading(line) : null
    return heading ? [{ heading: heading.text, level: heading.level, line: index + 1 }] : []
  })
}
