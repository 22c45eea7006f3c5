import { describe, expect, it } from 'vitest'
import { appendDurably, createFile, removeFile, replaceFile } from '../src/files/atomic-write.ts'
import type { FileSystem } from '../src/files/file-system.ts'
import { ensureFolder } from '../src/files/folders.ts'
import { applyChanges, finishJournal } from '../src/files/transaction.ts'
import { isPosix } from './support/platform.ts'
import { type DiskState, simulateDisk } from './support/simulated-disk.ts'

const root = '/m'
const internal = '/m/.recall'
const places = ['notes', 'archives', 'ARCHIVE.md', 'MEMORY.md']
const old = 'the old text, whole'

function disk(files: Record<string, string>): DiskState {
  const folders = new Map(
    [root, internal, '/m/notes', '/m/archives'].map((path) => [path, new Map<string, number>()]),
  )
  const contents = new Map<number, string>()
  Object.entries(files).forEach(([path, content], i) => {
    const at = path.lastIndexOf('/')
    folders.get(path.slice(0, at))?.set(path.slice(at + 1), i + 1)
    contents.set(i + 1, content)
  })
  return { folders, files: contents }
}

/** Files of a memory, `null` for one that is not there; unfinished files and folders do not count. */
type Files = Record<string, string | null>

interface Protocol {
  before: Record<string, string>
  /** One function an operation; each is acknowledged when it returns. */
  operations: ((fileSystem: FileSystem) => void)[]
}

/** The files after the first `count` operations. */
function stateAfter({ before, operations }: Protocol, count: number): Files {
  const { fileSystem, now } = simulateDisk(disk(before))
  for (const operation of operations.slice(0, count)) operation(fileSystem)
  return filesOf(now)
}

function filesOf({ folders, files }: DiskState): Files {
  const found: Files = {}
  const visit = (folder: string): void => {
    for (const [name, file] of folders.get(folder) ?? []) {
      if (file === -1) visit(`${folder}/${name}`)
      else if (!name.startsWith('.tmp-')) found[`${folder}/${name}`] = files.get(file) ?? null
    }
  }
  for (const folder of [root, internal, '/m/notes', '/m/archives']) visit(folder)
  return found
}

const canonical = (files: Files): string => JSON.stringify(Object.entries(files).sort())

/** Runs a protocol, loses power in every possible way, recovers, and counts what should not be. */
function examine(protocol: Protocol): { states: number; violations: string[] } {
  const { fileSystem, mark, crashes } = simulateDisk(disk(protocol.before))
  protocol.operations.forEach((operation, i) => {
    operation(fileSystem)
    mark(`acknowledged ${i}`)
  })
  const allowed = protocol.operations.map((_, i) => canonical(stateAfter(protocol, i)))
  allowed.push(canonical(stateAfter(protocol, protocol.operations.length)))
  const violations: string[] = []
  let states = 0
  for (const { state, marks } of crashes()) {
    states++
    const after = simulateDisk(state)
    try {
      finishJournal(after.fileSystem, root, internal, places)
    } catch (error) {
      violations.push(`recovery failed: ${(error as Error).message}`)
      continue
    }
    const found = canonical(filesOf(after.now))
    // What was acknowledged must be there; what was under way may be, whole.
    const acceptable = allowed.slice(marks.length, marks.length + 2)
    if (!acceptable.includes(found)) violations.push(`${marks.length} acknowledged, found ${found}`)
  }
  return { states, violations }
}

const write = (path: string, content: string) => (fileSystem: FileSystem) =>
  replaceFile(fileSystem, path, content)
const changes =
  (...list: { path: string; content: string | null; before: string | null }[]) =>
  (fileSystem: FileSystem) =>
    applyChanges(fileSystem, root, internal, list)

const archived = changes(
  { path: '/m/archives/conversation-001.md', content: 'archive', before: null },
  { path: '/m/ARCHIVE.md', content: 'table with one row', before: old },
  { path: '/m/notes/b.md', content: null, before: old },
)

const protocols: Record<string, Protocol> = {
  'a new file': {
    before: {},
    operations: [(fileSystem) => void createFile(fileSystem, '/m/notes/a.md', 'new, not torn')],
  },
  'a file replaced twice': {
    before: { '/m/notes/a.md': old },
    operations: [write('/m/notes/a.md', 'the second text'), write('/m/notes/a.md', 'the third text')],
  },
  'a file removed': {
    before: { '/m/notes/a.md': old },
    operations: [(fileSystem) => void removeFile(fileSystem, '/m/notes/a.md')],
  },
  'a file in three new folders': {
    before: {},
    operations: [
      (fileSystem) => {
        ensureFolder(fileSystem, '/m/notes/x/y/z')
        createFile(fileSystem, '/m/notes/x/y/z/a.md', 'new')
      },
    ],
  },
  'three files in two folders at once': {
    before: { '/m/ARCHIVE.md': old, '/m/notes/b.md': old },
    operations: [archived],
  },
  'files that were empty before, and one that was not there': {
    before: { '/m/ARCHIVE.md': '', '/m/notes/b.md': '' },
    operations: [
      changes(
        { path: '/m/notes/a.md', content: 'new', before: null },
        { path: '/m/ARCHIVE.md', content: 'table with one row', before: '' },
        { path: '/m/notes/b.md', content: null, before: '' },
      ),
    ],
  },
  'several files, then one of them again': {
    before: { '/m/ARCHIVE.md': old, '/m/notes/b.md': old },
    operations: [archived, write('/m/ARCHIVE.md', 'edited since'), write('/m/notes/b.md', 'back again')],
  },
  'several files at once, twice, then a removal': {
    before: { '/m/notes/a.md': old, '/m/notes/b.md': old },
    operations: [
      changes(
        { path: '/m/notes/a.md', content: '2', before: old },
        { path: '/m/notes/b.md', content: '2', before: old },
      ),
      changes(
        { path: '/m/notes/a.md', content: '3', before: '2' },
        { path: '/m/notes/b.md', content: '3', before: '2' },
      ),
      (fileSystem) => void removeFile(fileSystem, '/m/notes/a.md'),
    ],
  },
}

describe.runIf(isPosix)('a power loss at any moment, with any un-synced part lost', () => {
  let total = 0

  it.each(Object.entries(protocols))(
    'leaves whole files, and all that was acknowledged: %s',
    (_name, protocol) => {
      const { states, violations } = examine(protocol)
      total += states
      expect(violations).toEqual([])
    },
  )

  it('leaves whole files after every sequence of up to three operations', () => {
    const contentOf = (fileSystem: FileSystem, path: string): string | null =>
      fileSystem.existsSync(path) ? String(fileSystem.readFileSync(path)) : null
    const together =
      (next: Record<string, string | null>): Protocol['operations'][number] =>
      (fileSystem) => {
        const planned = Object.entries(next).map(([path, content]) => ({
          path,
          content: content === null ? null : `${contentOf(fileSystem, path) ?? ''}${content}`,
          before: contentOf(fileSystem, path),
        }))
        applyChanges(
          fileSystem,
          root,
          internal,
          planned.filter(({ content, before }) => content !== before),
        )
      }
    const menu: Protocol['operations'] = [
      (fileSystem) => void createFile(fileSystem, '/m/notes/new.md', 'created'),
      (fileSystem) =>
        replaceFile(fileSystem, '/m/notes/a.md', `${contentOf(fileSystem, '/m/notes/a.md')} and more`),
      (fileSystem) => void removeFile(fileSystem, '/m/notes/a.md'),
      together({ '/m/notes/a.md': 'both', '/m/MEMORY.md': 'both' }),
      together({ '/m/archives/conversation-001.md': 'archive', '/m/ARCHIVE.md': 'row' }),
      together({ '/m/notes/a.md': null, '/m/notes/new.md': 'moved' }),
    ]
    const sequences = menu.flatMap((a) => [
      [a],
      ...menu.flatMap((b) => [[a, b], ...menu.map((c) => [a, b, c])]),
    ])
    for (const operations of sequences) {
      const { states, violations } = examine({ before: { '/m/notes/a.md': old }, operations })
      total += states
      expect(violations).toEqual([])
    }
    expect(sequences).toHaveLength(258)
    expect(total).toBeGreaterThan(20_000)
  })

  it('may tear the last line of an appended file, but none that was acknowledged', () => {
    const { fileSystem, mark, crashes } = simulateDisk(disk({ '/m/list': 'first\n' }))
    for (const line of ['second\n', 'third\n']) {
      appendDurably(fileSystem, '/m/list', line)
      mark(line)
    }
    for (const { state, marks } of crashes()) {
      const content = filesOf(state)['/m/list'] ?? ''
      expect(content.startsWith(['first\n', ...marks].join(''))).toBe(true)
    }
  })
})

describe.runIf(isPosix)('the examination itself', () => {
  const careless = (skip: 'file' | 'folder') => (fileSystem: FileSystem) => {
    const descriptor = fileSystem.openSync('/m/notes/.tmp-1', 'wx')
    fileSystem.writeSync(descriptor, Buffer.from('the new text, whole'), 0, 19)
    if (skip !== 'file') fileSystem.fsyncSync(descriptor)
    fileSystem.closeSync(descriptor)
    fileSystem.renameSync('/m/notes/.tmp-1', '/m/notes/a.md')
    if (skip === 'folder') return
    const folder = fileSystem.openSync('/m/notes', 'r')
    fileSystem.fsyncSync(folder)
    fileSystem.closeSync(folder)
  }

  it.each(['file', 'folder'] as const)('notices a rename without an fsync of the %s', (skip) => {
    const { violations } = examine({ before: { '/m/notes/a.md': old }, operations: [careless(skip)] })
    expect(violations.length).toBeGreaterThan(0)
  })

  it('notices that the old file is removed before the new one is in place', () => {
    const operation = (fileSystem: FileSystem): void => {
      removeFile(fileSystem, '/m/notes/a.md')
      createFile(fileSystem, '/m/notes/a.md', 'new')
    }
    const { violations } = examine({ before: { '/m/notes/a.md': old }, operations: [operation] })
    expect(violations.length).toBeGreaterThan(0)
  })

  it('notices several files that are replaced one by one without a journal', () => {
    const operation = (fileSystem: FileSystem): void => {
      for (const path of ['/m/notes/a.md', '/m/notes/b.md']) replaceFile(fileSystem, path, 'new')
    }
    const before = { '/m/notes/a.md': old, '/m/notes/b.md': old }
    expect(examine({ before, operations: [operation] }).violations.length).toBeGreaterThan(0)
  })
})
