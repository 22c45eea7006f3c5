import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, redactText } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/open-file-memory.ts'
import { scrubFiles } from '../src/scrub.ts'
import { abandonErasures } from './support/abandon-erasures.ts'
import { openWithArchives } from './support/open-with-archives.ts'
import { temporaryRoot } from './support/temporary-root.ts'
import { whileReplacing } from './support/while-replacing.ts'

const secret = 'password: hunter2hunter2'
const clean = 'password: [redacted:password]'

/** Scrubs a note; something happens to its file when the new text is ready to take its place. */
async function scrubWhile(meanwhile: (path: string) => void) {
  const root = temporaryRoot()
  const store = await openFileStore({ root })
  const memory = createMemoryManager({ stores: store, redact: 'allow' })
  await memory.write('long-term', 'note', secret)
  const path = join(root, 'memory/long-term/note.md')
  const found = scrubFiles(
    whileReplacing(() => meanwhile(path)),
    store,
    redactText,
    true,
  )
  expect(found).toEqual([{ path: 'memory/long-term/note.md', counts: { password: 1 } }])
  await memory.close()
  return path
}

it('keeps what a person writes into a file while it is scrubbed', async () => {
  const path = await scrubWhile((file) => appendFileSync(file, '\nby hand\n'))
  const text = readFileSync(path, 'utf8')
  expect(text).toContain(clean)
  expect(text).toContain('by hand')
})

it('does not bring back a file that is deleted while it is scrubbed', async () => {
  expect(existsSync(await scrubWhile((file) => rmSync(file)))).toBe(false)
})

it('changes nothing outside the memory, whatever links lead there', async () => {
  const root = temporaryRoot()
  const outside = temporaryRoot()
  let now = 0
  const stores = await openFileStore({ root })
  const memory = createMemoryManager({ stores, clock: () => now, redact: 'allow' })
  await memory.write('episodic', 'old', secret)
  now = 100 * 24 * 60 * 60 * 1000
  await memory.cleanup()
  await memory.write('long-term', 'note', secret)
  const folders = ['memory/long-term', 'memory/cold/episodic']
  for (const folder of folders) {
    cpSync(join(root, folder), join(outside, folder), { recursive: true })
    rmSync(join(root, folder), { recursive: true })
    symlinkSync(join(outside, folder), join(root, folder))
  }
  const files = ['memory/long-term/note.md', 'memory/cold/episodic/old.json.gz']
  const before = files.map((file) => readFileSync(join(outside, file)))
  const found = scrubFiles(defaultFileSystem, stores, redactText, true)
  expect(found.filter(({ problem }) => !problem)).toEqual([])
  expect(files.map((file) => readFileSync(join(outside, file)))).toEqual(before)
  await memory.close()
})

it('leaves no word in the index when it goes on after an interruption', async () => {
  const root = temporaryRoot()
  const store = await openFileStore({ root })
  const memory = createMemoryManager({ stores: store, redact: 'allow' })
  await memory.write('long-term', 'note', 'a password: zeppelin1zeppelin')
  expect(await memory.search('long-term', { text: 'zeppelin1zeppelin' })).toHaveLength(1)
  const interrupted = {
    ...store,
    beginErasure() {
      store.beginErasure()
      return () => {
        throw new Error('killed')
      }
    },
  }
  expect(() => scrubFiles(defaultFileSystem, interrupted, redactText, true)).toThrow('killed')
  const isHealthy = (fix: boolean): boolean =>
    checkUp(defaultFileSystem, store, { deep: false, fix }).every(({ ok }) => ok)
  // Whoever erases still lives: it is about to rebuild the index itself.
  expect(isHealthy(false)).toBe(true)
  abandonErasures(root)
  expect(isHealthy(false)).toBe(false)
  expect(scrubFiles(defaultFileSystem, store, redactText, false)).toEqual([])
  expect(store.hasTraces()).toBe(true)
  expect(scrubFiles(defaultFileSystem, store, redactText, true)).toEqual([])
  expect(isHealthy(false)).toBe(true)
  await memory.close()
  const folder = join(root, 'memory/.recall')
  for (const name of ['index.db', 'index.db-wal'].filter((name) => existsSync(join(folder, name))))
    expect(readFileSync(join(folder, name)).includes('zeppelin1zeppelin'), name).toBe(false)
})

it('keeps the note of a removal while another one ends', async () => {
  const root = temporaryRoot()
  const store = await openFileStore({ root })
  store.beginErasure()
  const finish = store.beginErasure()
  finish()
  expect(store.hasTraces()).toBe(false)
  abandonErasures(root)
  expect(store.hasTraces()).toBe(true)
  expect(checkUp(defaultFileSystem, store, { deep: false, fix: true }).every(({ ok }) => ok)).toBe(true)
  expect(readdirSync(join(root, 'memory/.recall/erasing'))).toEqual([])
  await store.close()
})

describe('scrubbing', () => {
  it('replaces secrets in every readable file, names the others and leaves no word in the index', async () => {
    const { root, store, memory, at } = await openWithArchives(1)
    await memory.write('long-term', 'note', 'the word is hunter2')
    writeFileSync(at('topic.md'), '# hunter2\n')
    writeFileSync(at('long-term/bad.md'), Buffer.from([0xff, 0xfe]))
    appendFileSync(at('ARCHIVE.md'), '| 001 | hunter2 |\n')
    await memory.search('long-term', { text: 'hunter2' })
    const redact = (text: string) => {
      const counts: Record<string, number> = text.includes('hunter2') ? { password: 1 } : {}
      return { text: text.replaceAll('hunter2', '[gone]'), counts }
    }
    const found = scrubFiles(defaultFileSystem, store, redact, true)
    expect(
      found
        .filter(({ problem }) => !problem)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['memory/ARCHIVE.md', 'memory/long-term/note.md', 'memory/topic.md'])
    expect(found.find(({ problem }) => problem)?.path).toBe('memory/long-term/bad.md')
    expect(await memory.search('long-term', { text: 'hunter2' })).toEqual([])
    await memory.close()
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      const path = join(root, name)
      if (name.includes('.') && !readdirSafe(path))
        expect(readFileSync(path).includes('hunter2'), name).toBe(false)
    }
  })
})

const readdirSafe = (path: string): boolean => {
  try {
    readdirSync(path)
    return true
  } catch {
    return false
  }
}

it.each(['ENOTSUP', 'EISDIR'])(
  'notes a removal also where the file system has no hard links: %s',
  async (code) => {
    const root = temporaryRoot()
    const linkSync = (): never => {
      throw Object.assign(new Error('no links'), { code })
    }
    const store = await openFileStore({ root, fileSystem: { ...defaultFileSystem, linkSync } })
    store.beginErasure()
    abandonErasures(root)
    expect(store.hasTraces()).toBe(true)
    await store.close()
  },
)
