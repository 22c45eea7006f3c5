import { expect, it } from 'vitest'
import { jsonLines, readTranscript } from './support.ts'

it('tells by the kinds of its parts what Codex itself put into a message', async () => {
  const said = (texts: string[], kinds: string[]) => ({
    timestamp: '2026-11-20T09:00:00Z',
    type: 'response_item',
    payload: {
      type: 'message',
      role: 'user',
      content: texts.map((text) => ({ type: 'input_text', text })),
      internal_chat_message_metadata_passthrough: { content_item_kinds: kinds },
    },
  })
  const { turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      { timestamp: 't', type: 'session_meta', payload: { id: 'c1' } },
      said(['Rules of the house', 'linux'], ['agents_md.instructions', 'environments.environment_context']),
      said(['<skill> is a tag that I like'], ['user.text']),
      said(['use the skill', 'text of the skill'], ['user.text', 'skills.selected_skill_instructions']),
      said(['<recommended_plugins>\n- GitHub\n</recommended_plugins>'], ['plugins.recommended']),
      said(['A kind that nobody knows.'], ['novelties.first']),
    ),
  )
  expect(turns).toEqual([
    'user: <skill> is a tag that I like',
    'user: use the skill',
    'assistant: (result) A kind that nobody knows.',
  ])
})

const ide = '# Context from my IDE setup:\n\n## Active file: src/pay.ts\n\n'
const files = '# Files mentioned by the user:\n\n## spec.txt: /home/ana/spec.txt\n\n'
const page = '<in-app-browser-context source="ambient-ui-state">\nTabs: 2\n</in-app-browser-context>\n'
const reply = (json: string): string =>
  `<send_user_message_question_reply>\n${json}\n</send_user_message_question_reply>`

it.each([
  ['below what is open', `${ide}## My request for Codex:\nadd a retry\n`, 'add a retry'],
  ['above the files that it is about', `${files}## My request:\nread it`, `read it\n\n${files.trim()}`],
  ['without what is open', `${ide}${files}## My request for Codex:\nread it`, `read it\n\n${files.trim()}`],
  ['behind the page that is open', `${page}## My request for Codex:\nwhy is it blue?`, 'why is it blue?'],
  ['behind a page, without a heading', `${page}why is it blue?`, 'why is it blue?'],
  ['in no app', 'Rename it.\n\n## My request for Codex:\nis a heading', undefined],
  ['as a quotation', `What is this?\n\n${ide}`, undefined],
  ['about files, without a heading', `${files}read it`, `${files}read it`],
  [
    'to questions',
    reply('[{"question":"Which port?","answer":"5432"},{"answer":"Go on."}]'),
    'Which port?\n5432\n\nGo on.',
  ],
  ['to questions, damaged', reply('[{"question":'), undefined],
])('reads what a person typed in Codex: %s', async (_, text, typed = text) => {
  const { turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines({
      timestamp: 't',
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    }),
  )
  expect(turns).toEqual([`user: ${typed}`])
})

it.each([
  page,
  '<app-context>The app.</app-context>',
  '<recommended_plugins>\n- GitHub\n</recommended_plugins>',
])('finds nothing typed in %s', async (text) => {
  const content = [{ type: 'input_text', text }]
  const { turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines({ timestamp: 't', type: 'response_item', payload: { type: 'message', role: 'user', content } }),
  )
  expect(turns).toEqual([])
})

it('leaves out the tags that Codex puts around an image', async () => {
  const said = (...content: unknown[]) => ({
    timestamp: '2026-11-20T09:00:00Z',
    type: 'response_item',
    payload: { type: 'message', role: 'user', content },
  })
  const typed = (text: string) => ({ type: 'input_text', text })
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' }
  const { turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      said(
        typed('<image name=[Image #1] path="/a.png">'),
        image,
        typed('</image>'),
        typed('[Image #1] a leak?'),
      ),
      said(typed('<image>'), typed('</image>')),
    ),
  )
  expect(turns).toEqual(['user: [image] | [Image #1] a leak?', 'user: <image> | </image>'])
})

it('reads a command that a person ran in Codex, and which calls failed there', async () => {
  const line = (type: string, payload: unknown) => ({ timestamp: '2026-11-20T09:00:00Z', type, payload })
  const ran =
    '<user_shell_command>\n<command>\nnpm test\n</command>\n<result>\nExit code: 0\nOutput:\n3 passed\n\n</result>\n</user_shell_command>'
  const item = (id: string, status: string) => ({
    type: 'item_completed',
    item: { type: 'McpToolCall', id, status },
  })
  const output = (id: string) =>
    line('response_item', { type: 'function_call_output', call_id: id, output: id })
  const { turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      line('session_meta', { id: 'c1' }),
      line('response_item', {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: ran }],
      }),
      line('event_msg', item('refused', 'failed')),
      output('refused'),
      line('event_msg', item('allowed', 'completed')),
      output('allowed'),
      line('event_msg', item('declined', 'declined')),
      output('declined'),
      line('event_msg', { type: 'item_started', item: { id: 'begun', status: 'failed' } }),
      line('turn_context', item('copied', 'failed')),
      line('event_msg', { type: 'exec_command_begin', call_id: 'begun', exit_code: 1 }),
      line('event_msg', { type: 'exec_command_end', call_id: 'begun', exit_code: null }),
      line('event_msg', { type: 'exec_command_end', exit_code: 1 }),
      line('event_msg', { type: 'item_completed', item: null }),
      output('begun'),
      output('copied'),
      line('response_item', { type: 'function_call_output', output: 'of no call' }),
    ),
  )
  expect(turns).toEqual([
    'user: ! npm test',
    'assistant: (result) Exit code: 0\nOutput:\n3 passed',
    'assistant: (result, failed) refused',
    'assistant: (result) allowed',
    'assistant: (result, failed) declined',
    'assistant: (result) begun',
    'assistant: (result) copied',
    'assistant: (result) of no call',
  ])
})

it('reads what Codex said in the place of a person as output', async () => {
  const said = (role: string, text: string, kind: string) => ({
    timestamp: 't',
    type: 'response_item',
    payload: {
      type: 'message',
      role,
      content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
      internal_chat_message_metadata_passthrough: { content_item_kinds: [kind] },
    },
  })
  const notification = '<subagent_notification>\n{"status":{"completed":"Hi."}}\n</subagent_notification>'
  const goOn = '<hook_prompt hook_run_id="stop:0">Run the linter.</hook_prompt>'
  const { turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      said('user', 'ask a helper', 'user.text'),
      said('user', notification, 'multi_agent.subagent_notification'),
      said('assistant', 'It says hi.', 'unknown'),
      said('user', '<skill> is a tag that I like', 'user.text'),
      said('user', goOn, 'unknown'),
      said('assistant', 'Done.', 'unknown'),
    ),
  )
  expect(turns).toEqual([
    'user: ask a helper',
    `assistant: (result) ${notification}`,
    'assistant: It says hi.',
    'user: <skill> is a tag that I like',
    `assistant: (result) ${goOn}`,
    'assistant: Done.',
  ])
})
