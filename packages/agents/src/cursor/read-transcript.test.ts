import { expect, it } from 'vitest'
import { jsonLines, messagesOf, temporaryFile } from '../../test/support.ts'
import { openTranscript } from '../open-transcript.ts'

const line = (role: string, ...texts: string[]) => ({
  role,
  message: { content: texts.map((text) => ({ type: 'text', text })) },
})

async function read(...lines: unknown[]) {
  const conversation = await openTranscript(await temporaryFile('s1.jsonl', jsonLines(...lines)))
  const messages = await messagesOf(conversation)
  const said = messages.map(({ role, content, at }) => [
    role,
    ...content.map((block) => ('text' in block ? block.text : block.type)),
    ...(at ? [at] : []),
  ])
  return { conversation, said }
}

it('reads what was typed, without what the host put around it, and when', async () => {
  const { conversation, said } = await read(
    line(
      'user',
      '<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>\n<user_query>\nwhy does\nit leak?\n</user_query>',
    ),
    line('assistant', 'It never closes.\n\n[REDACTED]'),
    { type: 'turn_ended', status: 'success' },
    line('user', '<user_query>fix it</user_query>\n[Image]'),
    { role: 'assistant', message: { content: [{ type: 'tool_use', name: 'Write', input: {} }] } },
    line('assistant', '[REDACTED]'),
    { type: 'turn_ended', status: 'error', error: 'aborted' },
    { type: 'brand_new' },
  )
  expect(said).toEqual([
    ['user', 'why does\nit leak?', '2026-09-03T18:21:00.000Z'],
    ['assistant', 'It never closes.'],
    ['user', 'fix it'],
    ['assistant', 'tool_use'],
  ])
  expect(conversation).toMatchObject({
    sessionId: 's1',
    facts: { skipped: { 'line that is not a message': 1 } },
  })
})

it('keeps every word of a prompt that is not marked, and of one about the marks', async () => {
  const about = 'what is `<user_query>x` with\n</user_query>\nfor?'
  const { said } = await read(
    line('user', about),
    line('assistant', 'ok'),
    line('user', `<user_query>\n${about}\n</user_query>`),
    line('user', '<timestamp>Wed, May 6, 2026, 10:00 AM</timestamp>\n<user_query>\nno zone\n</user_query>'),
  )
  expect(said).toEqual([
    ['user', about],
    ['assistant', 'ok'],
    ['user', about],
    ['user', 'no zone'],
  ])
})
