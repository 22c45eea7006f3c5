import { chmodSync, existsSync, mkdirSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { conversationType, isMemoryError, MemoryErrorCode } from '@recall/core'
import { createConceptEmbedder } from '@recall/core/conformance'
import { orAbsent } from '@recall/core/process'
import { describe, expect, it } from 'vitest'
import { defaultConfig } from '../src/default-config.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { layouts } from '../src/layout/layout.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { readStatus } from '../src/status.ts'
import { isPosix } from './support/platform.ts'
import { archiveOf } from './support/storm-values.ts'
import { temporaryRoot } from './support/temporary-root.ts'

it('refuses a setting that is none before it creates the root', async () => {
  const folder = join(temporaryRoot(), 'new')
  for (const wrong of [
    undefined,
    { root: undefined },
    { root: '' },
    { root: pathToFileURL(folder) },
    { root: dirname(folder), layout: 'flat' },
    { root: folder, lockTimeoutMs: Number.NaN },
    { root: folder, lockTimeoutMs: -1 },
    { root: folder, lockTimeoutMs: '5' },
    { root: folder, create: 'yes' },
    { root: folder, onNotice: 1 },
    { root: folder, ranking: { wordz: 1 } },
    { root: folder, ranking: { words: Number.NaN } },
  ]) {
    const given = wrong && { create: true, ...wrong }
    const error = await openFileMemory(given as never).catch((error: unknown) => error)
    expect(isMemoryError(error, MemoryErrorCode.INVALID_INPUT) && error.message).toMatch(
      /^(?:root|layout|lockTimeoutMs|create|onNotice|ranking) (?:is|takes) /,
    )
  }
  expect(existsSync(folder)).toBe(false)
})

it.each([
  ['an option of no name', { onNotise: () => {} }, 'onNotise'],
  ['stores of another kind', { stores: {} }, 'stores'],
  ['a clock that is none', { clock: 1 }, 'clock'],
  ['no embedder', { embedder: 'bge' }, 'embedder'],
  ['an embedder that is null', { embedder: null }, 'embedder'],
  ['an embedder without dimensions', { embedder: { model: 'm', embed: async () => [] } }, 'dimensions'],
  ['a key that is too short', { encryptionKey: new Uint8Array(1) }, 'encryptionKey'],
])('refuses %s before it creates the root', async (_, wrong, name) => {
  const root = join(temporaryRoot(), 'new')
  await expect(openFileMemory({ root, create: true, ...(wrong as object) })).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: expect.stringContaining(name),
  })
  expect(existsSync(root)).toBe(false)
})

it('refuses a setting of no name also for the store by itself, before it creates the root', async () => {
  const root = join(temporaryRoot(), 'new')
  for (const wrong of [{ onNotise: () => {} }, { namespace: 'ana' }])
    await expect(openFileStore({ root, create: true, ...(wrong as object) })).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: `options: Unrecognized key: "${Object.keys(wrong)[0]}"`,
    })
  expect(existsSync(root)).toBe(false)
})

it('closes an embedder with the memory that uses it, however the options were checked', async () => {
  let closed = 0
  const close = async (): Promise<void> => void closed++
  const embedder = { ...createConceptEmbedder(), close }
  const root = temporaryRoot()
  const [one, two] = [await openFileMemory({ root, embedder }), await openFileMemory({ root, embedder })]
  await one.close()
  expect(closed).toBe(0)
  await two.close()
  expect(closed).toBe(1)
})

// Only there does /proc name the files that a process has open.
it.runIf(process.platform === 'linux')('leaves no file open when it is closed, however often', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const root = temporaryRoot()
  const filesOpen = (): string[] =>
    readdirSync('/proc/self/fd')
      .map((fd) => orAbsent(() => readlinkSync(`/proc/self/fd/${fd}`)) ?? '')
      .filter((path) => path.startsWith(root))
  await (await openFileMemory({ root, create: true })).close()
  for (let i = 0; i < 20; i++) {
    const memory = await openFileMemory({ root, namespace: `user ${i}` })
    await memory.search('long-term', { text: 'harbour' })
    collect()
    await memory.close()
  }
  expect(filesOpen().length).toBeLessThan(20)
})

it('a root that is opened in the other layout misses nothing, and reads its files anew', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory'))
  writeFileSync(join(root, 'EPHEMERAL.md'), 'The walrus waits.\n')
  writeFileSync(join(root, 'memory/EPHEMERAL.md'), 'The zebra crosses.\n')
  const found = async (layout: 'entity' | 'user', text: string) => {
    const memory = await openFileMemory({ root, layout })
    const matches = await Promise.all([
      memory.search('short-term', { text }),
      memory.search('long-term', { text }),
    ])
    await memory.close()
    return matches.map(({ length }) => length)
  }
  for (let round = 0; round < 2; round++) {
    expect(await found('user', 'walrus')).toEqual([1, 0])
    expect(await found('user', 'zebra')).toEqual([0, 1])
    expect(await found('entity', 'walrus')).toEqual([0, 0])
    expect(await found('entity', 'zebra')).toEqual([1, 0])
  }
})

it('a root that is a file, or lies in one, is refused', async () => {
  const file = join(temporaryRoot(), 'file')
  writeFileSync(file, '')
  for (const root of [file, join(file, 'below')])
    for (const create of [false, true])
      await expect(openFileMemory({ root, create })).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
})

it('a root that its owner does not let anybody read is refused in a sentence', async () => {
  const root = temporaryRoot()
  const refuse = () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  }
  const fileSystem = { ...defaultFileSystem, lstatSync: refuse, readdirSync: refuse } as unknown as FileSystem
  const refusal = { code: 'MEMORY_UNAVAILABLE', message: expect.stringMatching(/cannot be read .*: check /) }
  await expect(openFileMemory({ root, fileSystem })).rejects.toMatchObject(refusal)
  expect(() => readStatus(fileSystem, root, layouts.entity, { config: defaultConfig })).toThrow(
    expect.objectContaining(refusal),
  )
})

describe.runIf(isPosix)('in a root that others may enter', () => {
  const modeOf = (path: string): number => statSync(path).mode & 0o777

  it.each([
    { layout: 'entity' as const, private: ['memory'] },
    { layout: 'user' as const, private: ['memory', 'memories'] },
  ])('only the user may enter what a memory of the $layout layout creates', async (each) => {
    const root = temporaryRoot()
    chmodSync(root, 0o755)
    const memory = await openFileMemory({ root, layout: each.layout })
    await memory.write('long-term', 'walrus', 'It waits.')
    await memory.write('episodic', 'conversation:s1', archiveOf('s1', 1), { type: conversationType })
    for (const folder of each.private) expect(modeOf(join(root, folder))).toBe(0o700)
    expect(modeOf(root)).toBe(0o755)
    await memory.close()
  })

  it('only the user may enter what is made to forget something, which leaves no note of it', async () => {
    const root = temporaryRoot()
    const store = await openFileStore({ root, layout: 'user' })
    store.beginErasure()()
    expect(modeOf(join(root, 'memory'))).toBe(0o700)
    expect(readdirSync(join(root, 'memory/.recall/erasing'))).toEqual([])
    await store.close()
  })

  it('only the user may enter archives that lie elsewhere', async () => {
    const root = temporaryRoot()
    writeFileSync(join(root, '.recall-echo.json'), '{"paths":{"conversations":"notes/sessions"}}')
    const memory = await openFileMemory({ root })
    await memory.write('episodic', 'conversation:s1', archiveOf('s1', 1), { type: conversationType })
    expect(modeOf(join(root, 'notes'))).toBe(0o700)
    expect(existsSync(join(root, 'notes/sessions'))).toBe(true)
    await memory.close()
  })

  it('a memory that a group may enter stays as it is', async () => {
    const root = temporaryRoot()
    mkdirSync(join(root, 'memory'))
    chmodSync(join(root, 'memory'), 0o770)
    const memory = await openFileMemory({ root })
    await memory.write('long-term', 'walrus', 'It waits.')
    expect(modeOf(join(root, 'memory'))).toBe(0o770)
    expect(modeOf(join(root, 'memory/long-term'))).toBe(0o777 & ~process.umask())
    await memory.close()
  })
})
