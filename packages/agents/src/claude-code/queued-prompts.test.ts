import { expect, it } from 'vitest'
import { jsonLines, messagesOf, temporaryFile } from '../../test/support.ts'
import { readClaudeCodeTranscript } from './read-transcript.ts'

const text = 'what is on it? [Image #1]'
const operation = (name: string, content?: string) => ({
  type: 'queue-operation',
  operation: name,
  sessionId: 's1',
  content,
})
const content = [{ type: 'text', text }, { type: 'image' }, { type: 'document' }]
const attachment = {
  type: 'attachment',
  uuid: 'q1',
  attachment: { type: 'queued_command', prompt: content },
}
const turn = { type: 'user', uuid: 'u1', message: { role: 'user', content } }

it.each([
  ['by an attachment after it left the queue', [operation('remove'), attachment]],
  ['by an attachment before it left the queue', [attachment, operation('remove')]],
  ['as the next turn', [operation('dequeue'), turn, operation('remove')]],
])('reads a queued prompt with a picture exactly once when it is logged %s', async (_, logged) => {
  const path = await temporaryFile('session.jsonl', jsonLines(operation('enqueue', text), ...logged))
  const conversation = await readClaudeCodeTranscript(path)
  const messages = await messagesOf(conversation)
  expect(messages.flatMap((message) => message.content)).toEqual([
    { type: 'text', text },
    { type: 'text', text: '[image]' },
    { type: 'text', text: '[document]' },
  ])
  expect(messages.every(({ role }) => role === 'user')).toBe(true)
  expect(conversation.facts.skipped).toEqual({})
})
