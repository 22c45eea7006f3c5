import fc from 'fast-check'
import { expect, it } from 'vitest'
import { condense, type SpokenTurn } from './condense.ts'

const turn = (role: SpokenTurn['role'], text: string): SpokenTurn => ({ role, text })

it('keeps a short conversation whole', () => {
  expect(condense([turn('user', 'hi\nthere'), turn('assistant', 'hello')])).toBe(
    'User: hi there\nAssistant: hello',
  )
})

it('keeps the beginning, the end and the person’s turns of a long one, in order', () => {
  const turns = Array.from({ length: 200 }, (_, index) =>
    index % 10 === 0
      ? turn('user', `question ${index}`)
      : turn('assistant', `answer ${index} ${'x'.repeat(300)}`),
  )
  const condensed = condense(turns)
  expect(condensed.startsWith('User: question 0\nAssistant: answer 1 ')).toBe(true)
  expect(condensed).toMatch(/Assistant: answer 199 x+$/)
  for (let index = 0; index < 200; index += 10) expect(condensed).toContain(`question ${index}\n`)
  expect(condensed).toContain('[…]')
})

it('never exceeds the length', () => {
  const anyTurn = fc.record({
    role: fc.constantFrom('user' as const, 'assistant' as const),
    text: fc.string({ maxLength: 900 }),
  })
  fc.assert(
    fc.property(fc.array(anyTurn, { maxLength: 60 }), fc.integer({ min: 20, max: 5000 }), (turns, length) => {
      expect(condense(turns, length).length).toBeLessThanOrEqual(length)
    }),
  )
})
