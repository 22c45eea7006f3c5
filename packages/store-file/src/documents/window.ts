import { conversationKey, type SessionSummary, sessionSummaryKey, sessionSummaryType } from '@recall/core'
import { type FileEntry, type FileTimes, parseTime } from './file-entry.ts'

/** Text of EPHEMERAL.md that is not a session entry: what a person or an agent wrote by hand. */
export const windowNotesKey = 'EPHEMERAL.md#notes'

const separator = /^---[ \t]*\r?\n?$/
const heading = /^## Session (.+?) — (\S+)[ \t]*\r?\n/
const facts = /^\*\*Duration\*\*: (.*?) · \*\*Messages\*\*: (\d+) · \*\*Archive\*\*: (.*?)[ \t]*\r?$/m

/** A block between two separator lines. */
interface Block {
  text: string
  line: number
  session: SessionSummary | null
}

/** Splits EPHEMERAL.md at its `---` lines; blocks that are no session entries are kept as they are. */
export function parseWindow(content: string): Block[] {
  const blocks: Block[] = []
  let text = ''
  let start = 1
  let line = 0
  const close = (): void => {
    if (text.trim() !== '') blocks.push({ text, line: start, session: parseSession(text) })
    text = ''
    start = line + 1
  }
  for (const each of content.split(/(?<=\n)/)) {
    line++
    if (separator.test(each)) close()
    else text += each
  }
  line++
  close()
  return blocks
}

function parseSession(block: string): SessionSummary | null {
  const text = block.trimStart()
  const head = heading.exec(text)
  const details = facts.exec(text)
  if (!head || !details) return null
  const [, sessionId = '', date = ''] = head
  const [line, duration = '', messages = '0', pointer = ''] = details
  return {
    sessionId,
    date,
    duration,
    messageCount: Number(messages),
    summary: text.slice(details.index + line.length).trim(),
    archive: pointer.endsWith('.md') ? conversationKey(sessionId) : pointer,
  }
}

/** @param pointer where a reader finds the archive: its file, or its key when it has none */
export function printSession(session: SessionSummary, pointer: string): string {
  // A separator line inside a summary would end the entry.
  const summary = session.summary.trim().replace(/^---[ \t]*$/gm, '- - -')
  return `## Session ${oneLine(session.sessionId)} — ${oneLine(session.date)}
**Duration**: ${oneLine(session.duration)} · **Messages**: ${session.messageCount} · **Archive**: ${oneLine(pointer)}

${summary}
`
}

/** The file with a session added at the end, or replaced where it stands. */
export function withSession(content: string, session: SessionSummary, pointer: string): string {
  const printed = printSession(session, pointer)
  const blocks = parseWindow(content)
  const known = blocks.findIndex((block) => block.session?.sessionId === session.sessionId)
  if (known < 0) return printBlocks([...blocks.map(({ text }) => text), printed])
  return printBlocks(blocks.map(({ text }, i) => (i === known ? printed : text)))
}

/** The file without the blocks that are not to be kept, or `null` when all are kept. */
export function withoutBlocks(content: string, keep: (key: string) => boolean): string | null {
  const blocks = parseWindow(content)
  const kept = blocks.filter(({ session }) =>
    keep(session ? sessionSummaryKey(session.sessionId) : windowNotesKey),
  )
  return kept.length === blocks.length ? null : printBlocks(kept.map(({ text }) => text))
}

const printBlocks = (blocks: string[]): string =>
  blocks.map((text) => `${text.replace(/^\s*\n/, '').trimEnd()}\n`).join('\n---\n\n')

/** Session entries of the window are short-term memory; so is hand-written text, as one entry. */
export function windowEntries(content: string, { modified }: FileTimes): FileEntry[] {
  const blocks = parseWindow(content)
  const entries: FileEntry[] = []
  for (const { session, text, line } of blocks) {
    if (!session) continue
    const ended = parseTime(session.date) ?? modified
    entries.push({
      ...permanent,
      key: sessionSummaryKey(session.sessionId),
      type: sessionSummaryType,
      value: { ...session },
      text: text.trim(),
      created: ended,
      updated: ended,
      line,
      fields: { ...session },
    })
  }
  const notes = blocks.filter(({ session, text }) => !session && !isTitle(text))
  const [first] = notes
  if (first) {
    const text = notes.map((note) => note.text.trim()).join('\n\n')
    const { line } = first
    entries.push({
      ...permanent,
      key: windowNotesKey,
      type: 'note',
      value: text,
      text,
      created: modified,
      updated: modified,
      line,
      fields: '',
    })
  }
  return entries
}

const permanent = { tags: [] as string[], ttl: null, expires: null }

/** A lone heading such as `# Ephemeral memory` says nothing. */
const isTitle = (text: string): boolean => /^\s*#[^\n]*\s*$/.test(text)

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
