import { expect } from 'vitest'
import type { MemoryManager, SearchQuery } from '../memory-manager.ts'
import { createConceptEmbedder } from './concept-embedder.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

const embedder = createConceptEmbedder()

const findsByMeaning = ({ capabilities }: MemoryManager): boolean =>
  capabilities['long-term'].semantic || capabilities['long-term'].meaning === true

export const searchVectors: Theme = {
  title: 'Search by meaning',
  laws: [
    law(
      'An embedding finds the nearest entries first, or is refused where no vectors are kept.',
      async ({ memory }) => {
        const write = (key: string, embedding: number[]) => memory.write('long-term', key, key, { embedding })
        if (!memory.capabilities['long-term'].semantic) {
          await refused('NOT_SUPPORTED', () => write('east', [1, 0]))
          await refused('NOT_SUPPORTED', () => memory.search('long-term', { embedding: [1, 0] }))
          return
        }
        await write('east', [1, 0])
        await write('north', [0, 1])
        await write('north-east', [0.7, 0.7])
        await memory.write('long-term', 'nowhere', 'has no vector')
        const matches = await memory.search('long-term', { embedding: [1, 0.1] })
        expect(matches.slice(0, 2).map(({ key }) => key)).toEqual(['east', 'north-east'])
        expect(matches[0]?.mode).toBe('semantic')
        expect(matches[0]?.score).toBeGreaterThan(0.98)
        for (const { score } of matches) expect(score).toBeGreaterThanOrEqual(0)
        for (const { score } of matches) expect(score).toBeLessThanOrEqual(1)
      },
    ),

    law(
      'With an embedder a text also finds what shares its meaning and not its words.',
      async ({ memory }) => {
        await memory.write('long-term', 'car', 'the automobile would not start')
        await memory.write('long-term', 'dog', 'a puppy in the garden')
        const matches = await memory.search('long-term', { text: 'vehicle' })
        const { semantic } = memory.capabilities['long-term']
        if (findsByMeaning(memory)) expect(matches[0]).toMatchObject({ key: 'car', mode: 'hybrid' })
        else expect(matches).toEqual([])
        if (semantic) expect(matches[0]?.metadata.embeddingModel).toBe(embedder.model)
        await memory.write('long-term', 'feast', '🎈')
        const [feast] = await memory.search('long-term', { text: '🎉' })
        const told = { key: 'feast', confidence: expect.any(Number), passage: { text: '🎈' } }
        if (findsByMeaning(memory)) expect(feast).toMatchObject(told)
        else expect(feast).toBeUndefined()
      },
      { embedder },
    ),

    law(
      'With an embedder an entry that shares words and meaning is found before one that shares either.',
      async ({ memory }) => {
        await memory.write('long-term', 'words', 'the broken window of the shop')
        await memory.write('long-term', 'both', 'the broken engine of the shop')
        await memory.write('long-term', 'neither', 'a puppy in the garden')
        const found = await keysFound(memory, 'long-term', { text: 'broken car' })
        if (findsByMeaning(memory)) expect(found[0]).toBe('both')
        else expect(found.sort()).toEqual(['both', 'words'])
      },
      { embedder },
    ),

    law('Tags and filters hold for an embedding as for a text.', async ({ memory }) => {
      if (!memory.capabilities['long-term'].semantic) {
        await refused('NOT_SUPPORTED', () => memory.search('long-term', { embedding: [1, 0], tags: ['a'] }))
        return
      }
      for (let i = 0; i < 30; i++) {
        await memory.write('long-term', `near ${i}`, { n: i }, { embedding: [1, i / 100] })
      }
      await memory.write('long-term', 'far', { n: 99 }, { embedding: [0.1, 1], tags: ['a'] })
      expect(await keysFound(memory, 'long-term', { embedding: [1, 0], tags: ['a'] }, { limit: 5 })).toEqual([
        'far',
      ])
      expect(
        await keysFound(memory, 'long-term', { embedding: [1, 0], filters: { n: 99 } }, { limit: 5 }),
      ).toEqual(['far'])
    }),

    law(
      'A vector of a length that none of its scope has is refused, never compared, whichever entries it is to find.',
      async ({ memory }) => {
        if (!memory.capabilities['long-term'].semantic) {
          await refused('NOT_SUPPORTED', () => memory.search('long-term', { embedding: [1] }))
          return
        }
        await memory.write('long-term', 'east', 1, { embedding: [1, 0] })
        for (const tags of [[], ['other']])
          await refused('INVALID_INPUT', () => memory.search('long-term', { embedding: [1, 0, 0], tags }))
      },
    ),

    law(
      'An entry whose vector has another length is not found by a vector, and hides no other.',
      async ({ memory }) => {
        if (!memory.capabilities['long-term'].semantic) {
          await refused('NOT_SUPPORTED', () => memory.search('long-term', { embedding: [1, 0, 0] }))
          return
        }
        const write = (key: string, embedding: number[]) =>
          memory.write('long-term', key, `the entry ${key}`, { embedding, tags: [key] })
        await write('east', [1, 0])
        await write('north', [0, 1])
        await write('odd', [1, 0, 0])
        expect(await keysFound(memory, 'long-term', { embedding: [1, 0] })).toEqual(['east', 'north'])
        expect(await keysFound(memory, 'long-term', { embedding: [1, 0, 0] })).toEqual(['odd'])
        expect(await keysFound(memory, 'long-term', { embedding: [1, 0], tags: ['odd'] })).toEqual([])
        expect(await keysFound(memory, 'long-term', { embedding: [1, 0], text: 'odd' })).toContain('odd')
        await refused('INVALID_INPUT', () => memory.search('long-term', { embedding: [1] }))
      },
    ),

    law(
      'An overwritten entry is found by its new vector only.',
      async ({ memory }) => {
        await memory.write('long-term', 'pet', 'a puppy')
        await memory.write('long-term', 'pet', 'a physician')
        const text = await keysFound(memory, 'long-term', { text: 'hound' }, { minScore: 0.3 })
        expect(text).toEqual([])
        const found = await keysFound(memory, 'long-term', { text: 'doctor' }, { minScore: 0.3 })
        expect(found).toEqual(findsByMeaning(memory) ? ['pet'] : [])
      },
      { embedder },
    ),

    law(
      'With an embedder no search comes upon an entry of another namespace, however near it is.',
      async ({ memory, reopen }) => {
        const other = await reopen({ namespace: 'somebody-else' })
        for (let i = 0; i < 20; i++) await other.write('long-term', `theirs ${i}`, `the automobile, day ${i}`)
        await memory.write('long-term', 'mine', 'the engine would not start')
        await memory.write('long-term', 'pet', 'a puppy in the garden')
        for (const text of ['vehicle', 'the automobile', 'day 7']) {
          const found = await keysFound(memory, 'long-term', { text })
          expect(found.filter((key) => key.startsWith('theirs'))).toEqual([])
          if (findsByMeaning(memory) && text !== 'day 7') expect(found[0]).toBe('mine')
          const theirs = await keysFound(other, 'long-term', { text })
          expect(theirs.filter((key) => !key.startsWith('theirs'))).toEqual([])
        }
        await memory.clear('long-term')
        expect(await keysFound(memory, 'long-term', { text: 'the automobile' })).toEqual([])
      },
      { embedder },
    ),

    law(
      'With an embedder a text finds only entries that live, carry all its tags and pass its filter.',
      async ({ memory, time }) => {
        await memory.write('long-term', 'expired', 'the automobile', { ttl: 1000, tags: ['t'], type: 'a' })
        await memory.write('long-term', 'tagged', 'the engine', { tags: ['t', 'u'], type: 'b' })
        await memory.write('long-term', 'plain', 'an automobile', { type: 'a' })
        for (let i = 0; i < 20; i++) await memory.write('long-term', `pet ${i}`, `a puppy, day ${i}`)
        time.advance(1000)
        const found = (query: SearchQuery) =>
          keysFound(memory, 'long-term', { text: 'vehicle', ...query }, { minScore: 0.2 })
        const nearest = (...keys: string[]) => (findsByMeaning(memory) ? keys : [])
        expect((await found({})).sort()).toEqual(nearest('plain', 'tagged'))
        expect(await found({ tags: ['t'] })).toEqual(nearest('tagged'))
        expect(await found({ tags: ['t', 'v'] })).toEqual([])
        expect(await found({ filters: { type: 'a' } })).toEqual(nearest('plain'))
        expect(await found({ filters: { type: 'nothing' } })).toEqual([])
      },
      { embedder },
    ),

    law(
      'A text in a script that the embedder does not know is looked for by its words alone.',
      async ({ memory }) => {
        await memory.write('long-term', 'дом', 'пёс спит во дворе')
        await memory.write('long-term', 'сад', 'дождь над садом')
        await memory.write('long-term', 'note', 'nothing of either')
        const found = await memory.search('long-term', { text: 'Где спит пёс?' })
        expect(found.map(({ key, mode }) => [key, mode])).toEqual([['дом', 'lexical']])
      },
      { embedder: { ...embedder, scripts: ['Latin'] } },
    ),
  ],
}
