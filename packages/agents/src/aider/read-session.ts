import { basename, dirname, resolve } from 'node:path'
import { type Conversation, MemoryError, MemoryErrorCode, type Message } from '@recall/core'
import { createMessageIds } from '../reading/message-ids.ts'
import { outputBlock } from '../reading/messages.ts'
import { readLines } from '../reading/read-lines.ts'
import { countInto, type Skip, skippedKinds } from '../reading/skipped.ts'
import { type ListedAiderSession, listAiderSessions } from './list-sessions.ts'
import { turnsOf } from './turns.ts'

/** Largest session: its lines are held in memory as a whole, because only what follows tells where code ends. */
const mostSessionLength = 64 * 1024 * 1024

/**
 * Reads one session out of a log of Aider. Every message has the time of the session's start: the log has no other.
 *
 * @throws MemoryError NOT_FOUND when the log has no session of this id, INVALID_INPUT when the file is no log
 */
export async function readAiderSession(path: string, id: string): Promise<Conversation> {
  const sessions = await listAiderSessions(path)
  const session = sessions?.get(id)
  if (session === undefined) {
    const [problem, code] =
      sessions === null
        ? ['is not a log of Aider', MemoryErrorCode.INVALID_INPUT]
        : [`has no session ${id}`, MemoryErrorCode.NOT_FOUND]
    throw new MemoryError(`${path} ${problem}`, code, { details: { path } })
  }
  const skipped: Record<string, number> = {}
  const isInPlace = basename(path) === '.aider.chat.history.md'
  return {
    sessionId: id,
    // In another log, a session may have begun in the same second.
    isNamedByFile: true,
    facts: { skipped, ...(isInPlace ? { project: dirname(resolve(path)) } : {}) },
    messages: readMessages(path, session, countInto(skipped)),
  }
}

/** What was put out before anybody said anything belongs to the first message; without one, nothing is left of it. */
async function* readMessages(
  path: string,
  session: ListedAiderSession,
  skip: Skip,
): AsyncGenerator<Message, void> {
  const { at } = session
  const outputOf = (id: string, content: string): Message => ({
    id,
    role: 'assistant',
    content: [outputBlock(content)],
    at,
  })
  const idOf = createMessageIds()
  const before: string[] = []
  let isBegun = false
  for (const { kind, text } of turnsOf(await linesOf(path, session, skip))) {
    if (!isBegun && kind === 'output') {
      before.push(text)
      continue
    }
    const told = before.splice(0).join('\n')
    // Sessions of other folders may begin with the same prompt in the same second.
    if (told !== '') idOf(['output', told])
    const id = idOf([kind, text])
    if (told !== '') yield outputOf(`${id}#before`, told)
    isBegun = true
    if (kind === 'output') yield outputOf(id, text)
    else yield { id, role: kind === 'prompt' ? 'user' : 'assistant', content: [{ type: 'text', text }], at }
  }
}

/** The lines of a session after the one with which it begins. */
async function linesOf(path: string, { start, end }: ListedAiderSession, skip: Skip): Promise<string[]> {
  const lines: string[] = []
  let length = 0
  for await (const { number, text, damaged } of readLines(path, { part: { start, end } })) {
    if (number === 1) continue
    if (text === null) skip(skippedKinds.tooLong)
    else lines.push(text)
    if (damaged) skip(skippedKinds.invalidUtf8)
    length += text?.length ?? 0
    if (length > mostSessionLength) {
      throw new MemoryError(`${path}: a session in it has more than 64 MB`, MemoryErrorCode.INVALID_INPUT, {
        details: { path },
      })
    }
  }
  return lines
}
