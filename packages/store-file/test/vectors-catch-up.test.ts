import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { describe, expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/index.ts'
import { closeAfterwards, conceptEmbedder, keys, memoryAt } from './support/memory-with-vectors.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const conversation = (body: string) => ({
  date: '2026-03-05T10:00:00Z',
  sessionId: 's',
  messageCount: 150,
  duration: '1m',
  source: 'session',
  topics: [],
  body,
})

describe('vectors of files', () => {
  it('embed no text twice, not even when the index is gone', async () => {
    const root = temporaryRoot()
    const first = await memoryAt(root)
    await first.memory.write('long-term', 'a', 'A storm')
    await first.memory.write('long-term', 'b', 'A storm')
    await keys(first.memory, 'rain')
    expect(first.embedder.asked).toEqual(['A storm'])
    await first.memory.close()
    for (const name of ['index.db', 'index.seal']) rmSync(join(root, 'memory/.recall', name), { force: true })
    const second = await memoryAt(root)
    expect((await keys(second.memory, 'rain')).sort()).toEqual(['a', 'b'])
    expect(second.embedder.asked).toEqual([])
  })

  it('are made of nothing that has expired, and count as complete without it', async () => {
    const embedder = conceptEmbedder()
    const store = await openFileStore({ root: temporaryRoot(), embedder })
    let now = Date.now()
    const memory = createMemoryManager({ stores: store, embedder, clock: () => now })
    closeAfterwards(memory)
    await memory.write('long-term', 'kept', 'A storm')
    await memory.write('long-term', 'embedded', 'A puppy', { ttl: 1000 })
    await store.vectors?.catchUp({ now })
    await memory.write('long-term', 'expired', 'The vehicle', { ttl: 1000 })
    now += 2000
    expect(await keys(memory, 'rain')).toEqual(['kept'])
    expect(await store.vectors?.catchUp({ now })).toEqual({ done: 0, total: 0 })
    expect(store.vectors?.coverage(now)).toMatchObject({ embedded: 2, total: 2 })
    expect(store.vectorCoverage(now)).toMatchObject({ embedded: 2, total: 2 })
    expect(embedder.asked).toEqual(['A storm', 'A puppy'])
    expect(store.vectors?.coverage(now - 2000)).toMatchObject({ embedded: 2, total: 3 })
  })

  it('are seen by the doctor, who has no model, in a copy of the memory', async () => {
    const root = temporaryRoot()
    const { memory, store } = await memoryAt(root)
    await memory.write('long-term', 'a', 'A storm')
    await memory.write('long-term', 'b', 'A puppy')
    await store.vectors?.catchUp()
    await memory.write('long-term', 'c', 'The vehicle')
    await memory.close()
    const copy = temporaryRoot()
    cpSync(root, copy, { recursive: true })
    const opened = await openFileStore({ root: copy })
    opened.index.fresh()
    const vectors = checkUp(defaultFileSystem, opened, { deep: false, fix: false }).find(
      ({ check }) => check === 'vectors',
    )
    expect(vectors).toMatchObject({
      ok: true,
      message: expect.stringMatching(/^one of concepts for 2 of 3 passages;/),
    })
    await opened.close()
  })

  it('are made before a search for so much of what is new as it can wait for, the newest first', async () => {
    const embedder = conceptEmbedder()
    const { memory, store } = await memoryAt(temporaryRoot(), embedder)
    const long = 'and so on and on '.repeat(60)
    for (let i = 0; i < 12; i++) await memory.write('long-term', `${i}`, `The automobile ${i} ${long}`)
    expect((await keys(memory, 'vehicle')).sort()).toEqual(['10', '11', '7', '8', '9'])
    expect(embedder.asked).toHaveLength(5)
    expect(await store.embedRecent(Date.now())).toBe(2)
    // A text that is longer than that has its turn as well.
    await memory.write('long-term', 'longest', 'The automobile '.repeat(700))
    for (let left = 1; left > 0; ) left = await store.embedRecent(Date.now())
    const found = await memory.search('long-term', { text: 'vehicle' }, { limit: 13 })
    expect(found.map(({ key }) => key)).toContain('longest')
    expect(new Set(embedder.asked).size).toBe(embedder.asked.length)
  })

  it('are made before a search for a few texts only, however short they are', async () => {
    const { memory, store } = await memoryAt(temporaryRoot())
    const turns = Array.from({ length: 100 }, (_, i) => `### User\n\nstorm ${i}\n`)
    await memory.write('episodic', 'conversation:s', conversation(turns.join('\n')), { type: 'conversation' })
    expect(await store.embedRecent(0)).toBe(36)
  })

  it('are made as soon as a model answers again, also when nothing was written meanwhile', async () => {
    const known = conceptEmbedder()
    let isAway = true
    const embedder: typeof known = {
      ...known,
      async embed(texts, mode) {
        if (isAway) throw new MemoryError('no answer', MemoryErrorCode.UNAVAILABLE)
        return known.embed(texts, mode)
      },
    }
    const notices: string[] = []
    const { memory, store } = await memoryAt(temporaryRoot(), embedder, {
      onNotice: (text) => notices.push(text),
    })
    await memory.write('long-term', 'a', 'The automobile')
    for (const now of [0, 60_000]) expect(await store.embedRecent(now)).toBe(0)
    expect(notices).toEqual([expect.stringContaining('no answer')])
    isAway = false
    await store.embedRecent(119_999)
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 0, total: 1 })
    await store.embedRecent(120_000)
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 1, total: 1 })
  })

  it('are made again although the clock was set back after a failure', async () => {
    const known = conceptEmbedder()
    const embedder: typeof known = { ...known, embed: vi.fn(known.embed) }
    const { memory, store } = await memoryAt(temporaryRoot(), embedder, { onNotice: () => {} })
    await memory.write('long-term', 'a', 'The automobile')
    const yearMs = 365 * 24 * 60 * 60 * 1000
    vi.mocked(embedder.embed).mockRejectedValueOnce(new MemoryError('no answer', MemoryErrorCode.UNAVAILABLE))
    expect(await store.embedRecent(yearMs)).toBe(0)
    await store.embedRecent(0)
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 1, total: 1 })
  })

  it('find the beginning of a long conversation, the rest of which has none yet', async () => {
    const { memory, store } = await memoryAt(temporaryRoot())
    const long = 'and so on and on '.repeat(60)
    const turns = ['puppy', ...Array.from({ length: 9 }, () => ''), 'storm'].map(
      (word, i) => `### User\n\n${word} ${i} ${long}\n`,
    )
    await memory.write('episodic', 'conversation:s', conversation(turns.join('\n')), { type: 'conversation' })
    const found = async (text: string) => (await memory.search('episodic', { text })).length
    expect(await found('hound')).toBe(1)
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 5, total: 11 })
    expect(await found('weather')).toBe(0)
    await store.vectors?.catchUp()
    expect(await found('weather')).toBe(1)
  })

  it('tell of progress within a long conversation', async () => {
    const { memory, store } = await memoryAt(temporaryRoot())
    const turns = Array.from({ length: 150 }, (_, i) => `### User\n\nturn ${i} of the storm\n`)
    await memory.write('episodic', 'conversation:s', conversation(turns.join('\n')), { type: 'conversation' })
    const told: number[] = []
    await store.vectors?.catchUp({ onProgress: ({ done }) => told.push(done) })
    expect(told).toEqual([0, 64, 128, 150, 150])
  })

  it('tell of progress sooner where the turns are long', async () => {
    const { memory, store } = await memoryAt(temporaryRoot())
    const long = 'and so on and on '.repeat(60)
    const turns = Array.from({ length: 60 }, (_, i) => `### User\n\nturn ${i} of the storm ${long}\n`)
    await memory.write('episodic', 'conversation:s', conversation(turns.join('\n')), { type: 'conversation' })
    const told: number[] = []
    await store.vectors?.catchUp({ onProgress: ({ done }) => told.push(done) })
    expect(told).toEqual([0, 30, 60, 60])
  })

  it('keep what was embedded before an interruption', async () => {
    const root = temporaryRoot()
    const { memory, embedder } = await memoryAt(root)
    const texts = Array.from({ length: 200 }, (_, i) => `A storm, number ${i}`)
    await memory.batchWrite(
      'long-term',
      texts.map((value, i) => ({ key: `n${i}`, value })),
    )
    await memory.close()
    const stop = new AbortController()
    const failing: Embedder = {
      ...embedder,
      async embed(some, mode, options) {
        options?.signal?.throwIfAborted()
        if (embedder.asked.length > 64) stop.abort(new Error('enough'))
        return embedder.embed(some, mode)
      },
    }
    const first = await openFileStore({ root, embedder: failing })
    await expect(first.vectors?.catchUp({ signal: stop.signal })).rejects.toThrow('enough')
    const kept = first.vectors?.coverage().embedded ?? 0
    expect(kept).toBeGreaterThan(0)
    expect(kept).toBeLessThan(200)
    await first.close()
    const steps: number[] = []
    const last = await openFileStore({ root, embedder })
    await last.vectors?.catchUp({ onProgress: ({ done }) => steps.push(done) })
    expect(steps[0]).toBe(0)
    expect(steps.at(-1)).toBe(200 - kept)
    expect(embedder.asked.sort()).toEqual(texts.sort())
    await last.close()
  })
})
