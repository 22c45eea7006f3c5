import {
  conversationKey,
  type SessionSummary,
  sessionSummaryKey,
  sessionSummaryType,
  windowHeading,
  windowNotesKey,
} from '@recall/core'
import { closingFences } from '@recall/core/text'
import { type FileEntry, type FileTimes, parseTime } from './file-entry.ts'
import { keepingLineEnds, lineEndsOf, linesOf } from './line-ends.ts'
import { marksBetween, withoutEmptySides } from './merge.ts'

const separator = /^---[ \t]*\r?\n?$/
const heading = /^## Session (.+?) — (\S+)[ \t]*\r?\n/
const facts =
  /^\*\*Duration\*\*: (.*?) · \*\*Messages\*\*: (\d+) · \*\*Archive\*\*: (.*?)(?: · \*\*Project\*\*: (.+?))?[ \t]*\r?$/m

/** The text between two separator lines. */
interface Block {
  /**
   * The separator line before it, verbatim; empty before the first block, and before a session that follows without
   * one.
   */
  separator: string
  text: string
  /** The text without the marks of a merge with another block. */
  own: string
  /** Those marks. */
  marks: string
  line: number
  session: SessionSummary | null
}

/**
 * Splits EPHEMERAL.md at its `---` lines, except those in a note's code, and where a session begins without one, as
 * after a merge whose sides were both kept. The blocks with their separators are the file, byte for byte.
 */
export function parseWindow(content: string): Block[] {
  const nothing = { text: '', own: '', marks: '', session: null }
  const blocks: Block[] = [{ separator: '', line: 1, ...nothing }]
  const lines = linesOf(content)
  const closingOf = closingFences(lines)
  let isInSession = trackSession()
  let codeEnd = -1
  const begin = (line: number, above = ''): void => {
    blocks.push({ separator: above, line, ...nothing })
    isInSession = trackSession()
  }
  const isText: boolean[] = []
  const blockOf = lines.map((each, i) => {
    const isCode = i <= codeEnd
    isText.push(!isCode)
    if (!isCode && separator.test(each)) {
      begin(i + 2, each)
      return -1
    }
    const isSession = !isCode && heading.test(each) && facts.test(lines[i + 1] ?? '')
    if (isSession && !isBlank(blocks.at(-1) as Block)) begin(i + 1)
    const block = blocks.at(-1) as Block
    // A summary may have been cut within its code: nothing in it hides where the session ends.
    if (!isInSession(each) && !isCode) codeEnd = closingOf(i) ?? codeEnd
    block.text += each
    return blocks.length - 1
  })
  const marks = marksBetween(lines, isText, blockOf)
  for (const [i, each] of lines.entries()) {
    const block = blocks[blockOf[i] as number]
    if (block) block[marks.has(i) ? 'marks' : 'own'] += each
  }
  return blocks.map((block) => ({ ...block, session: parseSession(block.own) }))
}

/** Returns a function that takes a block line by line and says whether the lines so far are those of a session. */
function trackSession(): (line: string) => boolean {
  let hasHeading: boolean | undefined
  let hasFacts = false
  return (line) => {
    if (hasHeading === undefined) hasHeading = line.trim() === '' ? undefined : heading.test(line.trimStart())
    else if (hasHeading && !hasFacts) hasFacts = facts.test(line)
    return hasFacts
  }
}

const isBlank = ({ text }: Block): boolean => text.trim() === ''

function parseSession(block: string): SessionSummary | null {
  const text = block.trimStart()
  const head = heading.exec(text)
  const details = facts.exec(text)
  if (!head || !details) return null
  const [, sessionId = '', date = ''] = head
  const [line, duration = '', messages = '0', pointer = '', project] = details
  return {
    sessionId,
    date,
    duration,
    messageCount: Number(messages),
    summary: text.slice(details.index + line.length).trim(),
    archive: pointer.endsWith('.md') ? conversationKey(sessionId) : pointer,
    ...(project === undefined ? {} : { project }),
  }
}

/** @param pointer where a reader finds the archive: its file, or its key when it has none */
function printSession(session: SessionSummary, pointer: string): string {
  // A separator line in a summary, or the beginning of another session, would end the entry.
  const summary = session.summary
    .trim()
    .replace(/^---[ \t]*$/gm, '- - -')
    .replace(/^(?=## Session .+ — \S+[ \t]*$)/gm, '\\')
  const project = session.project === undefined ? '' : ` · **Project**: ${oneLine(session.project)}`
  return `${windowHeading(oneLine(session.sessionId), oneLine(session.date))}
**Duration**: ${oneLine(session.duration)} · **Messages**: ${session.messageCount} · **Archive**: ${oneLine(pointer)}${project}

${summary}
`
}

/**
 * Whether the facts of a session survive being written to the window and read back; an id of two lines would not. The
 * summary is not checked: whatever it says is kept in the form that `withSession` gives it.
 */
export function fitsWindow(session: SessionSummary): boolean {
  const read = parseSession(printSession(session, session.archive))
  return (
    read?.sessionId === session.sessionId &&
    read.date === session.date &&
    read.duration === session.duration &&
    read.project === session.project
  )
}

/**
 * The file with a session added in the order in which sessions ended, or replaced in place if it is still there.
 * Everything else stays as it was.
 *
 * The summary is for agents, who are shown the window as it is when a session starts, so it is stored and read back in
 * a safe form: surrounding blanks are trimmed, a line `---` becomes `- - -`, a backslash goes before a line that would
 * begin a session or close a note's code, and half a character becomes U+FFFD.
 */
export const withSession = (file: string, session: SessionSummary, pointer: string): string =>
  keepingLineEnds(file, (content) => withBlock(content, session, pointer))

function withBlock(content: string, session: SessionSummary, pointer: string): string {
  const written = printWithBlock(content, session, printSession(session, pointer))
  if (parseWindow(written).some((block) => block.session?.sessionId === session.sessionId)) return written
  // The note above leaves its code open: a fence in the summary would pull the session into that code.
  const summary = session.summary.replace(/^(?=[ \t]*(?:```|~~~))/gm, '\\')
  return printWithBlock(content, session, printSession({ ...session, summary }, pointer))
}

function printWithBlock(content: string, session: SessionSummary, printed: string): string {
  const blocks = parseWindow(content)
  const isEarlier = ({ session: other }: Block): boolean => other !== null && endOf(other) < endOf(session)
  const at = blocks.findIndex((block) => block.session?.sessionId === session.sessionId)
  const known = blocks[at]
  // A session that went on has moved behind those that ended meanwhile.
  if (known && blocks.slice(at + 1).some(isEarlier)) {
    const others = withoutBlocks(content, (key) => key !== sessionSummaryKey(session.sessionId))
    return printWithBlock(others ?? content, session, printed)
  }
  if (known) {
    const { own, marks } = known
    const before = own.slice(0, own.length - own.trimStart().length)
    const after = own.slice(own.trimEnd().length)
    known.text = `${before}${printed.trimEnd()}${after || '\n'}${marks}`
    return printBlocks(blocks)
  }
  const later = blocks.findIndex((block) => block.session !== null && endOf(block.session) > endOf(session))
  const next = blocks[later]
  if (next) {
    const [before = ''] = /^\s*/.exec(next.text) ?? []
    next.text = `${before}${printed}\n---\n\n${next.text.slice(before.length)}`
    return printBlocks(blocks)
  }
  const last = blocks.at(-1) as Block
  if (isBlank(last)) return `${content}${blocks.length === 1 || last.text !== '' ? '' : '\n'}${printed}`
  const gap = content.endsWith('\n\n') ? '' : content.endsWith('\n') ? '\n' : '\n\n'
  return `${content}${gap}---\n\n${printed}`
}

/** The file with the archive pointer of each session replaced by what a function returns for the current one. */
export const withPointers = (
  file: string,
  pointerOf: (sessionId: string, pointer: string) => string,
): string =>
  printBlocks(
    parseWindow(file).map((block) => {
      const { session, text } = block
      const [line, , , pointer] = (session && facts.exec(text)) ?? []
      if (!session || line === undefined || pointer === undefined) return block
      const told = `**Archive**: ${pointer}`
      const right = `**Archive**: ${oneLine(pointerOf(session.sessionId, pointer))}`
      return { ...block, text: text.replace(line, () => line.replace(told, () => right)) }
    }),
  )

/** A date that does not parse counts as the oldest. */
const endOf = ({ date }: SessionSummary): number => parseTime(date) ?? 0

/** The file with only the blocks to keep, or `null` when all are kept. */
export function withoutBlocks(content: string, keep: (key: string) => boolean): string | null {
  const blocks = parseWindow(content)
  const isKept = (block: Block): boolean =>
    block.session ? keep(sessionSummaryKey(block.session.sessionId)) : !isNote(block) || keep(windowNotesKey)
  const gone = blocks.filter((block) => !isKept(block))
  if (gone.length === 0) return null
  const [first, ...others] = blocks.flatMap((block) => {
    if (isKept(block)) return block
    return block.marks === '' ? [] : { ...block, separator: '', text: block.marks }
  })
  if (!first) return ''
  const start = first === blocks[0] ? first.text : first.text.replace(/^\s*\n/, '')
  const left = printBlocks([{ ...first, separator: '', text: start }, ...others])
  return gone.every(({ marks }) => marks === '') ? left : withoutEmptySides(left)
}

const printBlocks = (blocks: readonly Block[]): string =>
  blocks.map((block) => `${block.separator}${block.text}`).join('')

/** Session entries of the window are short-term memory; so is hand-written text, as one entry. */
export function windowEntries(content: string, { modified }: FileTimes): FileEntry[] {
  const blocks = parseWindow(content)
  const withLineEnds = lineEndsOf(content)
  const sessions = blocks.flatMap(({ session, text, line }) =>
    session ? [sessionEntry(session, text, line, { modified, withLineEnds })] : [],
  )
  const notes = notesOf(blocks)
  return notes[0] ? [...sessions, notesEntry(notes, notes[0].line, { modified, withLineEnds })] : sessions
}

interface WindowFile extends FileTimes {
  withLineEnds: (text: string) => string
}

function sessionEntry(
  found: SessionSummary,
  text: string,
  line: number,
  { modified, withLineEnds }: WindowFile,
): FileEntry {
  const session = { ...found, summary: withLineEnds(found.summary) }
  const ended = parseTime(session.date) ?? modified
  // The lines above the summary use words that every session has.
  const at = text.trimEnd().lastIndexOf(found.summary)
  return {
    ...permanent,
    key: sessionSummaryKey(session.sessionId),
    type: sessionSummaryType,
    value: session,
    text: found.summary,
    created: ended,
    updated: ended,
    line: line + linesOf(text.slice(0, Math.max(0, at))).length,
    ...(at === -1 ? { derived: true } : {}),
    fields: { ...session },
  }
}

function notesEntry(
  notes: readonly { text: string; own: string }[],
  line: number,
  { modified, withLineEnds }: WindowFile,
): FileEntry {
  const text = notes.map((note) => note.text).join('\n\n')
  return {
    ...permanent,
    key: windowNotesKey,
    type: 'note',
    value: withLineEnds(notes.map((note) => note.own).join('\n\n')),
    text,
    created: modified,
    updated: modified,
    line,
    fields: '',
  }
}

/** The handwritten texts, each from one session to the next, with the separators in them. */
function notesOf(blocks: readonly Block[]): { text: string; own: string; line: number }[] {
  const runs: Block[][] = [[]]
  for (const block of blocks) {
    if (block.session) runs.push([])
    else runs.at(-1)?.push(block)
  }
  return runs.flatMap((run) => {
    const from = run.findIndex(isNote)
    if (from === -1) return []
    const [first, ...others] = run.slice(from, run.findLastIndex(isNote) + 1) as [Block, ...Block[]]
    const text = `${first.text}${printBlocks(others)}`
    const own = `${first.own}${printBlocks(others.map((block) => ({ ...block, text: block.own })))}`
    return [{ text: text.trim(), own: own.trim(), line: first.line + blankLinesAbove(text) }]
  })
}

const blankLinesAbove = (text: string): number => linesOf(text).findIndex((each) => each.trim() !== '')

const permanent = { tags: [] as string[], ttl: null, expires: null }

/** A lone heading such as `# Ephemeral memory` is not content. */
const isTitle = (text: string): boolean => /^\s*#+(?:[ \t][^\n]*)?\s*$/.test(text)

const isNote = ({ own }: Block): boolean => own.trim() !== '' && !isTitle(own)

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
