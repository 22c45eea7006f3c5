import { MemoryError, MemoryErrorCode } from '@recall/core'
import { closingFences } from '@recall/core/text'
import { type EchoEntry, entryIssues, printConfidence, printEntry } from './entry.ts'
import { type EchoLayer, isEchoLayer } from './layers.ts'

/** A part of the file with its exact text. All blocks together are the file. */
export interface EchoBlock {
  text: string
  /** Line of the file on which it begins, counted from 1. */
  line: number
  /**
   * The section that contains it, counted from 0. A section goes from one heading of level 1 to 3 to the next. A byte
   * order mark has -1.
   */
  section: number
  /** The parsed entry, if the block is one. */
  entry?: EchoEntry
  /** Why a block with the heading of an entry is not a valid one. Such a block is never changed. */
  problems?: string[]
}

export interface EchoDocument {
  /** 0 for a file without a schema header. */
  schema: number
  blocks: EchoBlock[]
}

/** The schema that this version writes. */
const currentSchema = 1

const schemaHeader = /^\uFEFF?<!-- echo-schema: v(\d{1,6}) -->[ \t]*(?:\r?\n|$)/
const entryHeading = /^### \[([^\]\n]*)\][ \t]+(.*)$/
const boundary = /^#{1,3}[ \t]/
const ownFields = ['layer', 'source', 'confidence', 'evidence', 'verified', 'supersedes']
const field = /^[-*] \*\*([\w-]+)\*\*:[ \t]*(.*)$/

/** Parses a file of echoes. Accepts any text; `printEchoes` returns the same text. */
export function parseEchoes(text: string): EchoDocument {
  // A byte order mark is a separate block: the file may begin with an entry.
  const mark = text.startsWith('\uFEFF') ? [{ text: '\uFEFF', line: 1, section: -1 }] : []
  const lines = linesOf(text.slice(mark.length))
  const starts = blockStarts(lines)
  const blocks = starts.map(({ at, section }, i) =>
    parseBlock(lines.slice(at, starts[i + 1]?.at).join(''), at + 1, section),
  )
  return { schema: Number(schemaHeader.exec(text)?.[1] ?? 0), blocks: [...mark, ...blocks] }
}

export const printEchoes = (document: EchoDocument): string =>
  document.blocks.map(({ text }) => text).join('')

/** A new file for a role: `<!-- echo-schema: v1 -->` and its title. */
export function emptyEchoes(role: string): EchoDocument {
  const title = role.replace(/^./, (first) => first.toUpperCase())
  return parseEchoes(`<!-- echo-schema: v${currentSchema} -->\n# ${title} Memory\n`)
}

/** Brings a file to the current schema: a file without a schema header gets one. */
export function upgradeEchoes(document: EchoDocument): EchoDocument {
  if (document.schema !== 0) return document
  const text = printEchoes(document)
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const header = `${bom}<!-- echo-schema: v${currentSchema} -->${newlineOf(text)}`
  return parseEchoes(header + text.slice(bom.length))
}

/** Appends entries to a file, in its own line endings, with a blank line before each. */
export const appendEntries = (document: EchoDocument, entries: readonly EchoEntry[]): EchoDocument =>
  appendTexts(document, entries.map(printEntry))

/**
 * Appends entries that are already text, as `appendEntries` does.
 *
 * @throws MemoryError CONFLICT as `joinBlocks`
 */
export function appendTexts(document: EchoDocument, texts: readonly string[]): EchoDocument {
  let text = printEchoes(document)
  const newline = newlineOf(text)
  for (const each of texts) text = withBlankLine(text, newline) + each.replace(/\r?\n/g, newline)
  const added = texts.flatMap((each) => parseEchoes(each).blocks)
  return readAs([...document.blocks, ...added], text)
}

/**
 * The file that consists of these blocks.
 *
 * @throws MemoryError CONFLICT when it would not have the entries of the blocks: if a block with half of a pair of
 * fences, or of a comment, is removed, the other half may hide the entries below it, or show what was hidden
 */
export const joinBlocks = (blocks: readonly EchoBlock[]): EchoDocument =>
  readAs(blocks, blocks.map(({ text }) => text).join(''))

function readAs(blocks: readonly EchoBlock[], text: string): EchoDocument {
  const document = parseEchoes(text)
  const same = JSON.stringify(entriesIn(document.blocks)) === JSON.stringify(entriesIn(blocks))
  if (same) return document
  throw new MemoryError(
    'nothing was changed: other entries would be hidden or appear, because a line of ```, ~~~ or <!-- in the file is not closed; close it by hand',
    MemoryErrorCode.CONFLICT,
  )
}

/** A byte order mark is a separate block. */
export const isMark = ({ section }: EchoBlock): boolean => section === -1

/** How many blocks have to stay at the front: the byte order mark, and the one that begins with the schema header. */
export const headOf = ({ schema, blocks }: EchoDocument): number =>
  blocks.filter(isMark).length + (schema === 0 ? 0 : 1)

export const entriesIn = (blocks: readonly EchoBlock[]): EchoEntry[] =>
  blocks.flatMap(({ entry }) => (entry ? [entry] : []))

/**
 * The entry in a form that reads the same in every file, and does not change how the text around it reads: its code and
 * comments are indented, as in a learning, because an unindented fence could pair with one of the file. If a block is
 * not exactly one entry, the result has no `entry`, and says why.
 */
export function standAlone(block: EchoBlock): EchoBlock {
  const lines = linesOf(`${block.text.trimEnd()}\n`.replace(/\r+\n/g, '\n'))
  const hidden = hiddenLines(lines)
  const isIndented = (line: string, at: number): boolean =>
    hidden.has(at) || /^(?:```|~~~|<!--)/.test(line) || closesComment(line)
  const text = lines.map((line, at) => (isIndented(line, at) && !isBlank(line) ? `  ${line}` : line)).join('')
  return reread(text, block, 'its code cannot be told from its fields: indent the code')
}

/** Parses the changed text of a block. It stays one block; if it is no longer an entry, it states the reason. */
export function reread(text: string, { line, section }: EchoBlock, problem: string): EchoBlock {
  const [first, ...rest] = parseEchoes(text).blocks
  if (first?.entry && rest.length === 0) return { ...first, line, section }
  return { text, line, section, problems: [problem] }
}

/** Changes fields of one entry and no other byte. */
export function withFields(
  block: EchoBlock,
  changes: { verified?: string; confidence?: number; source?: string; evidence?: string; layer?: EchoLayer },
): EchoBlock {
  const values: Record<string, string | undefined> = {
    ...changes,
    confidence: changes.confidence === undefined ? undefined : printConfidence(changes.confidence),
  }
  const done = new Set<string>()
  const lines = linesOf(block.text)
  const read = withoutComments(lines)
  const text = lines
    .map((line, at) => {
      const name = fieldName(read[at] ?? '')
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      if (value === undefined || done.has(name)) return line
      done.add(name)
      const ending = line.slice(withoutEnding(line).length)
      return `${line.slice(0, line.indexOf('**:') + 3)} ${value}${ending}`
    })
    .join('')
  return parseBlock(text, block.line, block.section)
}

/** How many lines a field is below its entry's heading; 0 when it is missing. */
export const lineOfField = ({ text }: EchoBlock, name: string): number =>
  Math.max(
    0,
    withoutComments(linesOf(text)).findIndex((line) => fieldName(line) === name),
  )

/** The same entry with another learning; lines outside of the format stay. */
export const withLearning = (block: EchoBlock, learning: string): EchoBlock =>
  withLearningLines(block, `- ${learning.replaceAll('\n', '\n  ')}`.split('\n'))

/** The same entry with the learning of another one, spelled exactly as there. */
export function withLearningOf(block: EchoBlock, other: EchoBlock): EchoBlock {
  const lines = linesOf(other.text)
  const range = learningRange(withoutComments(lines))
  return range ? withLearningLines(block, lines.slice(range.from, range.to).map(withoutEnding)) : block
}

function withLearningLines(block: EchoBlock, learning: readonly string[]): EchoBlock {
  const lines = linesOf(block.text)
  const range = learningRange(withoutComments(lines))
  if (range === undefined) return block
  const newline = newlineOf(block.text)
  const ends = lines[range.to - 1]?.endsWith('\n') === true
  const text = `${learning.join(newline)}${ends ? newline : ''}`
  const changed = [...lines.slice(0, range.from), text, ...lines.slice(range.to)].join('')
  return parseBlock(changed, block.line, block.section)
}

/** The lines of an entry other than its heading and the fields of the format. */
export function restOf(block: EchoBlock): string {
  const lines = linesOf(block.text)
  const read = withoutComments(lines)
  return lines
    .filter((_, at) => at > 0 && !ownFields.includes(fieldName(read[at]?.trim() ?? '')))
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
}

/** The number of lines. A line ending at the very end does not begin another, empty line. */
export function countLines(text: string): number {
  return linesOf(text).length
}

/** A text with a blank line at its end, unless it is empty. */
export function withBlankLine(text: string, newline: string): string {
  if (text === '' || /\n\r?\n$/.test(text)) return text
  return text + (text.endsWith('\n') ? newline : newline + newline)
}

export const newlineOf = (text: string): string => (/\r\n/.test(text) ? '\r\n' : '\n')

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

const withoutEnding = (line: string): string => line.replace(/\r?\n$/, '')
const isBlank = (line: string | undefined): boolean => line?.trim() === ''
const fieldName = (line: string): string => field.exec(withoutEnding(line))?.[1]?.toLowerCase() ?? ''

/**
 * The lines on which blocks begin. Text below an entry is not part of it, and is split off where a blank line ends: a
 * place between two blocks can then be found again after the entry there was removed.
 */
function blockStarts(lines: readonly string[]): { at: number; section: number }[] {
  const hidden = hiddenLines(lines)
  const read = withoutComments(lines, hidden)
  const heads = lines.flatMap((line, i) => (i === 0 || (!hidden.has(i) && boundary.test(line)) ? [i] : []))
  return heads.flatMap((from, section) => {
    const to = heads[section + 1] ?? lines.length
    const length = entryLength(read.slice(from, to))
    let end = from + Math.max(length, 1)
    while (hidden.has(end - 1) && hidden.has(end)) end++
    const starts = [{ at: from, section }]
    for (let at = end; at < to; at++) {
      const isCut = (length > 0 && at === end) || (isBlank(lines[at - 1]) && !hidden.has(at - 1))
      if (isCut && !isBlank(lines[at])) starts.push({ at, section })
    }
    return starts
  })
}

/**
 * The length of an entry in lines: up to its last field, the end of its learning, and the end of the list that holds
 * them.
 */
function entryLength(lines: readonly string[]): number {
  if (!entryHeading.test(withoutEnding(lines[0] ?? ''))) return 0
  const names = lines.map(fieldName)
  const last = Math.max(...ownFields.map((name) => names.indexOf(name)), 0)
  let length = Math.max(last + 1, learningRange(lines)?.to ?? 0)
  while (/^(?:[-*] |[ \t]+)\S/.test(lines[length] ?? '')) length++
  return length
}

/**
 * Lines in fenced code and in comments, by index. A fence or comment that is never closed is ignored: it would hide all
 * entries below, even etched ones. Indented marks and marks in a list are also ignored, as they belong to a learning;
 * nor do they close one that begins before their entry.
 */
function hiddenLines(lines: readonly string[]): Map<number, 'code' | 'comment'> {
  const hidden = new Map<number, 'code' | 'comment'>()
  const fenceEnd = closingFences(lines.map((line) => (/^(?:[ \t]|[-*+] )/.test(line) ? '' : line)))
  const commentEnd = closingMarks(lines)
  for (let from = 0; from < lines.length; from++) {
    const isComment = lines[from]?.startsWith('<!--') === true
    const to = isComment ? commentEnd(from) : fenceEnd(from)
    if (to === null) continue
    for (let i = from; i <= to; i++) hidden.set(i, isComment ? 'comment' : 'code')
    from = to
  }
  return hidden
}

/** Returns a function that gives the index of the line that closes the comment opened on a line, or `null`. */
function closingMarks(lines: readonly string[]): (from: number) => number | null {
  const last = lines.findLastIndex(hasMark)
  return (from) => {
    // Avoids searching to the end of the text for every comment that is never closed.
    if (from > last) return null
    let to = from
    while (!hasMark(lines[to] ?? '')) to++
    return to === from || closesComment(lines[to] ?? '') ? to : null
  }
}

const hasMark = (line: string): boolean => line.includes('-->')

/**
 * Whether a line closes a comment. An arrow in an entry's heading, field or learning does not: it would hide the
 * entries before it.
 */
const closesComment = (line: string): boolean => hasMark(line) && !/^(?:[ \t#]|[-*] )/.test(line)

/** The lines with comments blanked out, as nothing in them is a field of an entry, or its learning. */
function withoutComments(lines: readonly string[], hidden = hiddenLines(lines)): readonly string[] {
  return lines.map((line, at) => (hidden.get(at) === 'comment' ? '' : line))
}

function parseBlock(text: string, line: number, section: number): EchoBlock {
  const lines = withoutComments(linesOf(text))
  const heading = entryHeading.exec(withoutEnding(lines[0] ?? ''))
  if (!heading) return { text, line, section }
  const [, date = '', name = ''] = heading
  const [, kind = '', title = ''] = /^([^:]*?):[ \t]+(.*)$/.exec(name.trim()) ?? ['', '', name.trim()]
  const fields = new Map<string, string>()
  for (const each of lines) {
    const [, key, value = ''] = field.exec(withoutEnding(each)) ?? []
    if (key !== undefined && !fields.has(key.toLowerCase())) fields.set(key.toLowerCase(), value.trim())
  }
  const range = learningRange(lines)
  const learning = range
    ? lines
        .slice(range.from, range.to)
        .map((each, i) => (i === 0 ? each.slice(2) : each).trim())
        .join('\n')
    : ''
  const supersedes = fields.get('supersedes') ?? 'none'
  const confidence = fields.get('confidence') ?? ''
  const entry = {
    date,
    kind: kind.trim(),
    title: title.trim(),
    layer: fields.get('layer')?.toLowerCase() ?? '',
    source: fields.get('source') ?? '',
    confidence: /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(confidence) ? Number(confidence) : Number.NaN,
    evidence: fields.get('evidence') ?? '',
    verified: fields.get('verified') ?? '',
    supersedes: /^none$/i.test(supersedes) || supersedes === '' ? null : supersedes,
    learning,
  }
  const problems = entryIssues(entry)
  if (problems.length > 0 || !isEchoLayer(entry.layer)) return { text, line, section, problems }
  return { text, line, section, entry: { ...entry, layer: entry.layer } }
}

/** Lines of the first list item that is not a field, with the indented lines below it; `to` is exclusive. */
function learningRange(lines: readonly string[]): { from: number; to: number } | undefined {
  const from = lines.findIndex((line) => /^[-*] \S/.test(line) && !field.test(withoutEnding(line)))
  if (from === -1) return undefined
  let to = from + 1
  while (to < lines.length && /^[ \t]+\S/.test(lines[to] ?? '')) to++
  return { from, to }
}
