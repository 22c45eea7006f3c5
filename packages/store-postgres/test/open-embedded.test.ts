import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { type Embedder, isMemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { rowsOf } from '../src/engines/database.ts'
import { lockFolder } from '../src/engines/folder-lock.ts'
import { syncAllBelow } from '../src/engines/syncing-files.ts'
import { isPgliteFolder, openPglite, openPgliteMemory } from '../src/pglite.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { createVectorIndexes } from '../src/search/vector-index.ts'
import { runOnSmallDisk } from './support/small-disk.ts'
import { template } from './support/template.ts'

const folders: string[] = []
const children: ChildProcess[] = []
const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'recall-postgres-'))
  folders.push(folder)
  return folder
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const refusal = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call()
  } catch (error) {
    return isMemoryError(error) ? error.code : error
  }
}

describe('an embedded database', () => {
  it('says of a place that holds no folder what is wrong with it', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    for (const folder of ['', 1, null]) {
      const open = () => openPgliteMemory({ folder: folder as string })
      expect(await refusal(open)).toBe(MemoryErrorCode.INVALID_INPUT)
    }
    for (const folder of [file, join(file, 'below')]) {
      expect(await refusal(() => openPgliteMemory({ folder }))).toBe(MemoryErrorCode.UNAVAILABLE)
    }
  })

  it('makes no folder for a memory whose options are wrong', async () => {
    const folder = join(temporaryFolder(), 'memory')
    const embedder = { model: 'm', dimensions: 0, embed: async () => [] }
    for (const options of [
      { namespce: 'x' },
      { stores: {} },
      { redact: 'no' },
      { embedder },
      { textConfiguration: 5 },
      { template: 'dump' },
    ]) {
      const open = () => openPgliteMemory({ folder, ...(options as object) })
      expect(await refusal(open)).toBe(MemoryErrorCode.INVALID_INPUT)
    }
    expect(await refusal(() => openPglite({ foldr: folder } as object))).toBe(MemoryErrorCode.INVALID_INPUT)
    expect(existsSync(folder)).toBe(false)
  })

  it('keeps what it acknowledged when its process is killed, and then opens again', async () => {
    const folder = temporaryFolder()
    const child = startWriter(folder)
    const acknowledged: string[] = []
    child.on('message', (key) => acknowledged.push(String(key)))
    while (acknowledged.length < 25) await once(child, 'message')
    expect(await refusal(() => openPglite({ folder }))).toBe(MemoryErrorCode.CONFLICT)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const memory = await openPgliteMemory({ folder })
    const kept = await memory.batchRead('long-term', acknowledged)
    expect([...kept.keys()]).toEqual(acknowledged)
    await memory.close()
  })

  it('closes once, however often it is told to, and lets go of its folder', async () => {
    const folder = temporaryFolder()
    const { close } = await openPglite({ folder, template: await template() })
    await Promise.all([close(), close()])
    const again = await openPglite({ folder })
    await close()
    expect(await refusal(() => openPglite({ folder }))).toBe(MemoryErrorCode.CONFLICT)
    await again.close()
  })

  it('indexes vectors in full precision', async () => {
    const { database, close } = await openPglite({ template: await template() })
    await createVectorIndexes(database, { table: 'units', dimensions: 3 }, { concurrently: false })
    const [index] = await rowsOf<{ made: string }>(
      database,
      sql`select indexdef as made from pg_indexes where indexname = 'units_embedding_3'`,
    )
    expect(index?.made).toContain('::vector(3)')
    await close()
  })

  it('finds by meaning, with an index of the vectors, also once it is opened again', async () => {
    const folder = temporaryFolder()
    const embed: Embedder['embed'] = async (texts) =>
      texts.map((text) => Float32Array.from(/ship|boat/.test(text) ? [1, 0, 0] : [0, 1, 0]))
    const open = () => openPgliteMemory({ folder, embedder: { model: 'boats', dimensions: 3, embed } })
    const first = await open()
    await first.write('long-term', 'harbour', 'a ship at the pier')
    await first.close()
    const again = await open()
    expect(await again.search('long-term', { text: 'boat' })).toMatchObject([
      { key: 'harbour', mode: 'hybrid' },
    ])
    await again.close()
    const { database, close } = await openPglite({ folder })
    const made = await rowsOf(database, sql`select from pg_indexes where indexname = 'units_embedding_3'`)
    expect(made).toHaveLength(1)
    await close()
  })

  it('is free again when an option of the memory was refused', async () => {
    const folder = temporaryFolder()
    const wrong = { folder, encryptionKey: new Uint8Array(3) }
    expect(await refusal(() => openPgliteMemory(wrong))).toBe(MemoryErrorCode.INVALID_INPUT)
    const memory = await openPgliteMemory({ folder })
    await memory.close()
  })

  it('says of data that are damaged where they are and what to do, leaves them alone, and is free', async () => {
    const folder = fs.realpathSync(temporaryFolder())
    await (await openPglite({ folder, template: await template() })).close()
    const data = join(folder, 'data')
    const control = join(data, 'global', 'pg_control')
    const whole = fs.readFileSync(control)
    fs.truncateSync(control, 100)
    const names = () => fs.readdirSync(data, { recursive: true, encoding: 'utf8' })
    const left = names()
    for (const given of [{}, { template: await template() }]) {
      await expect(openPglite({ folder, ...given })).rejects.toMatchObject({
        code: MemoryErrorCode.CORRUPTION,
        message: expect.stringMatching(
          `${data}: they are damaged.*Restore a backup, or move the folder away`,
        ),
        details: { path: data },
      })
    }
    expect(fs.readdirSync(folder)).toEqual(['data'])
    expect(names()).toEqual(expect.arrayContaining(left))
    expect(fs.statSync(control).size).toBe(100)
    writeFileSync(control, whole)
    await (await openPglite({ folder })).close()
  })

  it('says of a template that is none what is wrong with it, and makes nothing', async () => {
    const folder = temporaryFolder()
    const dump = await template()
    const half = dump.slice(0, 1_000_000)
    const damaged = new Blob([dump.slice(0, 600), 'another byte', dump.slice(612)])
    const others = ['{ "no": "dump" }', '', new Uint8Array([0x1f, 0x8b, 8, 0, 1]), new Uint8Array(5000)]
    for (const given of [half, damaged, ...others.map((content) => new Blob([content]))]) {
      for (const place of [{ folder }, {}]) {
        await expect(openPglite({ ...place, template: given })).rejects.toMatchObject({
          code: MemoryErrorCode.INVALID_INPUT,
          message: expect.stringContaining('give it an unmodified dump'),
        })
      }
    }
    expect(isPgliteFolder(folder)).toBe(false)
    await (await openPglite({ folder, template: await template() })).close()
  })

  it('says so when its folder may not be used, or an index not be made', async () => {
    const folder = temporaryFolder()
    const { database, close } = await openPglite({ folder, template: await template() })
    await database.execute('drop table units cascade')
    await close()
    const embedder: Embedder = { model: 'none', dimensions: 3, embed: async () => [] }
    const open = () => openPgliteMemory({ folder, embedder })
    expect(await refusal(open)).toBe(MemoryErrorCode.UNAVAILABLE)
    const closed = vi.spyOn(fs, 'chmodSync').mockImplementation(() => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    })
    syncBuiltinESMExports()
    await expect(openPglite({ folder })).rejects.toMatchObject({
      code: MemoryErrorCode.UNAVAILABLE,
      message: `${folder} cannot be used (EPERM): check that this user may read and write everything in it`,
    })
    closed.mockRestore()
    syncBuiltinESMExports()
    lockFolder(folder).release()
  })

  it('makes no store when it is handed over with what came along with it', async () => {
    const opened = await openPglite({})
    onTestFinished(() => opened.close())
    expect(() => createPostgresStore(opened as never)).toThrow('such as the `database` that openPostgres')
    await opened.database.transaction(async (transaction) => {
      expect(createPostgresStore(transaction).name).toBe('postgres')
    })
  })

  it('is closed to other users, also one that was open to them before', async () => {
    const folder = join(temporaryFolder(), 'new')
    const data = join(folder, 'data')
    const modeOf = (path: string): string => (fs.statSync(path).mode & 0o777).toString(8)
    const before = process.umask(0)
    try {
      await (await openPglite({ folder, template: await template() })).close()
      expect([folder, data].map(modeOf)).toEqual(['700', '700'])
      fs.chmodSync(folder, 0o755)
      fs.chmodSync(data, 0o755)
      await (await openPglite({ folder })).close()
      // The folder may be a person's own and hold other things; what we made in it is ours.
      expect([folder, data].map(modeOf)).toEqual(['755', '700'])
    } finally {
      process.umask(before)
    }
  })

  it('may be closed while calls are under way: each is answered or refused', async () => {
    const { database, close } = await openPglite({ template: await template() })
    const { stats } = createPostgresStore(database)
    const count = (): Promise<unknown> => refusal(() => stats({ namespace: 'default', scope: 'working' }))
    const calls = [count(), count(), count()]
    await close()
    const nothing = { entries: 0, bytes: 0 }
    for (const answer of [...(await Promise.all(calls)), await count()])
      expect([nothing, MemoryErrorCode.UNAVAILABLE]).toContainEqual(answer)
  })

  it('gives the folder back also when it cannot be closed in good order', async () => {
    const folder = temporaryFolder()
    const { close } = await openPglite({ folder, template: await template() })
    const closing = vi.spyOn(PGlite.prototype, 'close').mockImplementation(async function (this: PGlite) {
      closing.mockRestore()
      await this.close()
      throw new Error('no space is left')
    })
    await expect(close()).rejects.toThrow('no space is left')
    lockFolder(folder).release()
  })

  it.each([
    ['files', (folder: string) => join(folder, 'data-unfinished'), false],
    ['names', (folder: string) => folder, true],
  ])('is closed again, and free, where the disk refuses to keep its new %s', async (_, placeIn, isThere) => {
    const folder = fs.realpathSync(temporaryFolder())
    const { openSync } = fs
    const opening = vi.spyOn(fs, 'openSync').mockImplementation((path, ...how) => {
      if (path === placeIn(folder)) throw Object.assign(new Error('EIO'), { code: 'EIO' })
      return openSync(path, ...how)
    })
    const closing = vi.spyOn(PGlite.prototype, 'close')
    await expect(openPglite({ folder, template: await template() })).rejects.toThrow('EIO')
    opening.mockRestore()
    expect(closing).toHaveBeenCalledOnce()
    closing.mockRestore()
    expect(isPgliteFolder(folder)).toBe(isThere)
    await (await openPglite({ folder })).close()
  })

  it('syncs each write before it returns', async () => {
    const memory = await openPgliteMemory({ folder: temporaryFolder(), template: await template() })
    const sync = vi.spyOn(fs, 'fsyncSync')
    await memory.write('long-term', 'key', 'value')
    expect(sync).toHaveBeenCalled()
    sync.mockRestore()
    await memory.close()
  })

  it('reports a write that the disk refused, and does not keep it', async () => {
    const folder = temporaryFolder()
    const memory = await openPgliteMemory({ folder, template: await template() })
    await memory.write('long-term', 'before', 'value')
    const sync = vi.spyOn(fs, 'fsyncSync').mockImplementation(() => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
    })
    expect(await refusal(() => memory.write('long-term', 'refused', 'value'))).not.toBe(undefined)
    sync.mockRestore()
    await memory.close().catch(() => {})
    const again = await openPgliteMemory({ folder })
    expect(await again.read('long-term', 'before')).toBe('value')
    await again.close()
  })

  it('ends when its log cannot grow, says so, and goes on by itself when there is room again', ({ skip }) => {
    const ran = runOnSmallDisk(new URL('children/full-disk-child.ts', import.meta.url), temporaryFolder())
    if ('refused' in ran) skip(`no small disk can be mounted here: ${ran.refused}`)
    else expect(ran.output).toMatch(/^ok /m)
  })
})

it('syncs a folder on Windows, which opens none and syncs only what may be written', () => {
  const folder = temporaryFolder()
  fs.mkdirSync(join(folder, 'base'))
  writeFileSync(join(folder, 'base', 'PG_VERSION'), '17')
  const { platform } = process
  const { openSync } = fs
  const opened = vi.spyOn(fs, 'openSync').mockImplementation((path, flags, mode) => {
    if (flags === 'r') throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    return openSync(path, flags, mode)
  })
  try {
    Object.defineProperty(process, 'platform', { value: 'win32' })
    syncAllBelow(folder)
    expect(opened).toHaveBeenCalledExactlyOnceWith(join(folder, 'base', 'PG_VERSION'), 'r+')
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
    opened.mockRestore()
  }
})

function startWriter(folder: string): ChildProcess {
  const script = fileURLToPath(new URL('./children/writer-child.ts', import.meta.url))
  const child = fork(script, [folder], { execArgv: ['--import', 'tsx', '-C', '@recall/source'] })
  children.push(child)
  return child
}
