import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { damage } from './support/damage-file.ts'
import { answers, fill, internal } from './support/index-answers.ts'
import { isPosix } from './support/platform.ts'
import { seededRandom } from './support/random.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

const corruptions = Number(process.env.RECALL_TEST_CORRUPTIONS ?? 30)

const setAsideIn = (root: string): string[] =>
  readdirSync(internal(root)).filter((name) => name.includes('.corrupt-'))

describe('a damaged index', () => {
  it(`never changes an answer: ${corruptions} random damages`, async () => {
    const place = temporaryRoot()
    const full = join(place, 'full')
    mkdirSync(full)
    await fill(full, 120)
    const random = seededRandom(11)
    for (let i = 0; i < corruptions; i++) {
      const root = join(place, `damaged-${i}`)
      cpSync(full, root, { recursive: true, preserveTimestamps: true })
      // Seals the copy, which has other times and inodes than the original.
      const sealing = await openFileMemory({ root })
      const expected = await answers(sealing)
      await sealing.close()
      const what = damage(join(internal(root), 'index.db'), random)
      const notices: string[] = []
      const memory = await openFileMemory({ root, onNotice: (text) => notices.push(text) })
      expect(await answers(memory), `${what}, damage ${i}`).toBe(expected)
      expect(notices.length, what).toBeLessThanOrEqual(1)
      await memory.close()
      const again = await openFileMemory({ root, onNotice: (text) => notices.push(text) })
      expect(await answers(again)).toBe(expected)
      expect(notices.length, `${what}, second opening`).toBeLessThanOrEqual(1)
      await again.close()
      rmSync(root, { recursive: true })
    }
  })

  it('is set aside and announced once when it is no database at all', async () => {
    const root = temporaryRoot()
    await fill(root, 5)
    writeFileSync(join(internal(root), 'index.db'), 'this is no database')
    const notices: string[] = []
    const memory = await openFileMemory({ root, onNotice: (text) => notices.push(text) })
    expect(await memory.search('long-term', { text: 'number3' })).toHaveLength(1)
    expect(await memory.search('long-term', { text: 'number4' })).toHaveLength(1)
    await memory.close()
    expect(notices).toHaveLength(1)
    expect(notices[0]).toContain('being rebuilt')
    expect(setAsideIn(root)).toHaveLength(1)
  })

  it.runIf(isPosix)('in the place of one that is open is not sealed by whoever closes that', async () => {
    const root = temporaryRoot()
    await fill(root, 20)
    const memory = await openFileMemory({ root })
    await answers(memory)
    for (const name of readdirSync(internal(root)).filter((each) => each.startsWith('index.')))
      rmSync(join(internal(root), name))
    writeFileSync(join(internal(root), 'index.db'), 'of a process that was killed')
    await memory.close()
    expect(existsSync(join(internal(root), 'index.seal'))).toBe(false)
  })

  it('is set aside until the next full rebuild, so that nobody finds there what was forgotten', async () => {
    const root = temporaryRoot()
    await fill(root, 5)
    writeFileSync(join(internal(root), 'index.db'), 'this is no database')
    const store = await openFileStore({ root })
    store.index.fresh()
    expect(setAsideIn(root)).toHaveLength(1)
    store.reindex({ full: true })
    expect(setAsideIn(root)).toEqual([])
    await store.close()
  })

  it('is set aside once: of earlier ones none is kept', async () => {
    const root = temporaryRoot()
    await fill(root, 5)
    for (const text of ['no database', 'no database again']) {
      writeFileSync(join(internal(root), 'index.db'), text)
      const memory = await openFileMemory({ root })
      expect(await memory.search('long-term', { text: 'number3' })).toHaveLength(1)
      await memory.close()
      expect(setAsideIn(root).map((name) => readFileSync(join(internal(root), name), 'utf8'))).toEqual([text])
    }
  })

  it('is removed when it came with a copy of the memory: it is whole, and the copy has other files', async () => {
    const full = temporaryRoot()
    await fill(full, 5)
    const root = temporaryRoot()
    cpSync(full, root, { recursive: true })
    const notices: string[] = []
    const memory = await openFileMemory({ root, onNotice: (text) => notices.push(text) })
    expect(await memory.search('long-term', { text: 'number3' })).toHaveLength(1)
    await memory.close()
    expect(notices).toEqual([
      'the search index was changed by something other than this memory: it is being rebuilt',
    ])
    expect(setAsideIn(root)).toEqual([])
  })
})

describe.runIf(isPosix)('an index that is deleted while it is open', () => {
  it.each([
    ['index.db'],
    ['index.db-wal'],
    ['index.db-shm'],
    ['index.db', 'index.db-wal', 'index.db-shm'],
    ['.'],
  ])('changes no answer: %s %s %s', async (...names) => {
    const root = temporaryRoot()
    await fill(root, 20)
    const memory = await openFileMemory({ root })
    const expected = await answers(memory)
    for (const name of names) rmSync(join(internal(root), name), { recursive: true, force: true })
    expect(await answers(memory)).toBe(expected)
    await memory.write('long-term', 'later', 'written after the deletion')
    expect(await memory.search('long-term', { text: 'deletion' })).toHaveLength(1)
    await memory.close()
    const again = await openFileMemory({ root })
    expect(await again.search('long-term', { text: 'deletion' })).toHaveLength(1)
    expect(await again.search('long-term', { text: 'number7' })).toHaveLength(1)
    await again.close()
  })
})
