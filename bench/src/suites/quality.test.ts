import { expect, it } from 'vitest'
import type { Collection, Query } from '../quality/data-set.ts'
import type { Retriever } from '../quality/retriever.ts'
import { measure } from './quality.ts'

const docs = [
  { id: 'fact', session: null, time: null, text: 'a fact' },
  { id: 'turn', session: 's', time: null, text: 'a turn' },
]
const askingFor = (id: string): Query => ({ id: `q-${id}`, text: id, gold: [id], category: 'all' })

/** Finds the document that a question names. */
const perfect: Retriever = {
  name: 'perfect',
  open: async () => ({ search: async (text) => ({ docs: [text] }), close: async () => {} }),
}

it.each([
  { first: 'a fact', queries: [askingFor('fact'), askingFor('turn')] },
  { first: 'a turn', queries: [askingFor('turn'), askingFor('fact')] },
])('judges sessions by the questions that one answers, with $first asked first', async ({ queries }) => {
  const collections: Collection[] = [{ id: 'c', docs, queries }]
  const { measures } = await measure(perfect, collections)
  expect(measures).toMatchObject({
    'recall@10': 100,
    'session recall@5': 100,
    'session nDCG@10': 100,
  })
})

it('says nothing of sessions where no question is answered by one', async () => {
  const { measures } = await measure(perfect, [{ id: 'c', docs, queries: [askingFor('fact')] }])
  expect(Object.keys(measures).filter((name) => name.startsWith('session'))).toEqual([])
})
