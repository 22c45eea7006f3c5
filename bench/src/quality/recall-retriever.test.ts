import { expect, it } from 'vitest'
import { recallRetriever } from './recall-retriever.ts'

it('finds turns and notes of one collection alike', async () => {
  const doc = (id: string, session: string | null, text: string) => ({ id, session, time: null, text })
  const { search, close } = await recallRetriever({ name: 'Recall' }).open({
    id: 'c',
    docs: [
      doc('turn', 's1', 'Ana: I moved to Lisbon in spring.'),
      doc('answer', 's1', 'Ben: My dog ate the couch.'),
      doc('note', null, 'The deploy key is rotated every Monday.'),
    ],
    queries: [],
  })
  expect((await search('Where did Ana move?')).docs[0]).toBe('turn')
  expect((await search('when is the deploy key rotated')).docs).toEqual(['note'])
  expect(await search('deploy key of Lisbon')).toMatchObject({
    docs: expect.arrayContaining(['turn', 'note']),
    sessions: ['s1'],
    confidence: expect.any(Number),
  })
  await close()
})
