import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { UsageError } from '../options.ts'
import { parseTime } from './formats/parse-time.ts'
import { readDataSet } from './read-data-set.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recall-quality-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = (content: unknown): string => {
  const path = join(folder, 'set.json')
  writeFileSync(path, JSON.stringify(content))
  return path
}

it('reads the times that data sets hold', () => {
  expect(parseTime('1:56 pm on 8 May, 2023')).toBe('2023-05-08T13:56:00.000Z')
  expect(parseTime('12:05 am on 1 June, 2023')).toBe('2023-06-01T00:05:00.000Z')
  expect(parseTime('29.12.2023, 22:42:04')).toBe('2023-12-29T22:42:04.000Z')
  expect(parseTime('March-15-2024')).toBe('2024-03-15T00:00:00.000Z')
  expect(parseTime('2023-05-20T02:21:09+0200')).toBe('2023-05-20T00:21:09.000Z')
  expect(parseTime('2023-05-20 (Sat) 02:21')).toBe('2023-05-20T02:21:00.000Z')
  expect(parseTime('one day')).toBeNull()
  expect(parseTime(null)).toBeNull()
})

it('reads LoCoMo, and repairs how it names turns', () => {
  const { collections } = readDataSet(
    file([
      {
        sample_id: 'c',
        conversation: {
          session_1: [
            { speaker: 'Ana', dia_id: 'D1:1', text: 'Hi' },
            { speaker: 'Ben', dia_id: 'D1:2', text: 'Look', blip_caption: 'a cat' },
          ],
          session_1_date_time: '1:56 pm on 8 May, 2023',
        },
        qa: [
          { question: 'What?', evidence: ['D1:1; D1:02'], category: 1 },
          { question: 'Never?', evidence: ['D1:1'], category: 5 },
          { question: 'Nowhere?', evidence: [], category: 1 },
        ],
      },
    ]),
  )
  expect(collections[0]?.docs[1]).toEqual({
    id: 'D1:2',
    session: 'session_1',
    time: '2023-05-08T13:56:00.000Z',
    text: 'Ben: Look [shares photo: a cat]',
  })
  expect(collections[0]?.queries).toEqual([
    { id: 'c#0', text: 'What?', gold: ['D1:1', 'D1:2'], category: '1' },
  ])
})

it('reads every second session of LoCoMo as the facts that were noted of it', () => {
  const said = (dia_id: string) => ({ speaker: 'Ana', dia_id, text: 'Hi' })
  const path = file([
    {
      sample_id: 'c',
      conversation: { session_1: [said('D1:1')], session_2: [said('D2:1')], session_3: [said('D3:1')] },
      observation: {
        session_1_observation: { Ana: [['Ana greets.', 'D1:1']] },
        session_2_observation: {
          Ana: [['Ana has a cat.', ['D2:1', 'D2:2']]],
          Ben: [['Ben has none.', 'D2:1']],
        },
      },
      qa: [
        { question: 'Whose cat?', evidence: ['D2:1'], category: 1 },
        { question: 'Who greets?', evidence: ['D1:1'], category: 1 },
        { question: 'Who does both?', evidence: ['D3:1', 'D2:2'], category: 1 },
        { question: 'What did nobody note?', evidence: ['D1:1', 'D2:3'], category: 1 },
      ],
    },
  ])
  const { name, collections } = readDataSet(path, { facts: true })
  expect(name).toBe('set-facts')
  expect(collections[0]?.docs.map(({ id, session, text }) => [id, session, text])).toEqual([
    ['D1:1', 'session_1', 'Ana: Hi'],
    ['D3:1', 'session_3', 'Ana: Hi'],
    ['session_2 fact 0', null, 'Ana has a cat.'],
    ['session_2 fact 1', null, 'Ben has none.'],
  ])
  expect(collections[0]?.queries.map(({ gold, category }) => [category, gold])).toEqual([
    ['facts', ['session_2 fact 0', 'session_2 fact 1']],
    ['turns', ['D1:1']],
    ['both', ['D3:1', 'session_2 fact 0']],
  ])
})

it('refuses to read facts where none were noted', () => {
  const sample = { sample_id: 'c', conversation: {}, qa: [] }
  for (const path of [file([sample]), file({ collections: [] }), folder])
    expect(() => readDataSet(path, { facts: true })).toThrow(/no observations/)
})

it('reads LongMemEval, but for what it asks in vain', () => {
  const item = {
    question_id: 'q',
    question: 'Where?',
    question_type: 'single',
    haystack_dates: ['2023/05/20 (Sat) 02:21'],
    haystack_session_ids: ['s'],
    haystack_sessions: [
      [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: 'there', has_answer: true },
      ],
    ],
  }
  const { collections } = readDataSet(file([item, { ...item, question_id: 'q_abs' }]))
  expect(collections.map(({ queries }) => queries.length)).toEqual([1, 0])
  expect(collections[0]?.queries[0]?.gold).toEqual(['s:1'])
  expect(collections[0]?.docs[0]).toMatchObject({ session: 's', time: '2023-05-20T02:21:00.000Z' })
})

it('reads BEAM, but for what it asks of a whole chat', () => {
  mkdirSync(join(folder, '7', 'probing_questions'), { recursive: true })
  const chat = [
    {
      batch_number: 2,
      turns: [
        [
          { id: 4, role: 'user', content: 'When? ->-> 1,2', time_anchor: 'March-15-2024' },
          { id: 5, role: 'assistant', content: 'In May.' },
        ],
      ],
    },
  ]
  const questions = {
    abstention: [{ question: 'Never?' }],
    summarization: [{ question: 'All?', source_chat_ids: [4, 5] }],
    knowledge_update: [{ question: 'When?', source_chat_ids: { before: [5], after: [4, 9, 5] } }],
  }
  writeFileSync(join(folder, '7', 'chat.json'), JSON.stringify(chat))
  writeFileSync(join(folder, '7', 'probing_questions', 'probing_questions.json'), JSON.stringify(questions))
  const time = '2024-03-15T00:00:00.000Z'
  expect(readDataSet(folder).collections).toEqual([
    {
      id: '7',
      docs: [
        { id: '4', session: 'batch 2', time, text: 'user: When?' },
        { id: '5', session: 'batch 2', time, text: 'assistant: In May.' },
      ],
      queries: [
        { id: '7#knowledge_update#0', text: 'When?', gold: ['5', '4'], category: 'knowledge_update' },
      ],
    },
  ])
})

it('reads a BEIR folder', () => {
  mkdirSync(join(folder, 'qrels'))
  writeFileSync(join(folder, 'corpus.jsonl'), '{"_id":"d1","title":"T","text":"body"}\n')
  writeFileSync(join(folder, 'queries.jsonl'), '{"_id":"q1","text":"what"}\n{"_id":"q2","text":"none"}\n')
  writeFileSync(join(folder, 'qrels/test.tsv'), 'query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td1\t0\n')
  expect(readDataSet(folder).collections[0]).toEqual({
    id: expect.any(String),
    docs: [{ id: 'd1', session: null, time: null, text: 'T\n\nbody' }],
    queries: [{ id: 'q1', text: 'what', gold: ['d1'], category: 'all' }],
  })
})

it('reads SQuAD, but for what it asks in vain', () => {
  const qas = [
    { id: 'q1', question: 'what', answers: [{ text: 'body', answer_start: 0 }] },
    { id: 'q2', question: 'never', is_impossible: true },
  ]
  const paragraphs = [
    { context: 'other', qas: [] },
    { context: 'body', qas },
  ]
  expect(readDataSet(file({ version: '1.1', data: [{ title: 'T', paragraphs }] })).collections).toEqual([
    {
      id: 'set',
      docs: [
        { id: '0', session: null, time: null, text: 'other' },
        { id: '1', session: null, time: null, text: 'body' },
      ],
      queries: [{ id: 'q1', text: 'what', gold: ['1'], category: 'all' }],
    },
  ])
})

it('reads our own form, however much of it is left out', () => {
  const docs = [{ id: 'd', text: 'body' }]
  const queries = [
    { id: 'q', text: 'what', gold: ['d'] },
    { id: 'vain', text: 'never' },
  ]
  expect(readDataSet(file({ collections: [{ id: 'c', docs, queries }] }))).toEqual({
    name: 'set',
    collections: [
      {
        id: 'c',
        docs: [{ id: 'd', session: null, time: null, text: 'body' }],
        queries: [{ id: 'q', text: 'what', gold: ['d'], category: 'all' }],
      },
    ],
  })
})

const ownForm = (content: { docs?: unknown; queries?: unknown; id?: string }) => ({
  collections: [{ id: 'c', docs: [], queries: [], ...content }],
})
const question = { id: 'q', text: 'what', gold: ['d'] }
const said = { speaker: 'Ana', dia_id: 'D1:1', text: 'Hi' }
const asked = { question: 'What?', evidence: ['D1:1'], category: 1 }
const locomo = { sample_id: 'c', conversation: { session_1: [said] }, qa: [asked] }
const haystack = {
  question_id: 'q',
  question: 'Where?',
  question_type: 'single',
  haystack_dates: ['2023/05/20 (Sat) 02:21'],
  haystack_session_ids: ['s'],
  haystack_sessions: [[{ role: 'user', content: 'hello', has_answer: true }]],
}

it.each([
  {
    what: 'our own form without documents',
    content: { collections: [{ id: 'c', queries: [] }] },
    problem: 'collections[0].docs: expected array',
  },
  {
    what: 'our own form without questions',
    content: { collections: [{ id: 'c', docs: [] }] },
    problem: 'collections[0].queries: expected array',
  },
  {
    what: 'evidence that is no list',
    content: ownForm({ queries: [{ ...question, gold: 'd' }] }),
    problem: 'collections[0].queries[0].gold: expected array',
  },
  {
    what: 'a question of LoCoMo without evidence',
    content: [{ ...locomo, qa: [asked, { ...asked, evidence: undefined }] }],
    problem: '[0].qa[1].evidence: expected array',
  },
  {
    what: 'a session of LoCoMo that is nothing',
    content: [{ ...locomo, conversation: { session_1: [said], session_3: null } }],
    problem: '[0].conversation.session_3: expected the turns of a session, or its time',
  },
  {
    what: 'LongMemEval without dates',
    content: [{ ...haystack, haystack_dates: undefined }],
    problem: '[0].haystack_dates: expected array',
  },
  {
    what: 'LongMemEval with more sessions than names of them',
    content: [{ ...haystack, haystack_session_ids: [] }],
    problem: '[0].haystack_session_ids: expected one for each',
  },
  {
    what: 'SQuAD without paragraphs',
    content: { data: [{ title: 'T' }] },
    problem: 'data[0].paragraphs: expected array',
  },
])('says which file has $what, and where', ({ content, problem }) => {
  const path = file(content)
  expect(() => readDataSet(path)).toThrow(UsageError)
  expect(() => readDataSet(path)).toThrow(problem)
  expect(() => readDataSet(path)).toThrow(path)
})

const beir = ({ corpus = '{"_id":"d1","text":"body"}\n', qrels = 'q1\td1\t1\n' }): string => {
  mkdirSync(join(folder, 'qrels'), { recursive: true })
  writeFileSync(join(folder, 'corpus.jsonl'), corpus)
  writeFileSync(join(folder, 'queries.jsonl'), '{"_id":"q1","text":"what"}\n')
  writeFileSync(join(folder, 'qrels/test.tsv'), `query-id\tcorpus-id\tscore\n${qrels}`)
  return folder
}

it('says which line of BEIR is wrong', () => {
  const good = '{"_id":"d1","text":"body"}'
  for (const [line, problem] of [
    ['{"_id":', 'cannot be read as JSON'],
    ['{"_id":"d2"}', 'text: expected string'],
  ]) {
    const set = beir({ corpus: `${good}\n\n${line}\n` })
    expect(() => readDataSet(set)).toThrow(UsageError)
    expect(() => readDataSet(set)).toThrow(problem)
    expect(() => readDataSet(set)).toThrow('corpus.jsonl, line 3,')
  }
})

it('says which file of BEAM is wrong', () => {
  mkdirSync(join(folder, '7', 'probing_questions'), { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(folder, '7', name), text)
  write('probing_questions/probing_questions.json', '{"abstention": [{}]}')
  for (const [chat, problem] of [
    ['[{', 'cannot be read as JSON'],
    ['[{"batch_number": 1}]', '[0].turns: expected array'],
  ]) {
    write('chat.json', chat as string)
    expect(() => readDataSet(folder)).toThrow(UsageError)
    expect(() => readDataSet(folder)).toThrow(problem)
    expect(() => readDataSet(folder)).toThrow(join('7', 'chat.json'))
  }
})

it('leaves out evidence that is no document, counts it, and refuses a set of nothing else', () => {
  const docs = [{ id: 'd', text: 'body' }]
  const queries = [
    { ...question, gold: ['d', 'D'] },
    { ...question, id: 'other', gold: ['D'] },
  ]
  const { missingGold, collections } = readDataSet(file(ownForm({ docs, queries })))
  expect(missingGold).toBe(2)
  expect(collections[0]?.queries.map(({ gold }) => gold)).toEqual([['d']])
  expect(() => readDataSet(file(ownForm({ docs, queries: queries.slice(1) })))).toThrow(
    'are ids written alike?',
  )
  expect(() => readDataSet(beir({ qrels: 'q1\tD1\t1\n' }))).toThrow('are ids written alike?')
})

it('takes what is repeated word for word once, and refuses an id of two things', () => {
  const doc = { id: 'd', text: 'body' }
  const read = (docs: unknown[], queries: unknown[] = [question]) =>
    readDataSet(file(ownForm({ docs, queries })))
  expect(read([doc, doc], [question, question]).collections[0]).toMatchObject({
    docs: [{ id: 'd' }],
    queries: [{ id: 'q' }],
  })
  expect(() => read([doc, { ...doc, text: 'another' }])).toThrow('two documents "d" that differ')
  expect(() => read([doc], [question, { ...question, text: 'who' }])).toThrow('two questions "q" that differ')
  const { collections } = ownForm({ docs: [doc], queries: [question] })
  expect(() => readDataSet(file({ collections: [...collections, ...collections] }))).toThrow(
    'two collections "c"',
  )
})

it('says what it expected', () => {
  expect(() => readDataSet(file({ turns: [] }))).toThrow('is not a data set')
  expect(() => readDataSet(file({ collections: [] }))).toThrow('holds no question')
  expect(() => readDataSet(join(folder, 'absent'))).toThrow('cannot be read as JSON: ENOENT')
  expect(() => readDataSet(folder)).toThrow('test.tsv is missing')
  mkdirSync(join(folder, '7'))
  writeFileSync(join(folder, '7', 'chat.json'), '[]')
  expect(() => readDataSet(folder)).toThrow('probing_questions.json is missing')
})
