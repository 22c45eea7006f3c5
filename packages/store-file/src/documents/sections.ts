import { type Entry, MemoryError, MemoryErrorCode } from '@recall/core'
import { parseHeading, proseLines, splitPointer } from '@recall/core/text'
import { isHandName } from '../files/paths.ts'
import type { FileEntry, FileTimes } from './file-entry.ts'
import { keepingLineEnds, lineEndsOf, linesOf } from './line-ends.ts'
import { marksBetween, withoutEmptySides } from './merge.ts'

/** The section of a curated file that a key such as `MEMORY.md#preferences` names; `null` for any other key. */
export function sectionOf(key: string): { fileName: string; slug: string } | null {
  // Most keys name no section, and a pattern of Unicode properties takes a millisecond to build.
  if (!key.includes('.md#')) return null
  const [, stem = '', slug = ''] = /^(.+)\.md#([\p{L}\p{M}\p{N}-]+)$/u.exec(key) ?? []
  return isHandName(stem) ? { fileName: `${stem}.md`, slug } : null
}

/** Whether a section with this slug can be read back under it: `Preferences` would become `preferences`. */
export const isSlug = (slug: string): boolean =>
  slug !== '' && uniqueSlug(headingOf(slug), new Map()) === slug

/** The type that every section has. */
const sectionType = 'section'

/** The part of a curated file before its first section. */
const introSlug = 'intro'

export interface Section {
  slug: string
  heading: string
  /** The line of the heading, verbatim; empty for the part before the first heading. */
  opening: string
  /** The lines below the heading, verbatim. */
  source: string
  /** Those of them that are no marks of a merge with another section. */
  body: string
  /** Those that are such marks. */
  marks: string
  /** First line of the section (its heading) in the file, counted from 1. */
  line: number
}

/** Splits a curated file at its `##` headings. Headings in code and comments do not count. */
export function parseSections(file: string): Section[] {
  const { content } = withoutMark(file)
  const nothing = { source: '', body: '', marks: '' }
  const sections: Section[] = [{ slug: introSlug, heading: '', opening: '', line: 1, ...nothing }]
  const seen = new Map([[introSlug, 2]])
  const lines = linesOf(content)
  const isProse = proseLines(lines)
  const sectionOfLine = lines.map((text, index) => {
    const heading = isProse[index] ? parseHeading(text) : null
    if (heading?.level === 2) {
      const slug = uniqueSlug(splitPointer(heading.text).name, seen)
      sections.push({ slug, heading: heading.text, opening: text, line: index + 1, ...nothing })
    }
    return sections.length - 1
  })
  const marks = marksBetween(lines, isProse, sectionOfLine)
  for (const [index, text] of lines.entries()) {
    const section = sections[sectionOfLine[index] as number] as Section
    if (section.opening !== '' && section.line === index + 1) continue
    section.source += text
    section[marks.has(index) ? 'marks' : 'body'] += text
  }
  return sections
}

/** A byte order mark, which some editors write, is not part of the first line. */
function withoutMark(file: string): { mark: string; content: string } {
  const length = file.startsWith('\uFEFF') ? 1 : 0
  return { mark: file.slice(0, length), content: file.slice(length) }
}

/** Every section that holds text, or at least a name, is an entry of long-term memory, unless it was moved. */
export function sectionEntries(content: string, fileName: string, { modified }: FileTimes): FileEntry[] {
  const withLineEnds = lineEndsOf(content)
  return parseSections(content)
    .filter(
      ({ heading, body }) => body.trim() !== '' || (heading !== '' && splitPointer(heading).links === ''),
    )
    .map(({ slug, heading, source, body, line }) => ({
      key: `${fileName}#${slug}`,
      type: sectionType,
      tags: [],
      value: withLineEnds(body.trim()),
      text: heading === '' ? source : `## ${heading}\n${source}`,
      created: modified,
      updated: modified,
      ttl: null,
      expires: null,
      line,
      fields: '',
    }))
}

/**
 * The file with one section's text replaced; a new section goes to the end. Everything else stays as it was, and lines
 * end as they do in the file.
 *
 * @throws MemoryError INVALID_INPUT when the text would swallow what follows it, or be swallowed itself
 */
export const withSection = (file: string, slug: string, text: string): string =>
  keepingLineEnds(file, (content) => checkedWithSection(content, slug, text))

function checkedWithSection(content: string, slug: string, text: string): string {
  const sections = parseSections(content)
  const result = printWithSection(content, sections, slug, text)
  const written = parseSections(result)
  const body = written.find((each) => each.slug === slug)?.body
  const [before, after] = [outlineBeside(slug, sections), outlineBeside(slug, written)]
  const isKept = before.length === after.length && before.every((each, i) => each === after[i])
  if (isKept && body?.trim() === text.trim()) return result
  throw new MemoryError(
    `the section '${slug}' would run into its neighbours: close the code block or the comment that is open in it or before it`,
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** What all the other sections say. */
const outlineBeside = (slug: string, sections: readonly Section[]): string[] =>
  sections.flatMap((each) => (each.slug === slug ? [] : `${each.heading}\n${each.body.trim()}`))

function printWithSection(file: string, sections: readonly Section[], slug: string, text: string): string {
  const { mark, content } = withoutMark(file)
  const section = sections.find((candidate) => candidate.slug === slug)
  const body = `${text.trim()}\n`
  if (!section) {
    const before = content === '' || content.endsWith('\n') ? content : `${content}\n`
    // A removed section has left its blank line.
    const isSetOff = before.trim() === '' || before.endsWith('\n\n')
    return `${mark}${before}${isSetOff ? '' : '\n'}## ${headingOf(slug)}\n\n${body}`
  }
  const last = section === sections.at(-1)
  const below = `${slug === introSlug ? '' : '\n'}${body}${last ? '' : '\n'}`
  const changed = { ...section, source: below + section.marks }
  return mark + printSections(sections.map((each) => (each === section ? changed : each)))
}

/** The file without one section, or `null` when it has no such section. */
export function withoutSection(file: string, slug: string): string | null {
  const sections = parseSections(file)
  const section = sections.find((candidate) => candidate.slug === slug)
  if (!section || (slug === introSlug && section.body.trim() === '')) return null
  const gone = { ...section, opening: '', source: section.marks }
  const left =
    withoutMark(file).mark + printSections(sections.map((each) => (each === section ? gone : each)))
  return section.marks === '' ? left : withoutEmptySides(left)
}

const printSections = (sections: readonly Section[]): string =>
  sections.map(({ opening, source }) => opening + source).join('')

/**
 * The text of an entry that becomes a section.
 *
 * @throws MemoryError INVALID_INPUT when the entry is more than its text, or the text would change the file's structure
 */
export function requireSectionText({ scope, key, value, text, type, tags }: Entry): string {
  const refused = (reason: string): MemoryError =>
    new MemoryError(reason, MemoryErrorCode.INVALID_INPUT, { scope, key })
  const only = `'${key}' is a section of a markdown file, which`
  if (typeof value !== 'string')
    throw refused(`${only} holds text: keep other values, and what is encrypted, under another key`)
  if (!value.isWellFormed())
    throw refused(`${only} cannot hold half a character: a surrogate stands alone in the text`)
  if (tags.length > 0) throw refused(`${only} cannot have tags`)
  if (type !== null && type !== sectionType) throw refused(`${only} cannot have a type`)
  if (text !== value)
    throw refused(`${only} is found by its text: leave out text and index, or choose another key`)
  if (value.trim() === '' && sectionOf(key)?.slug === introSlug)
    throw refused(
      `'${key}' is what stands before the first section of a file, and cannot be blank: delete it`,
    )
  if (parseSections(value.trim()).length > 1)
    throw refused(`the text for '${key}' holds a '## ' heading: write that section under its own key`)
  if (parseSections(`${value.trim()}\n\n## Next\n`).length === 1)
    throw refused(
      `the text for '${key}' opens a code block or a comment that it does not close: what follows would be in it`,
    )
  return value
}

/**
 * Combining marks are part of a word, such as the vowels of Devanagari; those that turn a sign into an emoji are not.
 */
const slugWords = (text: string): string[] =>
  text.match(/[\p{L}\p{N}](?:[\p{L}\p{N}]|(?!\p{Variation_Selector})[\p{Mn}\p{Mc}])*/gu) ?? []

/** @param seen next number to try for each slug */
function uniqueSlug(heading: string, seen: Map<string, number>): string {
  const base = slugWords(heading.normalize('NFC').toLowerCase()).join('-') || 'section'
  let slug = base
  // Counting goes on from the last number used: with thousands of equal headings it would otherwise take a minute.
  let next = seen.get(base) ?? 2
  while (seen.has(slug)) slug = `${base}-${next++}`
  seen.set(base, next)
  if (slug !== base) seen.set(slug, 2)
  return slug
}

const headingOf = (slug: string): string => slug.charAt(0).toUpperCase() + slug.slice(1).replaceAll('-', ' ')
