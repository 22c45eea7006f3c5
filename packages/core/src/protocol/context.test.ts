import { describe, expect, it } from 'vitest'
import { openMemory } from '../../test/open-memory.ts'
import { type ContextOptions, retrieveContext } from './context.ts'

describe('retrieveContext', () => {
  it('brings playbooks, successes and recent context with their scores', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'p', { type: 'playbook', text: 'scrape web pages' })
    await memory.write('long-term', 'n', { type: 'note', text: 'scrape web pages' })
    await memory.write('episodic', 'good', { outcome: 'success', text: 'scrape the web' })
    await memory.write('episodic', 'bad', { outcome: 'failure', text: 'scrape the web' })
    await memory.write('short-term', 'c', 'just now', { tags: ['context', 'session'] })
    await memory.write('short-term', 'other', 'of another kind', { tags: ['context'] })
    const bundle = await retrieveContext(memory, { description: 'scrape web' })
    expect(bundle.playbooks).toEqual([{ type: 'playbook', text: 'scrape web pages' }])
    expect(bundle.similarEpisodes).toEqual([{ outcome: 'success', text: 'scrape the web' }])
    expect(bundle.recentContext).toEqual(['just now'])
    expect(bundle.relevanceScores.recent).toEqual([1])
    for (const score of [...bundle.relevanceScores.playbooks, ...bundle.relevanceScores.episodes]) {
      expect(score).toBeGreaterThan(0)
      expect(score).toBeLessThanOrEqual(1)
    }
    expect(bundle.omitted).toBe(0)
  })

  it('keeps within the budget, the best of each kind first, and says what it left out', async () => {
    const { memory, time } = openMemory()
    for (let i = 0; i < 5; i++) {
      time.advance(1)
      await memory.write('short-term', `c${i}`, 'x'.repeat(40), { tags: ['context', 'session'] })
    }
    await memory.write('long-term', 'p', 'scrape', { type: 'playbook' })
    const bundle = await retrieveContext(memory, { description: 'scrape' }, { maxTokens: 22 })
    expect(bundle.playbooks).toEqual(['scrape'])
    expect(bundle).toMatchObject({ tokens: 22, omitted: 3 })
    for (const maxTokens of [Number.NaN, -1]) {
      await expect(retrieveContext(memory, { description: 'scrape' }, { maxTokens })).rejects.toMatchObject({
        code: 'MEMORY_INVALID_INPUT',
      })
    }
    const none = await retrieveContext(memory, { description: 'scrape' }, { maxTokens: 0 })
    expect(none).toMatchObject({ playbooks: [], recentContext: [], tokens: 0, omitted: 6 })
    const own = await retrieveContext(memory, { description: 'scrape' }, { countTokens: () => 1000 })
    expect(own.tokens).toBe(4000)
  })

  it('takes five playbooks, three episodes and ten of the recent context, or as many as are wanted', async () => {
    const { memory } = openMemory()
    for (let i = 0; i < 12; i++) {
      await memory.write('long-term', `p${i}`, 'scrape', { type: 'playbook' })
      await memory.write('episodic', `e${i}`, { outcome: 'success', text: 'scrape' })
      await memory.write('short-term', `c${i}`, 'scrape', { tags: ['context', 'session'] })
    }
    const found = async (limits?: ContextOptions['limits']) => {
      const context = await retrieveContext(memory, { description: 'scrape' }, limits ? { limits } : {})
      const { playbooks, similarEpisodes, recentContext } = context
      return [playbooks, similarEpisodes, recentContext].map(({ length }) => length)
    }
    expect(await found()).toEqual([5, 3, 10])
    expect(await found({ playbooks: 1, episodes: 4, recent: 2 })).toEqual([1, 4, 2])
  })

  it('counts an object by its JSON', async () => {
    const { memory } = openMemory()
    const value = { type: 'playbook', text: 'scrape' }
    await memory.write('long-term', 'p', value)
    const { tokens } = await retrieveContext(memory, { description: 'scrape' })
    expect(tokens).toBe(Math.ceil(JSON.stringify(value).length / 4))
  })

  it('leaves out what nobody wants', async () => {
    const { memory } = openMemory()
    await memory.write('episodic', 'e', { outcome: 'success', text: 'scraped pages' })
    await memory.write('short-term', 'c', 'scraping', { tags: ['context', 'session'] })
    const context = await retrieveContext(memory, { description: 'scrape' }, { limits: { episodes: 0 } })
    expect(context).toMatchObject({ similarEpisodes: [], recentContext: ['scraping'], omitted: 0 })
  })

  it.each([
    [{ foo: 1 }, 'options: Unrecognized key: "foo"'],
    [{ limits: { foo: 1 } }, 'options.limits: Unrecognized key: "foo"'],
    [{ limits: { playbooks: -1 } }, 'options.limits.playbooks: '],
    [{ limits: { recent: 1001 } }, 'options.limits.recent: '],
    [{ maxTokens: '5' }, 'options.maxTokens: must be a number of tokens'],
    [{ countTokens: 5 }, 'options.countTokens: must be a function'],
    [{ minScore: 2 }, 'options.minScore: '],
  ])('refuses the options %j and says which is wrong', async (options, message) => {
    const { memory } = openMemory()
    const asked = retrieveContext(memory, { description: 'scrape' }, options as ContextOptions)
    await expect(asked).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining(message),
    })
  })

  it.each([undefined, null, {}, { description: 5 }])('refuses %j for a goal', async (goal) => {
    const { memory } = openMemory()
    await expect(retrieveContext(memory, goal as never)).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining('the goal has no description'),
    })
  })

  it('takes a goal of any length and of any characters', async () => {
    const { memory } = openMemory()
    for (const description of ['', 'word '.repeat(5000), '\ud800', `${'x'.repeat(9999)}🙂`]) {
      await retrieveContext(memory, { description })
    }
  })
})
