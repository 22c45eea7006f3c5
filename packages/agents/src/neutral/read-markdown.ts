import type { ConversationFacts, Message } from '@recall/core'
import { createMessageIds } from '../message-ids.ts'
import { readLines } from '../read-lines.ts'
import { countInto, skippedKinds } from '../skipped.ts'
import { toSpeakerLabel } from './speaker-labels.ts'

/** Lines within which the first speaker must occur. */
const headLines = 400

/** Whether a markdown file names a speaker near its beginning. */
export async function hasSpeakers(path: string): Promise<boolean> {
  const open = trackFence()
  for await (const line of readLines(path)) {
    if (line.number > headLines) return false
    if (!open(line.text ?? '') && toSpeakerLabel(line.text ?? '') !== null) return true
  }
  return false
}

/** The turns of a markdown transcript, one held at a time. */
export async function* readMarkdownMessages(
  path: string,
  facts: ConversationFacts,
): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const open = trackFence()
  let style: string | null = null
  const idOf = createMessageIds()
  let turn: { role: Message['role']; lines: string[] } | null = null

  for await (const line of readLines(path)) {
    if (line.text === null) {
      skip(skippedKinds.tooLong)
      continue
    }
    if (line.damaged) skip(skippedKinds.invalidUtf8)
    const label = open(line.text) ? null : toSpeakerLabel(line.text)
    if (label !== null && (style === null || label.style === style)) {
      style = label.style
      if (turn !== null) yield* toMessage(turn, idOf)
      turn = { role: label.role, lines: [label.rest] }
    } else if (turn !== null) turn.lines.push(line.text)
    else if (line.text.startsWith('# ')) facts.title ??= line.text.slice(2).trim()
    else if (line.text.trim() !== '') skip('line before the first speaker')
  }
  if (turn !== null) yield* toMessage(turn, idOf)
}

function* toMessage(
  { role, lines }: { role: Message['role']; lines: string[] },
  idOf: (said: unknown) => string,
): Generator<Message, void> {
  const text = lines.join('\n').trim()
  if (text !== '') yield { id: idOf([role, text]), role, content: [{ type: 'text', text }] }
}

/** Returns a function that tells, line by line, whether a line belongs to a fenced code block, fences included. */
function trackFence(): (line: string) => boolean {
  let fence: string | null = null
  return (line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === null) {
      if (mark === undefined) return false
      fence = mark
      return true
    }
    if (mark?.startsWith(fence) && line.trim() === mark) fence = null
    return true
  }
}
