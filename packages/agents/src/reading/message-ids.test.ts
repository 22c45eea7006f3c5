import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMessageIds } from './message-ids.ts'

const namesOf = (said: readonly unknown[]): string[] => {
  const idOf = createMessageIds()
  return said.map((each) => idOf(each))
}

const talk = fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.string() }), {
  minLength: 1,
  maxLength: 8,
})

it('gives a conversation that goes on the names that it had, and no name twice', () => {
  fc.assert(
    fc.property(talk, talk, (first, more) => {
      const names = namesOf([...first, ...more])
      expect(names.slice(0, first.length)).toEqual(namesOf(first))
      expect(new Set(names).size).toBe(names.length)
    }),
  )
})

it('gives another conversation other names from where it differs, though it says the same later', () => {
  fc.assert(
    fc.property(talk, talk, fc.string(), (before, after, other) => {
      const [one, two] = [
        namesOf([...before, 'x', ...after]),
        namesOf([...before, `${other} instead`, ...after]),
      ]
      expect(one.slice(0, before.length)).toEqual(two.slice(0, before.length))
      expect(one.slice(before.length).filter((name) => two.includes(name))).toEqual([])
    }),
  )
})
