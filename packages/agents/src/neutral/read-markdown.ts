import type { ConversationFacts, Message } from '@recall/core'
import { trackFence } from '@recall/core/text'
import { createMessageIds } from '../reading/message-ids.ts'
import { type Line, readLines } from '../reading/read-lines.ts'
import { countInto, skippedKinds } from '../reading/skipped.ts'
import { plainStyle, type SpeakerLabel, toSpeakerLabel } from './speaker-labels.ts'

/**
 * Whether a markdown file is a conversation: a user and an assistant speak, in labels of one style. If more than a
 * title comes before the labels, they must be headings or bold, and both must speak again: in any other file a line
 * such as `Model: T3` does not name a speaker.
 */
export async function hasSpeakers(path: string): Promise<boolean> {
  const turns = { user: 0, assistant: 0 }
  let style: string | null = null
  let isTitled = false
  let fewest = 1
  for await (const { text, label, isFrontMatter } of labelledLines(path)) {
    if (label !== null && (style === null || label.style === style)) {
      style = label.style
      if (fewest > 1 && style === plainStyle) return false
      turns[label.role]++
      if (Math.min(turns.user, turns.assistant) >= fewest) return true
    } else if (style === null && !isFrontMatter && saysSomething(text)) {
      if (isTitled || !isTitle(text)) fewest = 2
      isTitled = true
    }
  }
  return false
}

/** The turns of a markdown transcript, one held at a time. */
export async function* readMarkdownMessages(
  path: string,
  facts: ConversationFacts,
): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  let style: string | null = null
  const idOf = createMessageIds()
  let turn: { role: Message['role']; lines: string[] } | null = null

  for await (const { text, damaged, label, isFrontMatter } of labelledLines(path)) {
    if (text === null) {
      skip(skippedKinds.tooLong)
      continue
    }
    if (damaged) skip(skippedKinds.invalidUtf8)
    if (label !== null && (style === null || label.style === style)) {
      style = label.style
      if (turn !== null) yield* toMessage(turn, idOf)
      turn = { role: label.role, lines: [label.rest] }
    } else if (turn !== null) turn.lines.push(text)
    else if (isTitle(text) && !isFrontMatter) facts.title ??= text.slice(2).trim()
    else if (saysSomething(text)) skip('line before the first speaker')
  }
  if (turn !== null) yield* toMessage(turn, idOf)
}

const isTitle = (text: string | null): boolean => text?.startsWith('# ') === true

/** Whether a line is neither blank nor a rule; true for a line over the size limit. */
const saysSomething = (text: string | null): boolean => !/^\s*(?:-{3,}\s*)?$/.test(text ?? 'too long')

interface LabelledLine extends Line {
  /** Lines of fenced code and front matter have none; code may begin after a label. */
  label: SpeakerLabel | null
  isFrontMatter: boolean
}

/** Returns a function that takes a text line by line and tells which lines begin with a speaker's label. */
function createLabelTracker(): (line: string) => SpeakerLabel | null {
  const partOfCode = trackFence()
  let isInCode = false
  return (line) => {
    const label = toSpeakerLabel(line)
    const wasInCode = isInCode
    const part = partOfCode(wasInCode || !label ? line : label.rest)
    isInCode = part === 'opening' || part === 'code'
    return wasInCode && part !== null ? null : label
  }
}

async function* labelledLines(path: string): AsyncGenerator<LabelledLine, void> {
  const labelOf = createLabelTracker()
  let beginsWithRule = false
  let isFrontMatter = false
  for await (const line of readLines(path)) {
    const text = line.text ?? ''
    const isRule = text.trimEnd() === '---'
    if (line.number === 1) beginsWithRule = isRule
    // A conversation may begin with a rule as well.
    if (line.number === 2) isFrontMatter = beginsWithRule && /^[\w-]+:/.test(text)
    yield { ...line, label: isFrontMatter ? null : labelOf(text), isFrontMatter }
    if (isRule) isFrontMatter = false
  }
}

function* toMessage(
  { role, lines }: { role: Message['role']; lines: string[] },
  idOf: (said: unknown) => string,
): Generator<Message, void> {
  const text = lines.join('\n').trim()
  if (text !== '') yield { id: idOf([role, text]), role, content: [{ type: 'text', text }] }
}
