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

it('keeps two turns of the beginning and three of the end before any others', () => {
  const answers = Array.from({ length: 9 }, (_, index) => turn('assistant', `answer ${index}`))
  const questions = Array.from({ length: 9 }, (_, index) => turn('user', `question ${index}`))
  expect(condense([...answers, ...questions, ...answers], 130).split('\n')).toEqual([
    'Assistant: answer 0',
    'Assistant: answer 1',
    '[…]',
    'Assistant: answer 6',
    'Assistant: answer 7',
    'Assistant: answer 8',
  ])
})

it('marks a gap at the end, and passes over a turn that does not fit for one that does', () => {
  const long = 'x'.repeat(300)
  const turns = [turn('user', 'one'), turn('user', 'two'), turn('user', long), turn('assistant', long)]
  expect(condense(turns, 30)).toBe('User: one\nUser: two\n[…]')
  expect(condense([turn('user', long), turn('user', 'two')], 20)).toBe(`User: ${'x'.repeat(13)}…`)
})

it('takes as many turns as have room', () => {
  const turns = ['one', 'two', 'six', 'ten', 'cat', 'dog'].map((text) => turn('user', text))
  const room = turns.length * 'User: one\n[…]\n'.length
  expect(condense(turns, room)).not.toContain('[…]')
  expect(condense(turns, room - 1)).toContain('User: two\n[…]\nUser: ten')
})

it('keeps the beginning and the end of long turns, with the room that the others leave', () => {
  const words = (name: string, count: number): string =>
    Array.from({ length: count }, (_, i) => `${name}${i}`).join(' ')
  const turns = [turn('user', words('q', 2000)), turn('assistant', words('a', 2000)), turn('user', 'thanks')]
  const condensed = condense(turns)
  expect(condensed.length).toBeGreaterThan(3900)
  const [question = '', answer = '', last] = condensed.split('\n')
  expect(question).toMatch(/^User: q0 q1 .*… .* q1999$/)
  expect(answer).toMatch(/^Assistant: a0 a1 .*… .* a1999$/)
  expect(Math.abs(question.length - answer.length)).toBeLessThan(400)
  expect(last).toBe('User: thanks')
})

it('gives room to those that can use it', () => {
  const [short, long] = ['y'.repeat(700), 'x'.repeat(9000)]
  const condensed = condense([turn('user', short), turn('assistant', long)])
  expect(condensed).toContain(`User: ${short}\n`)
  expect(condensed.length).toBeGreaterThan(3900)
})

it('has room for a gap behind each turn', () => {
  const turns = Array.from({ length: 100 }, () => [turn('assistant', 'x'.repeat(200)), turn('user', 'q')])
  expect(condense(turns.flat(), 1000).length).toBeLessThanOrEqual(1000)
})

it('never exceeds the length', () => {
  const anyTurn = fc.record({
    role: fc.constantFrom('user' as const, 'assistant' as const),
    text: fc.string({ unit: 'binary', maxLength: 900 }),
  })
  fc.assert(
    fc.property(fc.array(anyTurn, { maxLength: 60 }), fc.integer({ min: 20, max: 5000 }), (turns, length) => {
      const condensed = condense(turns, length)
      expect(condensed.length).toBeLessThanOrEqual(length)
    }),
  )
})
