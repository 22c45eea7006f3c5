import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import { conversationType } from '../session-keys.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { type Basis, confidenceOf, surestFirst } from './confidence.ts'

const score = fc.double({ min: 0, max: 1, noNaN: true })
const bases = (['turn', 'note'] as const).flatMap((kind): Basis[] => [
  { kind, by: 'words' },
  { kind, by: 'meaning' },
])
const basis = fc.constantFrom(...bases)

it('lies between 0 and 1, rises with the score and falls with the tenth', () => {
  fc.assert(
    fc.property(score, score, score, basis, (a, b, tenth, basis) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const of = (best: number, tenth: number): number => confidenceOf(best, tenth, basis)
      expect(of(high, tenth)).toBeGreaterThanOrEqual(of(low, tenth))
      expect(of(high, tenth)).toBeGreaterThanOrEqual(0)
      expect(of(high, tenth)).toBeLessThanOrEqual(1)
      expect(of(tenth, low)).toBeGreaterThanOrEqual(of(tenth, high))
    }),
  )
})

it.each(bases)('trusts what stands out more than one of many alike: $kind by $by', (basis) => {
  expect(confidenceOf(0.5, 0.1, basis)).toBeGreaterThan(1.5 * confidenceOf(0.5, 0.5, basis))
  expect(confidenceOf(0.5, 0.5, basis)).toBeGreaterThan(0.15)
  expect(confidenceOf(0.01, 0, basis)).toBeLessThan(0.2)
})

it('is less sure of the same strength where meaning adds to it, or the turns around do', () => {
  const of = (kind: Basis['kind'], by: Basis['by']): number => confidenceOf(0.4, 0.2, { kind, by })
  for (const kind of ['turn', 'note'] as const) expect(of(kind, 'meaning')).toBeLessThan(of(kind, 'words'))
  for (const by of ['words', 'meaning'] as const) expect(of('turn', by)).toBeLessThan(of('note', by))
})

it('puts a note that answers before the turns that only speak of who was asked about', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const topics = [
    'gardens',
    'films',
    'Rome',
    'pianos',
    'boats',
    'choirs',
    'recipes',
    'trains',
    'hats',
    'bees',
  ]
  for (const topic of topics) {
    const body = `### User\n\nAna told me of ${topic}.\n\n### Assistant\n\nWhat did Ana say of ${topic}?`
    await memory.write('episodic', `conversation:${topic}`, { body }, { type: conversationType })
    await memory.write('long-term', `fact:${topic}`, `Ben likes ${topic}.`)
  }
  await memory.write('long-term', 'fact:puppy', 'The puppy that Ana adopted answers to Biscuit.')
  const text = 'What did Ana say she calls the puppy?'
  const searches = (['episodic', 'long-term'] as const).map((scope) => memory.search(scope, { text }))
  const found = (await Promise.all(searches)).flat()
  const best = found.toSorted((a, b) => b.score - a.score)
  expect(best[0]?.key).toMatch(/^conversation:/)
  expect(found.sort(surestFirst)[0]?.key).toBe('fact:puppy')
  // Without a text there is no confidence.
  expect([{ score: 0.2 }, { score: 0.3 }].sort(surestFirst)).toEqual([{ score: 0.3 }, { score: 0.2 }])
})
