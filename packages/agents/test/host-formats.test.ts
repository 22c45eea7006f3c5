import { expect, it } from 'vitest'
import { recogniseHost } from '../src/host-formats.ts'
import { jsonLines, readTranscript, temporaryFile } from './support.ts'

it.each([
  ['is no JSON', '# Notes'],
  ['is empty', ''],
  ['is JSON of something else', '{}'],
])('looks for the format of a host in 200 lines, also where a line %s', async (_, line) => {
  const first = jsonLines({ role: 'user', message: { content: [{ type: 'text', text: 'paint it' }] } })
  const after = (lines: number) => temporaryFile('a.jsonl', `${line}\n`.repeat(lines) + first)
  expect(await recogniseHost(await after(199))).toMatchObject({ name: expect.stringContaining('Cursor') })
  expect(await recogniseHost(await after(200))).toBe(null)
})

const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
const strange = '{"toString":null}'
const question = '{"role":"user","content":"hello"}\n'

it.each([
  ['a neutral transcript', `${question}{"role":"tool","content":${deep}}\n`],
  ['a list in a result', `${question}{"role":"tool","content":[[${deep}],{"type":${strange}}]}\n`],
  [
    'a call of Codex',
    `{"type":"response_item","payload":{"type":"function_call","name":${strange},"arguments":${deep}}}\n`,
  ],
  [
    'a call of Gemini CLI',
    `{"type":"gemini","content":"x","toolCalls":[{"name":${strange},"result":${deep}}]}\n`,
  ],
  [
    'a call of Copilot CLI',
    `{"type":"tool.execution_start","data":{"toolName":${strange},"arguments":${deep}},"id":"i"}\n`,
  ],
])('reads %s that is nested deeply or no name', async (_, text) => {
  const { turns } = await readTranscript('deep.jsonl', text)
  expect(turns.length).toBeGreaterThan(0)
})
