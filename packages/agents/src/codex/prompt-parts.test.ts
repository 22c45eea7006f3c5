import { expect, it } from 'vitest'
import { readPromptParts } from './prompt-parts.ts'

const typedOf = (text: string, kind?: string): number => {
  const about = kind === undefined ? undefined : { content_item_kinds: [kind] }
  const content = [{ type: 'input_text', text }]
  return readPromptParts({ content, internal_chat_message_metadata_passthrough: about }, () => {}).typed
    .length
}

it.each([
  '<environment_context>linux</environment_context>',
  '\n<user_instructions>\nbe good',
  '<permissions instructions>',
  '<turn_aborted>\nthe person interrupted',
  '<skill>\n<name>deploy',
  '<recommended_plugins>\n- GitHub',
  '<app-context>The app.',
  '# AGENTS.md instructions for /home/ana/api',
  '<subagent_notification>done',
  ' <hook_prompt>go on',
  '<codex_internal_context>',
  '<GOAL_CONTEXT>',
  '<external_notes>x</external_notes>',
  'Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.',
  'Warning: The maximum number of unified exec processes you can keep open is 60',
  'Warning: Your account was flagged for potentially high-risk cyber activity',
])('takes for no words of a person: %j', (text) => {
  expect(typedOf(text)).toBe(0)
  expect(typedOf(text, 'user.text')).toBe(1)
})

it.each([
  'What does <environment_context> mean?',
  'I read: <hook_prompt>',
  '<skills> is a tag of mine',
  'See # AGENTS.md instructions',
  'Warning: this is what I see. Why?',
])('takes for words of a person: %j', (text) => {
  expect(typedOf(text)).toBe(1)
})

it.each([
  ['agents_md.project', 0],
  ['environments.local', 0],
  ['hooks.stop', 0],
  ['host_skills.list', 0],
  ['permissions.sandbox', 0],
  ['skill.deploy', 0],
  ['skills.list', 0],
  ['subagent.answer', 0],
  ['subagents.answer', 0],
  ['multi_agent.answer', 0],
  ['plugins.recommended', 0],
  ['my.skills.list', 0],
  ['user.text', 1],
  ['user_shell.command', 1],
  ['images.unsupported', 1],
  ['unknown', 1],
  ['', 1],
])('counts what is named %s as words of a person or not', (kind, count) => {
  expect(typedOf('fix it', kind)).toBe(count)
})

it('reads a message that is a mere text', () => {
  expect(readPromptParts({ content: 'fix it' }, () => {}).typed).toEqual([{ type: 'text', text: 'fix it' }])
  const framed =
    '# Context from my IDE setup:\r\n\r\n## Active file: a.ts\r\n\r\n## My request for Codex:\r\nfix it'
  expect(readPromptParts({ content: framed }, () => {}).typed).toEqual([{ type: 'text', text: 'fix it' }])
  expect(readPromptParts({ content: 7 }, () => {}).typed).toEqual([])
})
