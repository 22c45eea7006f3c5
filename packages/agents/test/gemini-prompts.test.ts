import { expect, it } from 'vitest'
import { jsonLines, readTranscript } from './support.ts'

const header = { sessionId: 'g1', projectHash: 'f' }
let made = 0
const message = (type: string, text: string, more: object = {}) => ({
  id: `m${++made}`,
  type,
  timestamp: '2026-11-20T09:00:00Z',
  content: [{ text }],
  ...more,
})
const turnsOf = async (...lines: unknown[]) =>
  (await readTranscript('session.jsonl', jsonLines(header, ...lines))).turns

it.each([
  `Here is the user's editor context as a JSON object. This is for your information only.\n\`\`\`json\n{}\n\`\`\``,
  `Here is a summary of changes in the user's editor context, in JSON format. This is for your information only.\n\`\`\`json\n{}\n\`\`\``,
  '- **Workspace Directories:**\n  - /home/dev/api\n- **Directory Structure:**\n\nsrc',
])('takes for no words of a person what Gemini CLI tells the model of where they work: %j', async (text) => {
  expect(await turnsOf(message('user', text), message('user', 'hello'), message('gemini', 'hi'))).toEqual([
    'user: hello',
    'assistant: hi',
  ])
  expect(await turnsOf(message('user', `What is this?\n${text}`))).toEqual([`user: What is this?\n${text}`])
})

it('finds what was typed while Gemini CLI worked among the words of the host', async () => {
  const typed = (lead: string, hint: string) =>
    `${lead}:\n<user_input>\n${hint}\n</user_input>\nInternal instruction: Re-evaluate the active plan.`
  const answer = { functionResponse: { id: 'c', response: { output: 'a.txt' } } }
  const steering = { content: [answer, { text: typed('User steering update', 'skip the tests') }] }
  expect(
    await turnsOf(
      message('user', '', steering),
      message('user', typed('User hints', '- be quick\n- and short')),
      message('gemini', 'I skip them.'),
    ),
  ).toEqual(['user: skip the tests', 'user: - be quick\n- and short', 'assistant: I skip them.'])
})

it.each([
  'System: Potential loop detected. Details: Repetitive patterns identified. Please take a step back.',
  'User has manually exited Plan Mode. Switching to YOLO mode (all tool calls auto-approved).',
  'Background execution update:\n<background_output>\ndone\n</background_output>\n\nA previously backgrounded …',
])('takes what Gemini CLI says in the place of a person for output: %j', async (text) => {
  expect(await turnsOf(message('user', 'go'), message('user', text), message('gemini', 'hm'))).toEqual([
    'user: go',
    `assistant: (result) ${text}`,
    'assistant: hm',
  ])
})

it('reads a prompt once when Gemini CLI shows it again with what lets the agent go on', async () => {
  const go = { displayContent: [{ text: 'fix it' }] }
  const command = { displayContent: [{ text: '/fix' }] }
  expect(
    await turnsOf(
      message('user', 'hello'),
      message('user', 'fix it'),
      message('gemini', 'Done.'),
      message('user', '', { content: [{ functionResponse: { id: 'c', response: { output: 'x' } } }] }),
      message('user', 'The tests fail.', go),
      message('gemini', 'Fixed.'),
      message('user', 'Please continue.', go),
      message('user', 'fix it'),
      message('user', 'fix it\n<the file>', go),
      message('user', 'Fix the branch a.', command),
      message('user', 'Fix the branch b.', command),
    ),
  ).toEqual([
    'user: hello',
    'user: fix it',
    'assistant: Done.',
    'assistant: (result) x',
    'assistant: (result) The tests fail.',
    'assistant: Fixed.',
    'assistant: (result) Please continue.',
    'user: fix it',
    'user: fix it',
    'user: /fix',
    'user: /fix',
  ])
})
