import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitUnits } from './units.ts'

const unitLength = 1600

it('units cover the text exactly and cut no character in two', () => {
  const piece = fc.constantFrom(
    'word ',
    '\n',
    '\n\n',
    '## Turn\n',
    '😀',
    'x'.repeat(3000),
    '😀'.repeat(2100),
    'é',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, turns) => {
      const text = pieces.join('')
      const units = splitUnits(text, turns)
      expect(units.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text)
      for (const { start, end, line } of units) {
        const unit = text.slice(start, end)
        expect(unit.isWellFormed()).toBe(true)
        expect(unit.length).toBeLessThanOrEqual(unitLength)
        expect(line).toBe(text.slice(0, start).split('\n').length - 1)
      }
    }),
    { numRuns: 500 },
  )
})

it('no cut falls between the halves of the first and the last character that have such a half', () => {
  for (const character of ['\u{10000}', '\u{103ff}']) {
    const text = `x${character.repeat(unitLength)}`
    const units = splitUnits(text, false).map(({ start, end }) => text.slice(start, end))
    expect(units.every((unit) => unit.isWellFormed())).toBe(true)
  }
})

describe('the parts of a turn', () => {
  const partsOf = (text: string, turns: boolean): number[] =>
    splitUnits(text, turns).map(({ parts }) => parts)

  it('are counted over the headings of what is said, up to the next speaker', () => {
    const text = [
      '## Summary\n\nA build was mended.\n',
      '### User\n\nHow?\n',
      '### Assistant\n\nIn two steps.\n## First\nLook.\n### Second\nMend.\n',
      '### User \r\n\nThanks.\n',
      '## Tags\n',
    ].join('\n')
    expect(partsOf(text, true)).toEqual([1, 1, 3, 3, 3, 1, 1])
    expect(partsOf('### User\n\nPress ## twice.\n', true)).toEqual([1])
  })

  it('are those of the text where nobody speaks', () => {
    expect(partsOf('word '.repeat(700), false)).toEqual([3, 3, 3])
    expect(partsOf(`### User\n${'word '.repeat(700)}`, false)).toEqual([3, 3, 3])
    expect(partsOf('word', false)).toEqual([1])
    expect(partsOf(`${'word '.repeat(319)}words`, false)).toEqual([1])
    expect(partsOf('', true)).toEqual([])
  })
})

it('a line of fifty megabytes is cut in linear time', () => {
  /** In microseconds. */
  const time = (length: number): number => {
    const line = 'x'.repeat(length)
    // Of the processor alone: other processes may take turns with this one.
    const begun = process.cpuUsage()
    expect(splitUnits(line, false)).toHaveLength(Math.ceil(length / 1600))
    const { user, system } = process.cpuUsage(begun)
    return user + system
  }
  time(6_400_000)
  // Quadratic time would multiply by 64.
  expect(time(51_200_000) / time(6_400_000)).toBeLessThan(40)
})
