import { expect, it } from 'vitest'
import { jsonLines, readTranscript } from '../../test/support.ts'

const reminder =
  '<system-reminder>This is a side question from the user. You have NO tools.</system-reminder>'

/** The turns in a helper's transcript with these lines, by its person and itself in turn. */
async function turnsOf(agentId: string, ...said: unknown[]): Promise<string[]> {
  const lines = said.map((content, i) => {
    const role = i % 2 === 0 ? 'user' : 'assistant'
    const message = { role, content }
    return { type: role, uuid: `u${i}`, sessionId: 's1', agentId, isSidechain: true, message }
  })
  return (await readTranscript(`agent-${agentId}.jsonl`, jsonLines(...lines))).turns
}

it.each([
  ['aprompt_suggestion-33a4cf', '[SUGGESTION MODE: Suggest what the user might naturally type]'],
  ['asession_memory-1a2b3c', 'Update the notes'],
])('finds nothing in %s, which the host started for itself', async (agentId, request) => {
  expect(await turnsOf(agentId, 'why does the pool leak?', 'It never closes.', request, 'done')).toEqual([])
})

it('reads of a compaction the summary, not the recipe for it and what was copied before', async () => {
  const recipe = 'Answer in text only. Your task is to create a detailed summary of the conversation so far.'
  for (const copied of [[], ['why does the pool leak?', 'It never closes.']]) {
    const turns = await turnsOf('acompact-fffbd0', ...copied, recipe, '<summary>The pool leaked.</summary>')
    expect(turns).toEqual(['assistant: <summary>The pool leaked.</summary>'])
  }
})

it('reads of a side question the question and its answer, not the session that was copied before them', async () => {
  const asked = [`${reminder}\n\nwhich port was it?`, '5432']
  const turns = ['user: which port was it?', 'assistant: 5432']
  const copied = ['why does the pool leak?', 'Ask me about the side question later.']
  expect(await turnsOf('aside_question-94d264', ...copied, ...asked)).toEqual(turns)
  expect(await turnsOf('aside_question-94d264', ...asked)).toEqual(turns)
  const blocks = [{ type: 'text', text: asked[0] }]
  expect(await turnsOf('aside_question-94d264', ...copied, blocks, '5432', 'and which host?', 'db1')).toEqual(
    [...turns, 'user: and which host?', 'assistant: db1'],
  )
})

it('finds nothing in a helper that was only made ready', async () => {
  expect(await turnsOf('a77', 'Warmup', 'I am ready to look around.')).toEqual([])
  expect(await turnsOf('a77', [{ type: 'text', text: 'Warmup' }], 'I am ready.')).toEqual([])
  expect(await turnsOf('a77', 'Warmup exercises: list three', 'One.')).toHaveLength(2)
  expect(await turnsOf('a77', 'list three exercises', 'One.', 'Warmup', 'Two.')).toHaveLength(4)
})
