import { describe, expect, it } from 'vitest'
import { embeddedTexts } from './embedded-texts.ts'

const paragraph = `${'The harbour freezes in winter. '.repeat(30)}\n\n`

describe('embeddedTexts', () => {
  it('is the text itself where that is one unit', () => {
    expect(embeddedTexts('a note', false)).toEqual(['a note'])
    expect(embeddedTexts('', false)).toEqual([])
  })

  it('has what was said in a turn, and nothing of who said it', () => {
    const talk = '### User\n\nWhere is it?\n\n### Assistant\n\nIn the harbour.'
    expect(embeddedTexts(talk, true)).toEqual(['Where is it?\n\n', 'In the harbour.'])
  })

  it('puts the first line of a note before each further part', () => {
    const [first, ...rest] = embeddedTexts(`\n# Harbours  \n\n${paragraph.repeat(4)}`, false)
    expect(first).toMatch(/^\n# Harbours {2}\n\nThe harbour/)
    expect(rest.length).toBeGreaterThan(1)
    for (const part of rest) expect(part).toMatch(/^# Harbours\nThe harbour/)
  })

  it('takes no more than the beginning of a long line', () => {
    const rest = embeddedTexts(paragraph.trim().repeat(4), false).slice(1)
    expect(rest.length).toBeGreaterThan(1)
    for (const part of rest) expect(part.indexOf('\n')).toBeLessThanOrEqual(120)
  })

  it('leaves the parts of a turn alone', () => {
    const [first, second] = embeddedTexts(`### User\n\nHarbours\n\n${paragraph.repeat(3)}`, true)
    expect(first).toMatch(/^Harbours/)
    expect(second).toMatch(/^The harbour/)
  })
})
