import { expect, it } from 'vitest'
import { toBlocks } from './to-blocks.ts'

function read(content: unknown, role: 'user' | 'assistant' | 'tool' = 'assistant') {
  const skipped: string[] = []
  const blocks = toBlocks({ author: { role, name: 'browser' }, content }, role, (kind) => skipped.push(kind))
  return { blocks, skipped }
}

it.each(['user_editable_context', 'model_editable_context', 'reasoning_recap'])(
  'leaves out what the service inserts: %s',
  (content_type) => {
    expect(read({ content_type, parts: ['You like brevity.'] })).toEqual({ blocks: [], skipped: [] })
  },
)

it('keeps what the model thought, in short where that is all there is', () => {
  const thoughts = [
    { content: 'The pool has a leak.', summary: 'A leak' },
    { content: '', summary: 'Looking on' },
    { content: '' },
    null,
  ]
  expect(read({ content_type: 'thoughts', thoughts }).blocks).toEqual([
    { type: 'thinking', text: 'The pool has a leak.' },
    { type: 'thinking', text: 'Looking on' },
  ])
  expect(read({ content_type: 'thoughts', thoughts: 'none' })).toEqual({ blocks: [], skipped: [] })
})

it('keeps a kind that it does not know as what a tool answered, and else only counts it', () => {
  const content = { content_type: 'tether_quote', text: 'High at noon.' }
  expect(read(content, 'tool').blocks).toEqual([
    { type: 'tool_result', toolUseId: 'browser', content: 'High at noon.' },
  ])
  expect(read(content)).toEqual({ blocks: [], skipped: ['unrecognised content block'] })
})

it('reads the texts of parts, and counts parts that it does not know', () => {
  const parts = [
    'spoken: ',
    { content_type: 'audio_transcription', text: 'hello' },
    { content_type: 'audio' },
    '',
  ]
  expect(read({ content_type: 'multimodal_text', parts }, 'user')).toEqual({
    blocks: [{ type: 'text', text: 'spoken: \nhello' }],
    skipped: ['unrecognised content block'],
  })
})
