import { fakeEmbedder } from '@recall/embeddings'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, engines, openHub } from './support/open-hub.ts'
import { type SpamFigures, simulateSpam } from './support/spam-simulation.ts'

/** A short form; `pnpm bench spam` runs it in full. */
const sizes = {
  lessons: 60,
  queries: 40,
  sybils: 40,
  postsEach: 8,
  ring: 8,
  seed: 1,
  concurrency: 4,
}

describe.each(engines)('spam on %s', (_, open) => {
  let engine: Engine
  let figures: SpamFigures
  beforeAll(async () => {
    engine = await open()
    const hub = await openHub(engine.database, undefined, { embedder: fakeEmbedder({ dimensions: 384 }) })
    figures = await simulateSpam(hub, sizes)
    // The machine may be busy with other tests.
  })
  afterAll(() => engine.close())

  it('surfaces for no trusted agent, who finds what was asked for', () => {
    expect(figures.posts).toBe(sizes.sybils * sizes.postsEach)
    expect(figures.surfaced).toEqual({ advertising: 0, template: 0, copy: 0, steering: 0 })
    expect(figures.answered).toBe(sizes.queries)
    // There was room for it.
    expect(figures.goodResults).toBeLessThan(5)
  })

  it('earns nothing by a ring that cites and searches for its own', () => {
    expect(figures.promoted).toBe(0)
  })

  it('looks to its author like any other memory', () => {
    expect(figures.ownFound).toBe(figures.ownAsked)
    expect(figures.hints).toEqual([])
  })

  it('does not keep an honest newcomer down', () => {
    expect(figures.newcomerNeeded).toBe(1)
  })
})
