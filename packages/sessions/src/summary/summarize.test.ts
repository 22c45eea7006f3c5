import type { LmProvider } from '@recall/core'
import { expect, it, vi } from 'vitest'
import { fakeLm, lmAnswer } from '../../test/support.ts'
import { condensedLength, type SpokenTurn } from './condense.ts'
import { summarize } from './summarize.ts'

const turns: SpokenTurn[] = [
  { role: 'user', text: '## Please fix\nthe postgres pool leak' },
  { role: 'assistant', text: 'The pool in postgres never closes. We decided to use pgbouncer.' },
]

it('asks the model for JSON about a condensed conversation', async () => {
  const lm = fakeLm(lmAnswer('Fixed the leak.'))
  const long = Array.from({ length: 500 }, (): SpokenTurn => ({ role: 'user', text: 'words '.repeat(100) }))
  expect(await summarize(long, { lm })).toEqual({
    summary: 'Fixed the leak.',
    topics: ['auth', 'jwt'],
    decisions: ['Use JWT for auth'],
    actionItems: ['Rotate the keys'],
    summarizedBy: 'fake/model',
  })
  expect(lm.prompts[0]?.length).toBeLessThanOrEqual(condensedLength)
})

it('accepts JSON in a fence and with members missing', async () => {
  const lm = fakeLm('Sure!\n```json\n{"summary": " Short. "}\n```')
  expect(await summarize(turns, { lm })).toMatchObject({
    summary: 'Short.',
    topics: [],
    summarizedBy: 'fake/model',
  })
})

it('passes over what a model thought before it answered', async () => {
  const thought = '<think>\nIt wants {"summary": …}.\n</think>\n'
  const summary = 'The page ends its thoughts with </think> now.'
  const answer = await summarize(turns, { lm: fakeLm(thought + JSON.stringify({ summary })) })
  expect(answer).toMatchObject({ summary, summarizedBy: 'fake/model' })
})

it('passes over thoughts of which a server left out where they begin', async () => {
  const answer = 'It wants {"summary": …}.\n</think>\n\n{"summary": "Short."}'
  expect(await summarize(turns, { lm: fakeLm(answer) })).toMatchObject({
    summary: 'Short.',
    summarizedBy: 'fake/model',
  })
  const summary = 'It began its thoughts with <think> and now ends them with </think>.'
  for (const fence of ['', '```json\n'])
    expect((await summarize(turns, { lm: fakeLm(fence + JSON.stringify({ summary })) })).summary).toBe(
      summary,
    )
})

it('takes null for a list of nothing', async () => {
  const lm = fakeLm('{"summary": "Short.", "topics": ["jwt"], "decisions": null, "action_items": null}')
  expect(await summarize(turns, { lm })).toEqual({
    summary: 'Short.',
    topics: ['jwt'],
    decisions: [],
    actionItems: [],
    summarizedBy: 'fake/model',
  })
})

it('takes of each list what has words, at most eight topics and five items, none of them long', async () => {
  const items = ['', ' \n', 'x'.repeat(400), ...Array.from({ length: 9 }, (_, index) => `item ${index}`)]
  const lm = fakeLm(
    JSON.stringify({ summary: 'Short.', topics: items, decisions: items, action_items: items }),
  )
  const { topics, decisions, actionItems } = await summarize(turns, { lm })
  expect(topics).toEqual([`${'x'.repeat(59)}…`, ...items.slice(3, 10)])
  expect(decisions).toEqual([`${'x'.repeat(299)}…`, ...items.slice(3, 7)])
  expect(actionItems).toEqual(decisions)
})

it('asks no model about nothing, and leaves no timer behind that keeps the process', async () => {
  vi.useFakeTimers()
  try {
    const lm = fakeLm(lmAnswer('Fixed.'))
    expect((await summarize([], { lm })).summary).toBe('Nothing was said.')
    expect(lm.prompts).toEqual([])
    await summarize(turns, { lm })
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

it('names a topic once, in whatever case the model repeats it', async () => {
  const lm = fakeLm('{"summary": "Short.", "topics": ["Auth", "JWT", "auth"]}')
  expect((await summarize(turns, { lm })).topics).toEqual(['auth', 'jwt'])
})

it('keeps a model’s summary from looking like headings and separators', async () => {
  const lm = fakeLm(
    JSON.stringify({ summary: '## Tags\nfirst\n---\n### User\nsecond\n# --- ### User\nthird' }),
  )
  expect((await summarize(turns, { lm })).summary).toBe('Tags\nfirst\nUser\nsecond\nUser\nthird')
})

it.each([
  ['throws', new Error('down')],
  ['answers no JSON', 'I cannot do that'],
  ['answers JSON of another shape', '{"summary": 7}'],
  ['answers an empty summary', '{"summary": "  "}'],
  ['answers a summary of marks only', '{"summary": "---\\n***"}'],
  ['answers no end of a summary', JSON.stringify({ summary: 'x'.repeat(20_001) })],
])('falls back to the algorithm when the model %s', async (_, answer) => {
  expect(await summarize(turns, { lm: fakeLm(answer) })).toEqual({
    summary: 'Please fix the postgres pool leak',
    topics: expect.arrayContaining(['postgres', 'pool', 'leak']),
    decisions: [],
    actionItems: [],
    summarizedBy: 'algorithm',
  })
})

it('falls back when the model does not answer in time, and tells it to stop', async () => {
  vi.useFakeTimers()
  try {
    let signal: AbortSignal | undefined
    const silent: LmProvider = {
      model: 'silent',
      complete: (request) => {
        signal = request.signal
        return new Promise(() => {})
      },
    }
    const summary = summarize(turns, { lm: silent })
    await vi.advanceTimersByTimeAsync(30_000)
    expect((await summary).summarizedBy).toBe('algorithm')
    expect(signal?.aborted).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

it('waits for the model as long as it may take, also beyond what a timer can', async () => {
  vi.useFakeTimers()
  try {
    const slow: LmProvider = {
      model: 'slow',
      complete: () => new Promise((resolve) => setTimeout(resolve, 60_000, lmAnswer('Fixed.'))),
    }
    const summary = summarize(turns, { lm: slow, timeoutMs: Number.POSITIVE_INFINITY })
    await vi.advanceTimersByTimeAsync(60_000)
    expect((await summary).summarizedBy).toBe('slow')
  } finally {
    vi.useRealTimers()
  }
})

it('gives topics that a memory takes for tags, whatever the model answers', async () => {
  const lm = fakeLm('{"summary": "Short.", "topics": ["half \\ud83d"]}')
  expect((await summarize(turns, { lm })).topics).toEqual(['half \uFFFD'])
})

it('keeps nothing of a model’s summary that no file of text has', async () => {
  const lm = fakeLm('{"summary": "half \\ud83d\\r\\nand\\tend\\u0000 \\u001b[31mred"}')
  expect((await summarize(turns, { lm })).summary).toBe('half \uFFFD\nand end   [31mred')
})

it('summarises by the first thing that the person said, cut to a sensible length', async () => {
  const summary = await summarize([
    { role: 'assistant', text: 'Hello, how can I help?' },
    { role: 'user', text: 'word '.repeat(500) },
  ])
  expect(summary.summary).toMatch(/^word word .*…$/)
  expect(summary.summary.length).toBeLessThanOrEqual(400)
  expect((await summarize([])).summary).toBe('Nothing was said.')
})

it('passes over what says nothing of the subject: commands, greetings, and to go on', async () => {
  const said = (...texts: string[]) => texts.map((text): SpokenTurn => ({ role: 'user', text }))
  const summaryOf = async (...texts: string[]) => (await summarize(said(...texts))).summary
  expect(await summaryOf('/clear', 'hi', 'paint the shed in teal')).toBe('paint the shed in teal')
  expect(await summaryOf('/add src/shed.ts', 'paint the shed in teal')).toBe('paint the shed in teal')
  expect(await summaryOf('/review src/shed.ts', 'go on')).toBe('/review src/shed.ts')
  expect(await summaryOf('/plan a shed', 'paint it in teal')).toBe('/plan a shed')
  expect(await summaryOf('/model', 'continue')).toBe('continue')
  expect(await summaryOf('/team:make-plan')).toBe('/team:make-plan')
  expect(await summaryOf('/deploy the shed')).toBe('/deploy the shed')
  expect((await summarize(said('/clear', 'paint the shed'))).topics).toEqual(['paint', 'shed'])
})

it('names what the person spoke of before what the assistant says more often', async () => {
  const { topics } = await summarize([
    { role: 'user', text: 'leak' },
    { role: 'assistant', text: 'kettle kettle' },
  ])
  expect(topics).toEqual(['leak', 'kettle'])
})

it('refuses an option that there is not, such as another name for the model', async () => {
  const misspelt = { model: fakeLm(lmAnswer('Fixed the leak.')) } as object
  await expect(summarize(turns, misspelt)).rejects.toThrow('Unrecognized key: "model"')
})
