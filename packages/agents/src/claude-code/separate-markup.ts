import { terminalStyles } from '@recall/core/text'

/** The parts of a user line without the host's markup: what a person typed, what commands printed, what agents said. */
export interface SeparatedText {
  said: string
  outputs: string[]
  messages: string[]
}

/** Tags that the host inserts for the model: neither typed by a person nor the output of a command. */
const reminders = new Set([
  'system-reminder',
  'local-command-caveat',
  'command-message',
  'command-contents',
  'ide_opened_file',
  'ide_selection',
  'fork-boilerplate',
  'user-prompt-submit-hook',
  'mcp-resource-update',
  'mcp-polling-update',
])
const outputs = new Set(['local-command-stdout', 'local-command-stderr', 'bash-stdout', 'bash-stderr'])
/** What other agents say to this one. */
const messageTags = new Set(['teammate-message', 'cross-session-message', 'agent-message'])
const known = new Set([
  ...reminders,
  ...outputs,
  ...messageTags,
  'user-memory-input',
  'command-name',
  'command-args',
  'bash-input',
  'task-notification',
])

/** The host's report about hooks that ran at a compaction; it contains command lines, and nothing of the session. */
const hookNotes = /^(?:Pre|Post)Compact \[.*\] completed successfully(?:\n|$)/gm

/** A sentence that the host writes after a notification; it belongs to the output. */
const notificationTrailer = /^\s*Read the output file to retrieve the result: \S+[ \t]*(?:\n|$)/

/** The host's words before and after what another agent says. */
const messageLead = /(?:^|\n)Another Claude session sent a message(?: while you were working)?:\s*$/
const messageTrailer =
  /^\s*(?:This came from another Claude session|That ["“]other Claude session["”] is)[^\n]*(?:\n[^\n]+)*/
const longestTrailer = 4096
const isIdle = /^\s*\{"type":"idle_notification"/

/**
 * Removes the host's markup from a text, but never a word of the person: a tag inside a code span, an unclosed tag and
 * an unknown tag stay as they are. A slash command becomes `/name args`, a shell escape `! command`.
 */
export function separateMarkup(text: string): SeparatedText {
  if (!text.includes('<')) return { said: text, outputs: [], messages: [] }

  const findTag = createTagFinder(text)
  const parts: Parts = { kept: [], printed: [], messages: [], command: {} }
  const { kept, printed, messages, command } = parts
  let position = 0
  for (let tag = findTag(0); tag !== null; tag = findTag(position)) {
    kept.push(text.slice(position, tag.start))
    position = tag.end + putTag(tag, text.slice(tag.end, tag.end + longestTrailer), parts)
  }
  kept.push(text.slice(position))

  const rest = position === 0 ? text : kept.join('').trim()
  return {
    said: [asTyped(command), rest].filter((part) => part !== '').join('\n\n'),
    outputs: printed.map((output) => output.trim()).filter((output) => output !== ''),
    messages,
  }
}

interface Parts {
  kept: string[]
  printed: string[]
  messages: string[]
  command: { name?: string; args?: string }
}

/** Puts a tag where it belongs; returns how many characters after it the host wrote with it. */
function putTag({ name, body }: Tag, after: string, { kept, printed, messages, command }: Parts): number {
  if (name === 'command-name') command.name = body.trim()
  else if (name === 'command-args') command.args = body.trim()
  else if (name === 'bash-input') kept.push(`! ${body.trim()}`)
  else if (name === 'user-memory-input') kept.push(`# ${body.trim()}`)
  else if (name === 'local-command-stdout') printed.push(withoutHookNotes(body))
  else if (outputs.has(name)) printed.push(body)
  else if (name === 'task-notification') {
    const trailer = notificationTrailer.exec(after)?.[0] ?? ''
    printed.push([summaryOf(body), trailer.trim()].filter((part) => part !== '').join('\n'))
    return trailer.length
  } else if (messageTags.has(name)) {
    kept.push((kept.pop() ?? '').replace(messageLead, ''))
    if (!isIdle.test(body)) messages.push(body.trim())
    return messageTrailer.exec(after)?.[0].length ?? 0
  }
  return 0
}

/** For a terminal the host makes each line grey. */
const withoutHookNotes = (output: string): string => output.replace(terminalStyles, '').replace(hookNotes, '')

function asTyped({ name = '', args = '' }: { name?: string; args?: string }): string {
  const slashed = name === '' || name.startsWith('/') ? name : `/${name}`
  return [slashed, args].filter((part) => part !== '').join(' ')
}

function summaryOf(notification: string): string {
  return /<summary>([^<]*)<\/summary>/.exec(notification)?.[1] ?? notification.trim()
}

interface Tag {
  name: string
  body: string
  start: number
  end: number
}

/**
 * Returns a function that finds the next known, closed tag from a position on, skipping code spans. The last position
 * of each closing tag and fence is looked up once, so that thousands of opening tags take linear time.
 */
function createTagFinder(text: string): (from: number) => Tag | null {
  const opening = /```|`+|<([a-z][a-z_-]*)(?:\s[^<>]*)?>/g
  const lastClosing = new Map<string, number>()
  const hasClosing = (closing: string, from: number): boolean => {
    const last = lastClosing.get(closing) ?? text.lastIndexOf(closing)
    lastClosing.set(closing, last)
    return last >= from
  }

  return (from) => {
    opening.lastIndex = from
    for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
      const after = opening.lastIndex
      const name = match[1]
      if (name === undefined) {
        opening.lastIndex = endOfCode(text, match[0], after, hasClosing)
        continue
      }
      const closing = `</${name}>`
      if (!known.has(name) || !hasClosing(closing, after)) continue
      const end = text.indexOf(closing, after)
      return { name, body: text.slice(after, end), start: match.index, end: end + closing.length }
    }
    return null
  }
}

/** End of the code whose mark ends at `after`; `after` itself if it is not closed. */
function endOfCode(
  text: string,
  mark: string,
  after: number,
  hasClosing: (closing: string, from: number) => boolean,
): number {
  if (mark === '```') return hasClosing(mark, after) ? text.indexOf(mark, after) + mark.length : after
  return endOfSpan(text, mark, after)
}

/** A span ends on its line, with as many backticks as it begins with: other backticks in it are part of the code. */
function endOfSpan(text: string, mark: string, after: number): number {
  const next = /`+|\n/g
  next.lastIndex = after
  for (let match = next.exec(text); match !== null && match[0] !== '\n'; match = next.exec(text)) {
    if (match[0] === mark) return next.lastIndex
  }
  return after
}
