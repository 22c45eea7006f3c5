import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wordsInIdentifiers } from './identifier-words.ts'
import { unspacedWords } from './unspaced-words.ts'
import { indexedTerms, queryTerms, queryWords } from './words.ts'

describe('words of scripts without spaces', () => {
  it('are every character and every two neighbours; of a question the pairs alone', () => {
    expect(unspacedWords('数据库')).toEqual(['数', '据', '库', '数据', '据库'])
    expect(unspacedWords('数据库', true)).toEqual(['数据', '据库'])
    expect(unspacedWords('猫', true)).toEqual(['猫'])
    expect(unspacedWords('接続API第3章', true)).toEqual(['接続', 'API', '第', '3', '章'])
    // A mark stays with its letter.
    expect(unspacedWords('ที่นี่', true)).toEqual(['ที่นี่'])
  })

  it('take the place of the whole run in a question, and stand beside it in an index', () => {
    expect(queryWords('Why 数据库?')).toEqual(['数据', '据库'])
    expect(indexedTerms('数据').map(({ term }) => term)).toEqual(['数据', '数', '据', '数据'])
    expect(wordsInIdentifiers('see 数据 and 😀 HTTPServer')).toBe('数 据 数据 HTTP Server')
  })

  it('of a part of a sentence are words of the sentence, whatever it holds', () => {
    const text = fc.array(fc.constantFrom('数', '据', 'プ', 'ー', 'ル', 'ที่', 'a', 'B', '3', ' ', '。'), {
      minLength: 1,
    })
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (all, from, length) => {
        const part = all.slice(from % all.length).slice(0, 1 + (length % all.length))
        // A cut inside a word of letters makes another word.
        fc.pre(!/[a-z0-9]/i.test(`${part[0]}${part.at(-1)}`))
        const known = new Set(indexedTerms(all.join('')).map(({ term }) => term))
        for (const term of queryTerms(part.join(''))) expect(known).toContain(term)
      }),
    )
  })
})
