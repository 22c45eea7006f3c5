import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  conversationKey,
  conversationType,
  createMemoryManager,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  memoryScopes,
  sessionSummaryKey,
  sessionSummaryType,
} from '@recall/core'
import { createTicker } from '@recall/core/conformance'
import type { FileStore } from '../../src/file-store.ts'
import { defaultFileSystem, type FileSystem } from '../../src/files/file-system.ts'
import { openFileStore } from '../../src/open-file-memory.ts'
import { scrubFiles } from '../../src/scrub.ts'
import { archiveOf, summaryOf } from './storm-values.ts'

export interface Opened {
  memory: MemoryManager
  store: FileStore
  fileSystem: FileSystem
}

const start = Date.UTC(2026, 0, 1)
const forGood = { ttl: Number.POSITIVE_INFINITY }

/** Opens the memory an hour after it was filled, so that one entry has expired. */
export async function openAt(root: string, fileSystem = defaultFileSystem, hours = 1): Promise<Opened> {
  const { clock, advance } = createTicker(start)
  advance(hours * 3_600_000)
  const store = await openFileStore({ root, fileSystem })
  return { memory: createMemoryManager({ stores: store, clock, redact: 'allow' }), store, fileSystem }
}

/** A memory with something of every kind in it. */
export async function fill(root: string): Promise<void> {
  const { memory } = await openAt(root, defaultFileSystem, 0)
  for (const key of ['a', 'b', 'c']) await memory.write('long-term', key, `old ${key}`, { tags: ['note'] })
  await memory.write('short-term', 'brief', 'soon gone', { ttl: 1000 })
  await memory.write('short-term', 'briefer', 'soon gone', { ttl: 500 })
  await memory.write('episodic', conversationKey('first'), archiveOf('first', 1), { type: conversationType })
  await memory.write('short-term', sessionSummaryKey('first'), summaryOf('first', 1), {
    type: sessionSummaryType,
    ...forGood,
  }) // prettier-ignore
  await memory.write('episodic', 'long ago', 'archived')
  await archiveAll(memory)
  await memory.write('episodic', 'run', 'not archived')
  await memory.write('long-term', 'MEMORY.md#people', 'Ada')
  await memory.write('long-term', 'MEMORY.md#places', 'Delft')
  await memory.close()
  // A copy of the memory would build it anew, as a copied index is not the one that was closed.
  rmSync(join(root, 'memory/.recall/index.db'), { force: true })
  writeFileSync(join(root, 'memory/topic.md'), '# Topic\n\nThe word is hunter2.\n')
}

async function archiveAll(memory: MemoryManager): Promise<void> {
  const { errors } = await memory.cleanup({ scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER })
  if (errors[0]) throw new MemoryError(errors[0].message, MemoryErrorCode.WRITE_FAILED)
}

export interface Operation {
  name: string
  run(opened: Opened): Promise<unknown>
  /** Several files change one after the other: a crash may leave some of them done. */
  stepwise?: boolean
}

export const operations: readonly Operation[] = [
  { name: 'write of a new note', run: ({ memory }) => memory.write('long-term', 'new', 'new text') },
  {
    name: 'write of a note in a new scope',
    run: ({ memory }) => memory.write('working', 'new', { is: 'new' }),
  },
  { name: 'overwrite of a note', run: ({ memory }) => memory.write('long-term', 'a', 'new text') },
  {
    name: 'write of a key that must be new',
    run: ({ memory }) => memory.write('long-term', 'new', 'new', { overwrite: false }),
  },
  { name: 'delete of a note', run: ({ memory }) => memory.delete('long-term', 'a') },
  { name: 'write of a section', run: ({ memory }) => memory.write('long-term', 'MEMORY.md#people', 'Grace') },
  {
    name: 'write of a new section',
    run: ({ memory }) => memory.write('long-term', 'other.md#things', 'Tea'),
  },
  { name: 'delete of a section', run: ({ memory }) => memory.delete('long-term', 'MEMORY.md#people') },
  {
    name: 'archive of a conversation',
    run: ({ memory }) =>
      memory.write('episodic', conversationKey('second'), archiveOf('second', 2), { type: conversationType }),
  },
  {
    name: 'archive of a conversation that grew',
    run: ({ memory }) =>
      memory.write('episodic', conversationKey('first'), archiveOf('first', 5), { type: conversationType }),
  },
  { name: 'delete of an archive', run: ({ memory }) => memory.delete('episodic', conversationKey('first')) },
  {
    name: 'window entry',
    run: ({ memory }) =>
      memory.write('short-term', sessionSummaryKey('second'), summaryOf('second', 2), {
        type: sessionSummaryType,
        ...forGood,
      }), // prettier-ignore
  },
  {
    name: 'atomic update of three',
    run: ({ memory }) =>
      memory.atomicUpdate('long-term', [
        { operation: 'set', key: 'a', value: 'new a' },
        { operation: 'delete', key: 'b' },
        { operation: 'set', key: 'd', value: 'new d' },
      ]),
  },
  { name: 'clear by tag', run: ({ memory }) => memory.clear('long-term', { tags: ['note'] }) },
  {
    name: 'sweep',
    run: async ({ memory }) => {
      const { errors } = await memory.cleanup()
      if (errors[0]) throw new Error(errors[0].message)
    },
    stepwise: true,
  },
  { name: 'clean-up that archives a note', run: ({ memory }) => archiveAll(memory) },
  { name: 'restore of an archived note', run: ({ memory }) => memory.restore('episodic', 'long ago') },
  { name: 'delete of an archived note', run: ({ memory }) => memory.delete('episodic', 'long ago') },
  {
    name: 'scrub',
    run: async ({ store, fileSystem }) => {
      const redact = (text: string) => {
        const clean = text.replaceAll('hunter2', '[gone]')
        const counts: Record<string, number> = clean === text ? {} : { password: 1 }
        return { text: clean, counts }
      }
      const problem = scrubFiles(fileSystem, store, redact, true).find((file) => file.problem)
      if (problem) throw new Error(problem.problem)
    },
    stepwise: true,
  },
]

/** Everything a caller can see, and what stands in the files kept for people. */
export async function observe(root: string): Promise<string> {
  const { memory } = await openAt(root)
  const seen: unknown[] = []
  for (const scope of memoryScopes) {
    const found = await memory.search(scope, {}, { limit: 1000, touch: false, includeArchived: true })
    seen.push(...found.map(({ key, value, archived = false }) => [scope, key, value, archived]).sort())
  }
  await memory.close()
  const folder = join(root, 'memory')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
  const expired = files.filter((name) => name.startsWith('short-term/'))
  const table = readFileSync(join(folder, 'ARCHIVE.md'), 'utf8')
  const topic = readFileSync(join(folder, 'topic.md'), 'utf8')
  return JSON.stringify({ seen, expired, table, topic }, null, 1)
}
