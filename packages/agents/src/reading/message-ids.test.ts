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

it('names alike what differs in its secrets alone, and leaves the names before them as they were', () => {
  const names = ['a', 'b'].map((letter) =>
    namesOf(['before', { input: { password: letter.repeat(12) } }, `${'ghp_'}${letter.repeat(36)} after`]),
  )
  expect(names[0]).toEqual(names[1])
  expect(new Set(names[0]).size).toBe(3)
  expect(names[0]?.[0]).toBe('said-548501f68b76e383afa13129')
})

it('names what is nested too deeply to be searched for secrets', () => {
  let said: unknown = 'x'
  for (let depth = 0; depth < 50_000; depth++) said = [said]
  expect(namesOf([said, 'after'])).toEqual(namesOf([[said], 'after']))
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
