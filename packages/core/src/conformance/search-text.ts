import fc from 'fast-check'
import { expect } from 'vitest'
import { keysFound } from './expectations.ts'
import { law, type Theme } from './harness.ts'

export const searchText: Theme = {
  title: 'Search by text',
  laws: [
    law('A text finds the entries that hold its words, and the match says lexical.', async ({ memory }) => {
      await memory.write('long-term', 'door', 'the door is painted blue')
      await memory.write('long-term', 'window', 'the window is painted green')
      const matches = await memory.search('long-term', { text: 'blue door' })
      expect(matches[0]).toMatchObject({ key: 'door', value: 'the door is painted blue', mode: 'lexical' })
      expect(await keysFound(memory, 'long-term', { text: 'green' })).toEqual(['window'])
    }),

    law('A word finds its inflections.', async ({ memory }) => {
      await memory.write('long-term', 'deploy', 'the deployments were failing')
      for (const text of ['deployment', 'fail', 'failed', 'fails']) {
        expect(await keysFound(memory, 'long-term', { text })).toEqual(['deploy'])
      }
    }),

    law('Case and diacritics do not matter.', async ({ memory }) => {
      await memory.write('long-term', 'cafe', 'Crème brûlée at the Café Müller')
      for (const text of ['creme', 'BRULEE', 'café', 'cafe\u0301', 'muller']) {
        expect(await keysFound(memory, 'long-term', { text })).toEqual(['cafe'])
      }
      await memory.write('long-term', 'rock', 'Ο ΣΊΣΥΦΟΣ и ёлка, שָׁלוֹם و سَلام')
      for (const text of ['σισυφος', 'Σίσυφος', 'ΣΙΣΥΦΟΣ', 'елка', 'ЁЛКА', 'שלום', 'سلام']) {
        expect(await keysFound(memory, 'long-term', { text })).toEqual(['rock'])
      }
      await memory.write('long-term', 'road', 'Die Straße von Łódź nach Ørsted, ﬁle Ａ１')
      for (const text of ['strasse', 'STRASSE', 'straße', 'lodz', 'ørsted', 'orsted', 'file', 'a1']) {
        expect(await keysFound(memory, 'long-term', { text })).toEqual(['road'])
      }
    }),

    law('Stop words in a query change nothing.', async ({ memory }) => {
      await memory.write('long-term', 'door', 'a door')
      await memory.write('long-term', 'noise', 'what is the of and to it')
      expect(await keysFound(memory, 'long-term', { text: 'what is the door' })).toEqual(['door'])
    }),

    law('Words of any script are found.', async ({ memory }) => {
      await memory.write('long-term', 'ru', 'Деплой упал в пятницу')
      await memory.write('long-term', 'el', 'η πόρτα είναι μπλε')
      await memory.write('long-term', 'zh', '部署 失败 了')
      expect(await keysFound(memory, 'long-term', { text: 'пятницу' })).toEqual(['ru'])
      expect(await keysFound(memory, 'long-term', { text: 'μπλε' })).toEqual(['el'])
      expect(await keysFound(memory, 'long-term', { text: '失败' })).toEqual(['zh'])
      await memory.write('long-term', 'chr', 'ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ')
      expect(await keysFound(memory, 'long-term', { text: 'ᏣᎳᎩ' })).toEqual(['chr'])
      await memory.write('long-term', 'ko', '학교에서 배포가 실패했다')
      expect(await keysFound(memory, 'long-term', { text: '학교' })).toEqual(['ko'])
      // The vowels alone tell these two apart.
      await memory.write('long-term', 'book', 'यह किताब पुरानी है')
      await memory.write('long-term', 'writer', 'वह कातिब बूढ़ा है')
      expect(await keysFound(memory, 'long-term', { text: 'किताब' })).toEqual(['book'])
    }),

    law(
      'A character that is no letter ends a word, whatever it is, and hides nothing behind it.',
      async ({ memory }) => {
        const characters = [
          '\u0000',
          '\u0001',
          '\u001b',
          '\u007f',
          '\u200b',
          '\u2028',
          '\ufeff',
          '\ufffd',
          '\ufffe',
          '\ud800',
          '\udc00',
          '\u{1f44d}',
          '\u{1f914}',
          '\u{1fae1}',
          '\u2b50',
          '\u20bf',
          '\u2066',
          '\u0378',
          '\u{1fffe}',
        ]
        for (const [i, character] of characters.entries()) {
          await memory.write(
            'long-term',
            `key${i}`,
            `before${i}${character}between${i}${character}\n\nafter${i}`,
          )
          for (const word of ['before', 'between', 'after'])
            expect(await keysFound(memory, 'long-term', { text: `${word}${i}` }), `${word}${i}`).toEqual([
              `key${i}`,
            ])
        }
      },
    ),

    law('Words are found in every string of a value, however deep.', async ({ memory }) => {
      await memory.write('long-term', 'deep', { title: 'alpha', steps: [{ note: ['beta'] }], count: 7 })
      for (const text of ['alpha', 'beta'])
        expect(await keysFound(memory, 'long-term', { text })).toEqual(['deep'])
      expect(await keysFound(memory, 'long-term', { text: 'title' })).toEqual([])
    }),

    law(
      'An entry that holds only some of the words is found, by words alone below every one that holds them together.',
      async ({ memory }) => {
        await memory.write('long-term', 'one', 'the scraper needs a proxy')
        await memory.write('long-term', 'both', 'the scraper needs authentication')
        await memory.write('long-term', 'none', 'buy bread and milk')
        expect(await keysFound(memory, 'long-term', { text: 'scraper authentication' })).toEqual([
          'both',
          'one',
        ])
        expect(await keysFound(memory, 'long-term', { text: 'proxy zeppelin' })).toEqual(['one'])
        const short = Array.from({ length: 80 }, (_, i) => ({
          key: `short ${i}`,
          value: i % 2 ? 'a vault, the vault' : 'ledger, ledger',
        }))
        const long = { key: 'long', value: `${'much may be told of it. '.repeat(30)}ledger in the vault` }
        await memory.batchWrite('episodic', [...short, long])
        const search = { text: 'vault ledger' }
        expect((await keysFound(memory, 'episodic', search))[0]).toBe('long')
        const all = await keysFound(memory, 'episodic', search, { limit: 100 })
        expect([all.length, all[0]]).toEqual([81, 'long'])
      },
    ),

    law('Words that occur nowhere find nothing.', async ({ memory }) => {
      await memory.write('long-term', 'door', 'a blue door')
      expect(await keysFound(memory, 'long-term', { text: 'zeppelin' })).toEqual([])
      expect(await keysFound(memory, 'long-term', { text: 'doo' })).toEqual([])
    }),

    law('A text without any word finds nothing, and an empty text is no condition.', async ({ memory }) => {
      await memory.write('long-term', 'door', 'a blue door!')
      expect(await keysFound(memory, 'long-term', { text: '!? … ---' })).toEqual([])
      expect(await keysFound(memory, 'long-term', { text: '' })).toEqual(['door'])
      expect(await keysFound(memory, 'long-term', { text: ' \n' })).toEqual(['door'])
    }),

    law('No text is query syntax.', async ({ memory }) => {
      await memory.write('long-term', 'door', 'a blue door')
      const hostile = [
        '"',
        'blue"',
        'AND',
        'NOT blue',
        'blue OR',
        '(blue',
        'key:blue',
        '^blue',
        'blue*',
        '-blue',
        '{a b}',
        "blue'; --",
        'NEAR(blue door)',
        'blue & !door',
        '<->',
        '\\',
        '%',
        'a\u0000b',
      ]
      for (const text of hostile) {
        const found = await keysFound(memory, 'long-term', { text })
        if (/blue/.test(text)) expect(found).toEqual(['door'])
      }
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (text) => {
          await memory.search('long-term', { text }, { touch: false })
        }),
        { numRuns: 50 },
      )
    }),

    law(
      'An entry written with index false is found by key, tags and filters, and not by text.',
      async ({ memory }) => {
        await memory.write('long-term', 'quiet', { text: 'a blue door', n: 1 }, { index: false, tags: ['t'] })
        expect(await keysFound(memory, 'long-term', { text: 'blue' })).toEqual([])
        expect(await memory.exists('long-term', 'quiet')).toBe(true)
        for (const query of [{}, { tags: ['t'] }, { filters: { n: 1 } }]) {
          expect(await keysFound(memory, 'long-term', query)).toEqual(['quiet'])
        }
      },
    ),

    law('The text option replaces what the value is found by.', async ({ memory }) => {
      await memory.write('long-term', 'scan', { data: 'alpha' }, { text: 'an invoice from the dentist' })
      expect(await keysFound(memory, 'long-term', { text: 'dentist' })).toEqual(['scan'])
      expect(await keysFound(memory, 'long-term', { text: 'alpha' })).toEqual([])
      expect(await memory.read('long-term', 'scan')).toEqual({ data: 'alpha' })
    }),

    law(
      'What was overwritten, deleted or cleared is no longer found, and what replaced it is.',
      async ({ memory }) => {
        await memory.write('long-term', 'a', 'alpha')
        await memory.write('long-term', 'b', 'alpha')
        await memory.write('long-term', 'c', 'alpha', { tags: ['gone'] })
        await memory.write('long-term', 'a', 'omega')
        await memory.delete('long-term', 'b')
        await memory.clear('long-term', { tags: ['gone'] })
        expect(await keysFound(memory, 'long-term', { text: 'alpha' })).toEqual([])
        expect(await keysFound(memory, 'long-term', { text: 'omega' })).toEqual(['a'])
      },
    ),

    law(
      'An identifier is found by the words inside it, and those words by the identifier.',
      async ({ memory }) => {
        await memory.write('long-term', 'joined', 'Call searchMemories before writing.')
        await memory.write('long-term', 'apart', 'How to search memories of the harbour.')
        await memory.write('long-term', 'separated', 'The flag search_memories turns it off.')
        await memory.write('long-term', 'other', 'A walk along the harbour.')
        for (const text of ['search memories', 'searchMemories', 'search_memories', 'SearchMemories']) {
          const found = await keysFound(memory, 'long-term', { text })
          expect(found.sort(), text).toEqual(['apart', 'joined', 'separated'])
        }
        expect((await keysFound(memory, 'long-term', { text: 'searchMemories' }))[0]).toBe('joined')
      },
    ),

    law(
      'A word of a script that is written without spaces is found inside its sentence.',
      async ({ memory }) => {
        await memory.write('long-term', 'zh', '我们决定用数据库保存所有的订单，因为文件太慢。')
        await memory.write('long-term', 'ja', '接続プールが漏れたので、サーバーを再起動した。')
        await memory.write('long-term', 'th', 'เราตัดสินใจใช้ฐานข้อมูลสำหรับคำสั่งซื้อ')
        await memory.write('long-term', 'cat', '猫在睡觉')
        await memory.write('long-term', 'mixed', 'Call 接続API before anything else.')
        for (const [key, text] of [
          ['zh', '数据库'],
          ['zh', '为什么用数据库？'],
          ['ja', 'プール'],
          ['ja', '再起動'],
          ['th', 'ฐานข้อมูล'],
          ['cat', '猫'],
          ['mixed', 'api'],
        ] as const) {
          expect((await keysFound(memory, 'long-term', { text }))[0], text).toBe(key)
        }
        expect(await keysFound(memory, 'long-term', { text: '飛行機' })).toEqual([])
      },
    ),
  ],
}
