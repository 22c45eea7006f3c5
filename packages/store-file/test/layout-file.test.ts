import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  conversationKey,
  conversationType,
  isMemoryError,
  MemoryErrorCode,
  type MemoryManager,
  sessionSummaryKey,
  sessionSummaryType,
} from '@recall/core'
import { expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { archiveOf, summaryOf } from './support/storm-values.ts'
import { temporaryRoot } from './support/temporary-root.ts'

/** A root whose `.recall-echo.json` says this. */
function rootWith(said: unknown): string {
  const root = temporaryRoot()
  writeFileSync(join(root, '.recall-echo.json'), typeof said === 'string' ? said : JSON.stringify(said))
  return root
}

const moved = {
  ephemeral: 'notes/now.md',
  archive: 'notes/table.md',
  conversations: 'notes/sessions',
}

async function remember(memory: MemoryManager, session = 's1'): Promise<void> {
  await memory.write('episodic', conversationKey(session), archiveOf(session, 1), { type: conversationType })
  await memory.write('short-term', sessionSummaryKey(session), summaryOf(session, 1), {
    type: sessionSummaryType,
    ttl: Number.POSITIVE_INFINITY,
  })
}

const problem = (root: string): Promise<string> =>
  openFileMemory({ root }).then(
    () => 'no error',
    (error: unknown) => (isMemoryError(error, 'MEMORY_INVALID_INPUT') ? error.message : String(error)),
  )

it('puts window, table and archives where the root wants them, and finds them there', async () => {
  const root = rootWith({ paths: moved })
  const memory = await openFileMemory({ root, redact: 'allow' })
  await memory.write('long-term', 'MEMORY.md#people', 'Jonas runs payments.')
  await remember(memory)
  expect(readdirSync(join(root, 'notes')).sort()).toEqual(['now.md', 'sessions', 'table.md'])
  expect(readdirSync(join(root, 'notes/sessions'))).toEqual(['conversation-001.md'])
  expect(readdirSync(join(root, 'memory')).sort()).toEqual(['.recall', 'MEMORY.md'])
  for (const scope of ['episodic', 'short-term'] as const)
    expect(await memory.search(scope, {})).toHaveLength(1)
  await memory.close()

  const again = await openFileMemory({ root })
  expect(await again.read('episodic', conversationKey('s1'))).toMatchObject({ log: 1, sessionId: 's1' })
  expect(await again.read('short-term', sessionSummaryKey('s1'))).toMatchObject({ sessionId: 's1' })
  await again.delete('short-term', sessionSummaryKey('s1'))
  expect(await again.search('short-term', {})).toEqual([])
  await again.close()
})

it('finds what was moved together with the paths, although the index knew it elsewhere', async () => {
  const root = temporaryRoot()
  const before = await openFileMemory({ root, layout: 'user', redact: 'allow' })
  await remember(before)
  await before.search('episodic', { text: 'anything' })
  await before.close()

  writeFileSync(join(root, '.recall-echo.json'), JSON.stringify({ layout: 'user', paths: moved }))
  mkdirSync(join(root, 'notes'))
  renameSync(join(root, 'EPHEMERAL.md'), join(root, moved.ephemeral))
  renameSync(join(root, 'ARCHIVE.md'), join(root, moved.archive))
  renameSync(join(root, 'memories'), join(root, moved.conversations))
  const store = await openFileStore({ root })
  const findings = checkUp(defaultFileSystem, store, { deep: true, fix: true })
  expect(findings.filter(({ ok, fixed }) => !ok || fixed)).toMatchObject([{ check: 'window', fixed: true }])
  expect(readFileSync(join(root, moved.ephemeral), 'utf8')).toContain(
    '**Archive**: sessions/archive-log-001.md',
  )
  await store.close()
  const memory = await openFileMemory({ root, redact: 'allow' })
  expect(await memory.search('episodic', {})).toHaveLength(1)
  expect(await memory.search('short-term', {})).toHaveLength(1)
  await remember(memory, 's2')
  expect(readdirSync(join(root, moved.conversations)).sort()).toEqual([
    'archive-log-001.md',
    'archive-log-002.md',
  ])
  await memory.close()
})

it.each(['the folder', 'its files'])(
  'finds what was moved after it was searched at its old place: %s',
  async (what) => {
    const root = temporaryRoot()
    const before = await openFileMemory({ root, redact: 'allow' })
    for (const session of ['s1', 's2'])
      await before.write('episodic', conversationKey(session), archiveOf(session, 1), {
        type: conversationType,
      })
    await before.close()
    writeFileSync(join(root, '.recall-echo.json'), JSON.stringify({ paths: { conversations: 'sessions' } }))
    const memory = await openFileMemory({ root })
    expect(await memory.search('episodic', {})).toHaveLength(2)
    const [from, to] = [join(root, 'memory/conversations'), join(root, 'sessions')]
    const names = readdirSync(from)
    const move = (name: string): void => renameSync(join(from, name), join(to, name))
    if (what === 'the folder') renameSync(from, to)
    else {
      mkdirSync(to)
      const [first = '', second = ''] = names
      move(first)
      renameSync(join(from, second), join(root, second))
      rmdirSync(from)
      await expect(memory.search('episodic', {})).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
      renameSync(join(root, second), join(to, second))
    }
    expect(await memory.search('episodic', {})).toHaveLength(2)
    expect((await memory.search('episodic', {})).map(({ key }) => key).toSorted()).toEqual(
      ['s1', 's2'].map((session) => conversationKey(session)),
    )
    await memory.write('episodic', conversationKey('s3'), archiveOf('s3', 1), { type: conversationType })
    expect(readdirSync(to).sort()).toEqual([1, 2, 3].map((number) => `conversation-00${number}.md`))
    await memory.close()
  },
)

it('says that a window was left behind, and reads archives that were', async () => {
  const root = temporaryRoot()
  const before = await openFileMemory({ root, redact: 'allow' })
  await remember(before)
  await before.close()
  writeFileSync(join(root, '.recall-echo.json'), JSON.stringify({ paths: moved }))
  const store = await openFileStore({ root })
  const found = checkUp(defaultFileSystem, store, { deep: false, fix: false })
  expect(found.find(({ check }) => check === 'layout')?.message).toContain(
    'memory/EPHEMERAL.md is where the entity layout has it, but .recall-echo.json names another place',
  )
  await store.close()
  const memory = await openFileMemory({ root })
  expect(await memory.read('episodic', conversationKey('s1'))).toMatchObject({ sessionId: 's1' })
  await memory.close()
})

it('misses nothing in an empty folder that was left behind', async () => {
  const root = temporaryRoot()
  await (await openFileMemory({ root, create: true })).close()
  writeFileSync(join(root, '.recall-echo.json'), JSON.stringify({ paths: { conversations: 'sessions' } }))
  mkdirSync(join(root, 'memory/conversations'), { recursive: true })
  const store = await openFileStore({ root })
  const found = checkUp(defaultFileSystem, store, { deep: false, fix: false })
  expect(found.find(({ check }) => check === 'layout')).toMatchObject({ ok: true })
  await store.close()
})

it('counts each archive once where a link stands in the place that its folder had', async () => {
  const root = temporaryRoot()
  const before = await openFileMemory({ root, redact: 'allow' })
  await remember(before)
  await before.close()
  writeFileSync(join(root, '.recall-echo.json'), JSON.stringify({ paths: { conversations: 'sessions' } }))
  renameSync(join(root, 'memory/conversations'), join(root, 'sessions'))
  symlinkSync(join(root, 'sessions'), join(root, 'memory/conversations'), 'junction')
  const store = await openFileStore({ root })
  const findings = checkUp(defaultFileSystem, store, { deep: true, fix: true })
  expect(findings.filter(({ ok, fixed }) => !ok || fixed)).toEqual([])
  await store.close()
  expect(readdirSync(join(root, 'sessions'))).toEqual(['conversation-001.md'])
  const memory = await openFileMemory({ root })
  const keys = (await memory.search('episodic', {})).map(({ key }) => key)
  expect(keys).toEqual([conversationKey('s1')])
  await memory.close()
})

it('settles which layout a root has that holds files of both', async () => {
  const root = rootWith({ layout: 'user' })
  mkdirSync(join(root, 'memory/conversations'), { recursive: true })
  mkdirSync(join(root, 'memories'))
  const memory = await openFileMemory({ root, redact: 'allow' })
  await remember(memory)
  expect(existsSync(join(root, 'memories/archive-log-001.md'))).toBe(true)
  await memory.close()
})

it('is not overruled by who opens the root', async () => {
  const root = rootWith({ layout: 'user' })
  await expect(openFileMemory({ root, layout: 'entity' })).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining('names the user layout: leave out --layout (in a program: layout)'),
  })
  const memory = await openFileMemory({ root, layout: 'user' })
  await memory.close()
})

it('is not needed for a memory to keep its layout', async () => {
  const root = rootWith({})
  const memory = await openFileMemory({ root, redact: 'allow' })
  await remember(memory)
  await memory.close()
  await expect(openFileMemory({ root, layout: 'user' })).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining('holds a memory in the entity layout: leave out --layout'),
  })
  const again = await openFileMemory({ root, layout: 'entity' })
  await again.close()
  expect(existsSync(join(root, 'memories'))).toBe(false)
})

it('says which layout a root has also behind a byte order mark', async () => {
  const root = temporaryRoot()
  writeFileSync(join(root, '.recall-echo.json'), '\ufeff{ "layout": "user" }\r\n')
  const memory = await openFileMemory({ root, redact: 'allow' })
  await remember(memory)
  expect(existsSync(join(root, 'memories/archive-log-001.md'))).toBe(true)
  await memory.close()
})

it('takes a folder that another layout would use', async () => {
  const root = rootWith({ paths: { conversations: 'memories' } })
  const memory = await openFileMemory({ root, redact: 'allow' })
  await remember(memory)
  await memory.close()
  const again = await openFileMemory({ root })
  expect(readdirSync(join(root, 'memories'))).toEqual(['conversation-001.md'])
  expect(await again.search('episodic', {})).toHaveLength(1)
  await again.close()
})

it.each([
  ['no JSON', '{', /is not JSON/],
  ['no object', '[]', /the file must be an object/],
  ['another layout', { layout: 'flat' }, /layout must be 'entity' or 'user'/],
  ['a misspelled member', { path: {} }, /'path' is not known: the file may have layout, paths/],
  ['an unknown place', { paths: { memory: 'x' } }, /'memory' is not known: paths may have ephemeral/],
  ['a way out', { paths: { conversations: '../elsewhere' } }, /paths\.conversations must be a folder below/],
  ['an absolute path', { paths: { conversations: '/tmp/x' } }, /paths\.conversations must be/],
  ['a path of Windows', { paths: { conversations: 'a\\b' } }, /paths\.conversations must be/],
  ['a hidden folder', { paths: { ephemeral: '.git/E.md' } }, /paths\.ephemeral must be a markdown file/],
  ['a folder for a file', { paths: { ephemeral: 'notes' } }, /paths\.ephemeral must be a markdown file/],
  ['no text', { paths: { archive: 7 } }, /paths\.archive must be a markdown file/],
  ['the curated memory', { paths: { ephemeral: 'memory/memory.md' } }, /paths\.ephemeral must be/],
  ['a folder of entries', { paths: { conversations: 'memory/long-term' } }, /in a folder of entries/],
  ['a folder within one of entries', { paths: { conversations: 'memory/episodic/old' } }, /in a folder of/],
  ['the folder of namespaces', { paths: { conversations: 'memory/namespaces' } }, /in a folder of entries/],
  ['the folder of what is archived', { paths: { ephemeral: 'memory/cold/E.md' } }, /in a folder of entries/],
  ['a name that is an ending', { paths: { archive: 'notes/.md' } }, /paths\.archive must be a markdown file/],
  ['one place for two', { paths: { ephemeral: 'a.md', archive: 'A.md' } }, /must lie apart/],
  ['a window among archives', { paths: { ephemeral: 'memories/a.md' } }, /must lie apart/],
])('refuses %s', async (_what, said, expected) => {
  const root = rootWith(said)
  expect(await problem(root)).toMatch(expected)
  expect(readdirSync(root)).toEqual(['.recall-echo.json'])
})

it('follows no link out of the root', async () => {
  const root = rootWith({ paths: { conversations: 'away/sessions', ephemeral: 'away/now.md' } })
  const outside = temporaryRoot()
  symlinkSync(outside, join(root, 'away'))
  const memory = await openFileMemory({ root, redact: 'allow' })
  await expect(remember(memory)).rejects.toSatisfy((error) => isMemoryError(error, 'MEMORY_FORBIDDEN'))
  expect(readdirSync(outside)).toEqual([])
  await memory.close()
})
