import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { thisProcess } from '@recall/core/process'
import { createMemoryFallback } from '@recall/core/protocol'
import { expect, it } from 'vitest'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openWriteQueue, type WriteQueueOptions } from '../src/write-queue.ts'
import { isPosix } from './support/platform.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const write = (key: string, queuedAt = 1) =>
  ({ namespace: 'default', scope: 'long-term', key, value: { key }, queuedAt }) as const

it('keeps writes in order, also for whoever opens it next', async () => {
  const folder = temporaryRoot()
  const queue = await openWriteQueue({ folder })
  for (const key of ['a', 'b', 'c']) await queue.append(write(key))
  const [first] = await queue.items()
  await queue.remove(first?.id ?? 0)
  await queue.close()
  const later = await openWriteQueue({ folder })
  await later.append({ ...write('d'), options: { tags: ['t'], ttl: 5 } })
  const items = await later.items()
  expect(items.map(({ key }) => key)).toEqual(['b', 'c', 'd'])
  expect(items.at(-1)).toMatchObject({ value: { key: 'd' }, options: { tags: ['t'], ttl: 5 }, attempts: 0 })
  await later.close()
})

it('keeps what a write asks for that JSON has no word for', async () => {
  const queue = await openWriteQueue({ folder: temporaryRoot() })
  const value = JSON.parse('{"__proto__": {"constructor": null}, "": []}')
  await queue.append({ ...write('a'), value, options: { ttl: Number.POSITIVE_INFINITY } })
  const [item] = await queue.items()
  if (item) await queue.update({ ...item, attempts: 1 })
  const [again] = await queue.items()
  expect(again?.options).toEqual({ ttl: Number.POSITIVE_INFINITY })
  expect(JSON.stringify(again?.value)).toBe(JSON.stringify(value))
  await queue.close()
})

it('gives the writes in their order, however the system lists them and however finely the clock tells', async () => {
  const folder = temporaryRoot()
  const readdirSync = ((...given: Parameters<typeof defaultFileSystem.readdirSync>) =>
    defaultFileSystem.readdirSync(...given).reverse()) as typeof defaultFileSystem.readdirSync
  const queue = await openWriteQueue({ folder, fileSystem: { ...defaultFileSystem, readdirSync } })
  const times = { a: 999.75, b: 1000.25, c: 1000.5 }
  for (const [key, at] of Object.entries(times)) await queue.append(write(key, at))
  expect((await queue.items()).map(({ key }) => key)).toEqual(['a', 'b', 'c'])
  await queue.close()
})

it('takes no copy of a queued write for another', async () => {
  const folder = temporaryRoot()
  const queue = await openWriteQueue({ folder })
  await queue.append(write('a', 1000))
  const name = '0000000000001000.json'
  for (const copy of [`copy-${name}`, `${name}.bak`]) copyFileSync(join(folder, name), join(folder, copy))
  expect(await queue.items()).toHaveLength(1)
  await queue.close()
})

it.runIf(isPosix)('lets nobody else into the folder that it makes', async () => {
  const folder = join(temporaryRoot(), 'queue')
  await (await openWriteQueue({ folder })).close()
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

it('gives rising numbers also after it was empty', async () => {
  const queue = await openWriteQueue({ folder: temporaryRoot() })
  const early = await queue.append(write('a', 1000))
  await queue.remove(early.id)
  expect((await queue.append(write('a', 2000))).id).toBeGreaterThan(early.id)
  await queue.close()
})

it('takes the number of a write that another process queued and drained at the same moment', async () => {
  let isTaken = true
  const linkSync: typeof defaultFileSystem.linkSync = (existing, path) => {
    if (isTaken) {
      isTaken = false
      throw Object.assign(new Error('EEXIST: simulated, link'), { code: 'EEXIST' })
    }
    defaultFileSystem.linkSync(existing, path)
  }
  const queue = await openWriteQueue({
    folder: temporaryRoot(),
    fileSystem: { ...defaultFileSystem, linkSync },
  })
  expect((await queue.append(write('a', 1000))).id).toBe(1000)
  expect(await queue.items()).toHaveLength(1)
  await queue.close()
})

it('takes the next number when another process takes the same one first', async () => {
  const folder = temporaryRoot()
  const other = await openWriteQueue({ folder })
  let isFirst = true
  const linkSync: typeof defaultFileSystem.linkSync = (existing, path) => {
    if (isFirst) void other.append(write('theirs', 1000))
    isFirst = false
    defaultFileSystem.linkSync(existing, path)
  }
  const queue = await openWriteQueue({ folder, fileSystem: { ...defaultFileSystem, linkSync } })
  await queue.append(write('ours', 1000))
  expect(await queue.items()).toMatchObject([
    { id: 1000, key: 'theirs' },
    { id: 1001, key: 'ours' },
  ])
  await queue.close()
  await other.close()
})

it('refuses a write where no hard link tells whose a number is', async () => {
  const linkSync = () => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
  }
  const queue = await openWriteQueue({
    folder: temporaryRoot(),
    fileSystem: { ...defaultFileSystem, linkSync },
  })
  await expect(queue.append(write('a'))).rejects.toMatchObject({ code: 'MEMORY_NOT_SUPPORTED' })
  expect(await queue.items()).toEqual([])
  await queue.close()
})

it('passes over a write that another process drains while it is read', async () => {
  const folder = join(temporaryRoot(), 'new')
  const other = await openWriteQueue({ folder })
  const { id } = await other.append(write('drained'))
  await other.append(write('waiting'))
  const readFileSync = ((...given: Parameters<typeof defaultFileSystem.readFileSync>) => {
    void other.remove(id)
    return defaultFileSystem.readFileSync(...given)
  }) as typeof defaultFileSystem.readFileSync
  const queue = await openWriteQueue({ folder, fileSystem: { ...defaultFileSystem, readFileSync } })
  expect((await queue.items()).map(({ key }) => key)).toEqual(['waiting'])
  await queue.close()
  await other.close()
})

it('takes over attempts, and does not bring back what is gone', async () => {
  const queue = await openWriteQueue({ folder: temporaryRoot() })
  const item = await queue.append(write('a'))
  await queue.update({ ...item, attempts: 2, notBefore: 9, lastError: 'no answer', dead: true, follows: 4 })
  expect(await queue.items()).toMatchObject([
    { attempts: 2, notBefore: 9, lastError: 'no answer', dead: true, follows: 4 },
  ])
  await queue.remove(item.id)
  await queue.update(item)
  expect(await queue.items()).toEqual([])
  await queue.close()
})

it('refuses an option of no name before it makes a folder', async () => {
  const folder = join(temporaryRoot(), 'queue')
  await expect(openWriteQueue({ folder, cap: 1 } as never)).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: 'options: Unrecognized key: "cap"',
  })
  expect(existsSync(folder)).toBe(false)
})

it('is closed to further calls, and lets the section under way come to its end', async () => {
  const folder = temporaryRoot()
  const queue = await openWriteQueue({ folder })
  const item = await queue.append(write('a'))
  await queue.exclusively(async () => {
    await queue.close()
    expect(await queue.items()).toEqual([item])
    await queue.remove(item.id)
  })
  for (const call of [
    () => queue.items(),
    () => queue.append(write('b')),
    () => queue.exclusively(async () => 1),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'MEMORY_CLOSED' })
  const again = await openWriteQueue({ folder })
  expect(await again.items()).toEqual([])
  await again.close()
})

it('lets one section run at a time, of whatever handle', async () => {
  const folder = temporaryRoot()
  const [one, two] = [await openWriteQueue({ folder }), await openWriteQueue({ folder })]
  await one.exclusively(async () => {
    expect(await one.exclusively(async () => 1)).toBeNull()
    expect(await two.exclusively(async () => 1)).toBeNull()
  })
  expect(await two.exclusively(async () => 1)).toBe(1)
  await expect(one.exclusively(() => Promise.reject(new Error('x')))).rejects.toThrow('x')
  expect(await one.exclusively(async () => 2)).toBe(2)
  await one.close()
  await two.close()
})

it('says that its lock is damaged, and does not take that for another process', async () => {
  const folder = temporaryRoot()
  writeFileSync(join(folder, 'lock.db'), 'rubbish '.repeat(1000))
  const queue = await openWriteQueue({ folder })
  await expect(queue.exclusively(async () => 1)).rejects.toThrow('not a database')
  await queue.close()
})

it('removes what a dead process left unfinished, which holds what was to be written', async () => {
  const folder = temporaryRoot()
  writeFileSync(join(folder, `.tmp-999999999-${thisProcess().place}00`), 'unfinished')
  const queue = await openWriteQueue({ folder })
  await queue.exclusively(async () => 1)
  expect(readdirSync(folder).filter((name) => name.startsWith('.tmp-'))).toEqual([])
  await queue.close()
})

it('gives the outcome of a section during which it was closed', async () => {
  const queue = await openWriteQueue({ folder: temporaryRoot() })
  const section = async () => {
    await queue.close()
    return 1
  }
  expect(await queue.exclusively(section)).toBe(1)
})

it('gives the items behind one', async () => {
  const queue = await openWriteQueue({ folder: temporaryRoot() })
  const first = await queue.append(write('a'))
  await queue.append(write('b'))
  expect((await queue.items(first.id)).map(({ key }) => key)).toEqual(['b'])
  await queue.close()
})

it('is bounded', async () => {
  const queue = await openWriteQueue({ folder: temporaryRoot(), capacity: 2 })
  await queue.append(write('a'))
  await queue.append(write('b'))
  await expect(queue.append(write('c'))).rejects.toMatchObject({ code: 'MEMORY_QUOTA_EXCEEDED' })
  expect(await queue.items()).toHaveLength(2)
  await queue.close()
})

it.each([
  [undefined, /^folder is the path/],
  [{}, /^folder is the path/],
  [{ folder: '' }, /^folder is the path/],
  [{ folder: 5 }, /^folder is the path/],
  [{ folder: 'queue', capacity: Number.NaN }, /^capacity is the number of writes/],
  [{ folder: 'queue', capacity: 0 }, /^capacity is the number of writes/],
])('is not opened with %o', async (options, message) => {
  const opening = openWriteQueue(options as WriteQueueOptions)
  await expect(opening).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: expect.stringMatching(message),
  })
})

it.each(['{', '', '{"half": 1}'])(
  'goes on beside a file that is damaged, and tells of it: %o',
  async (text) => {
    const folder = temporaryRoot()
    const queue = await openWriteQueue({ folder })
    const [first] = [await queue.append(write('a')), await queue.append(write('b'))]
    const name = `${String(first.id).padStart(16, '0')}.json`
    const path = join(folder, name)
    writeFileSync(path, text)
    const items = await queue.items()
    expect(items).toMatchObject([
      { id: first.id, dead: true, lastError: `${path} is not a queued write: mend it, or move it away` },
      { key: 'b' },
    ])
    for (const item of items) await queue.update({ ...item, attempts: 1 })
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(await queue.items()).toMatchObject([{ dead: true, attempts: 0 }, { attempts: 1 }])
    // A person has mended it.
    writeFileSync(path, JSON.stringify(first))
    expect((await queue.items())[0]).toEqual(first)
    await queue.update({ ...first, attempts: 2 })
    expect((await queue.items())[0]).toMatchObject({ key: 'a', attempts: 2 })
    writeFileSync(path, text)
    await queue.remove(first.id)
    expect((await queue.items()).map(({ key }) => key)).toEqual(['b'])
    await queue.close()
  },
)

it('lets a healthy memory be written to and drained into beside a file that is damaged', async () => {
  const folder = temporaryRoot()
  const queue = await openWriteQueue({ folder })
  const { id } = await queue.append(write('lost', 1000))
  const name = `${String(id).padStart(16, '0')}.json`
  writeFileSync(join(folder, name), '{')
  await queue.append(write('kept', 1000))
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const fallback = createMemoryFallback({ memory, queue, onDegraded: () => {} })
  expect(await fallback.writeWithDegradation('long-term', 'other', 1)).toBe('written')
  expect(await fallback.drain()).toMatchObject({ written: 1, waiting: 0, dead: 1 })
  expect(await memory.read('long-term', 'kept')).toEqual({ key: 'kept' })
  expect(readdirSync(folder).filter((each) => each.endsWith('.json'))).toEqual([name])
  await memory.close()
  await queue.close()
})
