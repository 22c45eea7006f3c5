import { type Embedder, embedWhole } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { memories, reembed } from '@recall/store-postgres'
import { describe, expect, it } from 'vitest'
import { degrees } from './support/degrees.ts'
import { engines, lesson, noLimits, openHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['report', 'incident']
const source_url = 'https://example.com/1'
const seen = 400

/** Sees the beginning of each text, as models do. */
const shortSighted: Embedder = {
  ...fakeEmbedder(),
  maxTokens: seen / 4,
  embed: (texts, mode) =>
    fakeEmbedder().embed(
      texts.map((text) => text.slice(0, seen)),
      mode,
    ),
}

/** Tells no text from another. */
const blind: Embedder = {
  ...shortSighted,
  embed: async (texts) => texts.map(() => Float32Array.from({ length: 64 }, () => 1 / 8)),
}

const preamble = `${lesson('incident')} ${lesson('template')} ${lesson('service')}`.slice(0, 600)
const report = (...subjects: string[]): string => [preamble, ...subjects.map(lesson)].join(' ')

describe.each(engines)('memories longer than the model reads, on %s,', (_, open) => {
  const database = useDatabase(open)

  const hubOf = (settings: object = {}) =>
    openHub(database(), { ...noLimits, ...settings }, { embedder: shortSighted })
  const qualities = async () =>
    (await database().select().from(memories)).map(({ quality, duplicateOf }) => [
      quality,
      duplicateOf !== null,
    ])

  it.each([false, true])('are no copies because they begin alike; queued: %j', async (embedAsync) => {
    const hub = await hubOf({ embedAsync })
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const saved = new Map<string, string>()
    for (let i = 0; i < 3; i++) {
      for (const agent of [ada, bob]) {
        const content = report(`redis${agent.id}${i}`, `kafka${i}${agent.id}`)
        saved.set((await agent.save({ content, tags })).id, content)
      }
    }
    await hub.embedWaiting()
    expect(await qualities()).toEqual(Array(6).fill([0, false]))
    for (const [id, content] of saved) {
      const [found] = await ada.search(content.slice(-300))
      expect(found?.id).toBe(id)
    }
  })

  it('are copies where they say the same to the end', async () => {
    const hub = await hubOf()
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const first = await ada.save({ content: report('redis', 'kafka'), tags })
    const again = await bob.save({ content: report('redis', 'kafka').toUpperCase().toLowerCase(), tags })
    const near = await bob.save({ content: report('redis', 'nginx'), tags })
    expect(again.similar).toMatchObject([{ id: first.id, relation: 'duplicate_candidate' }])
    expect(near.similar.map(({ relation }) => relation)).toEqual(['similar', 'similar'])
    expect((await qualities()).sort()).toEqual([
      [-1, true],
      [0, false],
      [0, false],
    ])
  })

  it('are copies where only what nobody sees stands in their words', async () => {
    const hub = await openHub(database(), noLimits, { embedder: blind })
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const content = report('redis', 'kafka')
    const { id } = await ada.save({ content, tags })
    const again = await bob.save({ content: content.replace(/(\w)(\w+ \w+ \w+)/g, '$1\u200b$2'), tags })
    expect(again.similar).toMatchObject([{ id, relation: 'duplicate_candidate', similarity: 1 }])
  })

  it('are as near as their words to what their vectors do not tell them from, also to short ones', async () => {
    const hub = await openHub(database(), noLimits, { embedder: blind })
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const long = await ada.save({ content: report('redis', 'kafka'), tags })
    const short = await bob.save({ content: lesson('nginx'), tags })
    expect(short.similar).toMatchObject([{ id: long.id, relation: 'similar', similarity: 0.75 }])
    const again = await bob.save({ content: report('redis', 'kafka'), tags })
    expect(again.similar).toMatchObject([
      { id: long.id, relation: 'duplicate_candidate', similarity: 1 },
      { id: short.id, relation: 'similar', similarity: 0.75 },
    ])
  })

  // Cosines: 0.94 of 20 degrees, and 0.87 of 30.
  it.each([
    ['no nearer than their vectors where they have the same words', 20, 'redis', 0.94],
    ['as near as their vectors where those are not nearly the same', 30, 'nginx', 0.87],
  ])('are %s', async (_, angle, subject, similarity) => {
    const shouting: Embedder = {
      ...degrees,
      maxTokens: shortSighted.maxTokens,
      embed: (texts, mode) =>
        degrees.embed(
          texts.map((text) => degrees.text(text === text.toLowerCase() ? 0 : angle)),
          mode,
        ),
    }
    const ada = await (await openHub(database(), noLimits, { embedder: shouting })).agent('ada', 1)
    await ada.save({ content: report('redis', 'kafka').toLowerCase(), tags })
    const { similar } = await ada.save({ content: report(subject, 'kafka').toUpperCase(), tags })
    expect(similar.map((each) => each.similarity)).toEqual([expect.closeTo(similarity, 2)])
  })

  it('are found by what they say at the end, also after a change of the model', async () => {
    const hub = await hubOf()
    const ada = await hub.agent('ada', 1)
    const { id } = await ada.save({ content: report('redis', 'kafka'), tags })
    const found = async () => (await ada.search(lesson('kafka'))).map((each) => [each.id, each.similarity])
    const before = await found()
    expect(before).toEqual([[id, expect.any(Number)]])
    const moved = { ...shortSighted, model: 'another' }
    expect(await reembed(database(), 'memories', moved)).toBe(1)
    const [row] = await database().select().from(memories)
    const [whole] = await embedWhole(moved, [report('redis', 'kafka')], 'document')
    expect(row?.embedding?.map((each) => each.toFixed(4))).toEqual(
      [...(whole ?? [])].map((each) => each.toFixed(4)),
    )
  })

  it('are kept with a warning', async () => {
    const hub = await hubOf()
    const ada = await hub.agent('ada', 1)
    const whole = lesson('redis').repeat(3).slice(0, 299)
    expect((await ada.save({ content: whole, tags, source_url })).warnings).toBeUndefined()
    expect((await ada.save({ content: report('redis'), tags, source_url })).warnings).toEqual([
      expect.stringContaining('save several lessons'),
    ])
  })
})
