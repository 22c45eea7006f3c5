import { expect, it } from 'vitest'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import { conversationType, sessionSummaryType } from '../session-keys.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { passagesFor, surestPassages, withoutRepeats } from './surest-passages.ts'

it('finds several places of one conversation, and a note among them', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const turns = [
    'The pool leaks again.',
    'Lunch?',
    'Why does the pool leak?',
    'Later.',
    'A retry leaks the pool.',
  ]
  const body = turns.map((turn) => `### User\n\n${turn}`).join('\n\n')
  await memory.write('episodic', 'conversation:leak', { body }, { type: conversationType })
  await memory.write('long-term', 'fact:lunch', 'Ana has lunch at noon.')
  await memory.write('long-term', 'fact:pool', 'The pool leaks when a retry fails.')
  const find = async (limit: number) => {
    const text = 'pool leak retry'
    const options = { passages: passagesFor(limit) }
    const found = [
      ...(await memory.search('episodic', { text }, options)),
      ...(await memory.search('long-term', { text }, options)),
    ]
    return surestPassages(found, limit)
  }
  const places = await find(5)
  const said = places.map(({ match, passage }) => [match.key, passage?.text.split('\n').at(-1)])
  expect(said.slice(0, 2)).toEqual([
    ['conversation:leak', 'A retry leaks the pool.'],
    ['fact:pool', 'The pool leaks when a retry fails.'],
  ])
  expect(said).toContainEqual(['conversation:leak', 'Why does the pool leak?'])
  const told = places.map(({ passage }) => passage?.confidence ?? -1)
  expect(told).toEqual(told.toSorted((a, b) => b - a))
  expect(await find(2)).toHaveLength(2)
})

it('tells no weak place of a match, and no short one twice', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const long = `I looked at the pool for an hour. ${'It is the retry that leaks. '.repeat(20)}`
  const turns = [
    'Does the pool leak on a retry?',
    'The pool?',
    'Yes.',
    'A pool is a pool.',
    'Pool, retry, leak!',
    long,
  ]
  const body = turns.map((turn) => `### User\n\n${turn}`).join('\n\n')
  await memory.write('episodic', 'conversation:leak', { body }, { type: conversationType })
  const [match] = await memory.search('episodic', { text: 'pool leak retry' }, { passages: 10 })
  const told = surestPassages(match ? [match] : [], 10).map(({ passage }) => passage?.text.split('\n').at(-1))
  expect(match?.passages).toHaveLength(6)
  expect(told).toEqual(['Pool, retry, leak!', long.trim(), 'Does the pool leak on a retry?'])
})

it('fills its places out of one conversation, also where short ones are told beside others', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const turns = Array.from({ length: 12 }, (_, i) => `The pool leaks on retry ${'again '.repeat(i % 3)}${i}.`)
  const body = turns.map((turn) => `### User\n\n${turn}`).join('\n\n')
  await memory.write('episodic', 'conversation:leak', { body }, { type: conversationType })
  const find = async (limit: number, mostOfOne = limit) => {
    const options = { passages: passagesFor(limit) }
    const found = await memory.search('episodic', { text: 'pool leak retry' }, options)
    return surestPassages(found, limit, mostOfOne).map(({ passage }) => passage?.text)
  }
  const all = await find(20)
  for (const limit of [1, 2, 3, 4]) expect(await find(limit)).toEqual(all.slice(0, limit))
  expect(await find(4, 2)).toEqual(all.slice(0, 2))
})

it('tells once what several memories say word for word', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  for (const key of ['a', 'b']) await memory.write('long-term', key, 'The pool leaks on a retry.')
  await memory.write('long-term', 'c', 'A pool of ten.')
  const found = await memory.search('long-term', { text: 'pool leak retry' }, { passages: passagesFor(5) })
  expect(surestPassages(found, 5).map(({ passage }) => passage?.text)).toEqual([
    'The pool leaks on a retry.',
    'A pool of ten.',
  ])
})

it('tells once what two conversations hold word for word, neighbours and all', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const body = '### User\n\nWhich pool leaks?\n\n### Assistant\n\nThat of the retries.'
  for (const key of ['a', 'b'])
    await memory.write('episodic', `conversation:${key}`, { body }, { type: conversationType })
  const found = await memory.search('episodic', { text: 'pool leak' }, { passages: passagesFor(5) })
  expect(found).toHaveLength(2)
  expect(surestPassages(found, 5)).toHaveLength(1)
})

it('tells a turn, not the summary that repeats it, and a summary that says more', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const asked = 'Why does the pool leak on a retry? 1. Since when? 2. Where?'
  const turn = '### User\n\nWhy does the pool leak on a retry?\n1. Since when?\n2. Where?'
  const told = async (summary: string): Promise<(string | undefined)[]> => {
    const body = `## Summary\n\n${summary}\n\n${turn}\n\n### Assistant\n\nLet me look.`
    await memory.write('episodic', 'conversation:leak', { body }, { type: conversationType })
    const found = await memory.search('episodic', { text: 'pool leak retry' }, { passages: passagesFor(5) })
    return surestPassages(found, 5).map(({ passage }) => passage?.text.trim())
  }
  expect(await told(asked)).toEqual([turn])
  expect(await told('Why does the pool leak on a…')).toEqual([turn])
  expect(await told('The pool leaks on every retry.')).toContain(
    '## Summary\n\nThe pool leaks on every retry.',
  )
})

it('leaves out of the window what the archives say as well, not what a person added there', () => {
  const turn = { text: '### User\n\nWhy does the pool leak\non a retry?', type: conversationType }
  const summary = { text: '## Summary\r\n\r\nThe pool leaked. It is mended.\r\n', type: conversationType }
  const ofWindow = (text: string) => ({ text, type: sessionSummaryType })
  const left = (...places: { text: string; type: string }[]) => withoutRepeats(places, (place) => place)
  const asked = ofWindow('Why does the pool leak on a…\n\nLast answer: It never closes.')
  expect(left(asked, turn)).toEqual([turn])
  expect(left(asked, summary)).toEqual([asked, summary])
  expect(left(ofWindow('The pool leaked. It is mended.'), summary)).toEqual([summary])
  const edited = ofWindow('Why does the pool leak on a retry?\n\nAsk Ana first.')
  expect(left(turn, edited)).toEqual([turn, edited])
  const note = { text: 'Why does the pool leak on a retry?', type: 'note' }
  expect(left(turn, note)).toEqual([turn, note])
})

it('tells every answer to a question that was asked twice', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const text = 'Which store for billing?'
  for (const answer of ['Postgres, says Ana.', 'By now it is MySQL.']) {
    const body = `### User\n\n${text}\n\n### Assistant\n\n${answer}`
    await memory.write('episodic', `conversation:${answer}`, { body }, { type: conversationType })
  }
  const found = await memory.search('episodic', { text }, { passages: passagesFor(5) })
  const told = surestPassages(found, 5).flatMap(({ passage }) => passage?.neighbours ?? [])
  expect(told.join()).toContain('Postgres, says Ana.')
  expect(told.join()).toContain('By now it is MySQL.')
})

it('takes a match that shows no passage as a whole', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await memory.write('long-term', 'fact:pool', 'The pool leaks.', { tags: ['db'] })
  const matches = await memory.search('long-term', { tags: ['db'] })
  expect(surestPassages(matches, 5)).toMatchObject([{ match: matches[0], score: 1 }])
})

it('takes the one passage of a match that was found without asking for several', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await memory.write('long-term', 'fact:pool', 'The pool leaks.')
  const [match] = await memory.search('long-term', { text: 'pool' })
  expect(surestPassages(match ? [match] : [], 5)).toMatchObject([{ match, passage: match?.passage }])
})
