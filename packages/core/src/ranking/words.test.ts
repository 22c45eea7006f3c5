import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTermsIn, indexedTerms, queryTerms, queryWords, termsIn, wordsOf } from './words.ts'

const terms = (text: string): string[] => wordsOf(text).map(({ term }) => term)

describe('wordsOf', () => {
  it('folds case and diacritics and stems', () => {
    expect(terms('Crème BRÛLÉE, deployments!')).toEqual(terms('creme brulee deployment'))
    expect(terms('cafe\u0301')).toEqual(terms('caf\u00e9'))
    expect(terms('fail failed fails failing')).toEqual(['fail', 'fail', 'fail', 'fail'])
  })

  it('takes runs of letters and digits of any script', () => {
    expect(terms('step-2: Привет, 世界 v1.5')).toEqual(['step', '2', 'привет', '世界', 'v1', '5'])
    expect(terms('!? … ---')).toEqual([])
    expect(terms('')).toEqual([])
  })

  it('takes a run of millions of letters in parts', () => {
    const ends = wordsOf('漢'.repeat(8_000_000)).map(({ end }) => end)
    expect(ends.slice(0, 2)).toEqual([65_536, 131_072])
    expect(ends.at(-1)).toBe(8_000_000)
  })

  it('says where each word stands', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        let after = 0
        for (const { start, end } of wordsOf(text)) {
          expect(start).toBeGreaterThanOrEqual(after)
          expect(end).toBeGreaterThan(start)
          after = end
        }
        expect(after).toBeLessThanOrEqual(text.length)
      }),
    )
    const [first, second] = wordsOf('The blue Doors')
    expect([first?.start, first?.end, second?.start, second?.end]).toEqual([0, 3, 4, 8])
  })
})

describe('queryTerms and queryWords', () => {
  it('leave out stop words', () => {
    expect(queryTerms('What is the Door?')).toEqual(['door'])
    expect(queryWords('What are the Doors?')).toEqual(['doors'])
  })

  it('leave out what an apostrophe makes of stop words and joins to others', () => {
    expect(queryTerms("Why doesn't Phoenix's server start? It’s what we’ve seen again, isn't it?")).toEqual(
      queryTerms('Phoenix server start seen'),
    )
    expect(queryTerms("O'Brien and d'accord")).toEqual(['o', 'brien', 'd', 'accord'])
    expect(queryTerms("don't")).toEqual(['don', 't'])
  })

  it('keep stop words when there is nothing else', () => {
    expect(queryTerms('to be or not to be')).toEqual(['to', 'be', 'or', 'not'])
    expect(queryWords('To be')).toEqual(['to', 'be'])
  })

  it('name each term once', () => {
    expect(queryTerms('deploy deployed DEPLOY')).toEqual(['deploi'])
    expect(queryWords('deploy Deploy')).toEqual(['deploy'])
  })

  it('find their terms among the words of the text itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const present = new Set(indexedTerms(text).map(({ term }) => term))
        for (const term of queryTerms(text)) expect(present).toContain(term)
      }),
    )
  })
})

it('remembers long words without the texts that they stood in', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const filler = '. '.repeat(250_000)
  const before = used()
  for (let i = 0; i < 50; i++) {
    const text = `${filler} unforgettable${String.fromCharCode(97 + i / 26, 97 + (i % 26))} end`
    // By way of its bytes, so that every text has characters of its own.
    expect(indexedTerms(Buffer.from(text).toString())).toHaveLength(2)
  }
  // The texts take 25 MB together.
  expect(used() - before).toBeLessThan(10_000_000)
})

it('splits a text of ASCII alone as it does beside other letters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii', maxLength: 200 }), (text) => {
      const beside = `${text} Привет`
      expect(wordsOf(text)).toEqual(wordsOf(beside).slice(0, -1))
      expect(indexedTerms(text)).toEqual(indexedTerms(beside).slice(0, -1))
    }),
  )
})

describe('termsIn', () => {
  const text = fc.array(
    fc.oneof(
      fc.constantFrom(
        'keys ',
        'HTTPServer',
        'flies.',
        ' Café',
        '全文検索',
        'Straße ',
        'ﬁxing ',
        'ies ',
        '\ue000x',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 12 },
  )

  it('finds what the text is found by, and nothing else', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(30), { maxLength: 4 }), (parts, places) => {
        const held = indexedTerms(parts.join('')).map(({ term }) => term)
        const wanted = new Set([...places.flatMap((place) => held[place] ?? []), 'absent'])
        expect(countTermsIn(parts.join(''), wanted)).toBe(wanted.size - (held.includes('absent') ? 0 : 1))
      }),
    )
  })

  it('finds every short word by its stem, whatever ending it has', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz']
    const pairs = letters.flatMap((first) => letters.map((second) => first + second))
    const endings = [
      '',
      's',
      'ed',
      'eds',
      'ing',
      'ies',
      'ied',
      'y',
      'ly',
      'er',
      'est',
      'ful',
      'ment',
      'ational',
    ]
    const words = pairs.flatMap((pair) =>
      [pair, ...letters.map((third) => pair + third)].flatMap((start) => endings.map((end) => start + end)),
    )
    expect(
      words.filter((word) => countTermsIn(word, new Set(wordsOf(word).map(({ term }) => term))) === 0),
    ).toEqual([])
  })

  it('says which run of letters each is in', () => {
    const found = [...termsIn('Say searchMemories, then search.', new Set(['search', 'memori']))]
    const memories = { start: 4, end: 18 }
    expect(found).toEqual([
      { term: 'search', ...memories },
      { term: 'memori', ...memories },
      { term: 'search', start: 25, end: 31 },
    ])
    expect([...termsIn('anything', new Set())]).toEqual([])
  })
})
