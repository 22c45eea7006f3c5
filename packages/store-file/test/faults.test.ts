import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, isMemoryError } from '@recall/core'
import { thisProcess } from '@recall/core/process'
import { describe, expect, it, vi } from 'vitest'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/open-file-memory.ts'
import { bundleScript } from './support/child-process.ts'
import { failingFileSystem, readOnlyFileSystem } from './support/faulty-file-system.ts'
import { fill, type Opened, observe, openAt, operations } from './support/operations.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

const leftovers = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.tmp-'))

describe('an input or output error at any call', () => {
  for (const { name, run, stepwise } of operations) {
    it(`is reported with the path, acknowledges nothing and leaves nothing behind: ${name}`, async () => {
      const place = temporaryRoot()
      const full = join(place, 'full')
      mkdirSync(full)
      await fill(full)
      const copy = (to: string): string => {
        cpSync(full, join(place, to), { recursive: true })
        return join(place, to)
      }
      const done = copy('done')
      const opened = await openAt(done)
      await run(opened)
      await opened.memory.close()
      const before = await observe(copy('before'))
      const after = await observe(done)

      const codes = ['EIO', 'ENOSPC', 'EACCES'] as const
      for (let k = 1, isReached = true; isReached; k++) {
        const code = codes[k % 3] as string
        const root = copy(`k${k}`)
        const { fileSystem, calls, disarm } = failingFileSystem(k, code)
        let faulty: Opened | undefined
        // Opening reads files as well.
        const attempt = async (): Promise<unknown> => {
          try {
            faulty ??= await openAt(root, fileSystem)
            await run(faulty)
            return null
          } catch (reason) {
            return reason
          }
        }
        const error = await attempt()
        isReached = calls.length >= k
        disarm()
        const at = `${code} at call ${k}, ${calls[k - 1]?.name}`
        const found = await observe(root)
        if (error === null) expect(found, at).toBe(after)
        else {
          if (!stepwise) {
            expect(isMemoryError(error), `${at}: ${error}`).toBe(true)
            expect(String(error), at).toContain(root)
            if (found !== before) expect(found, at).toBe(after)
          }
          if (calls[k - 1]?.name === 'fsyncSync') {
            const descriptor = calls[k - 1]?.target
            const next = calls.slice(k).findIndex((call) => call.target === descriptor)
            expect(calls.slice(k)[next]?.name, `${at} is not tried again`).not.toBe('fsyncSync')
          }
        }
        if (calls[k - 1]?.name !== 'unlinkSync') expect(leftovers(root), at).toEqual([])
        const again = await attempt()
        if (!isMemoryError(again, 'MEMORY_CONFLICT')) expect(again, `${at}, tried again`).toBe(null)
        await faulty?.memory.close()
        expect(await observe(root), `${at}, tried again`).toBe(after)
      }
    })
  }
})

describe('a memory that may not be written', () => {
  it.each(['EROFS', 'EACCES'])(
    'can be read and searched, and says why it cannot be written: %s',
    async (code) => {
      const root = temporaryRoot()
      await fill(root)
      const { memory } = await openAt(root, readOnlyFileSystem(code).fileSystem)
      expect(await memory.read('long-term', 'a')).toBe('old a')
      expect((await memory.search('long-term', { text: 'old' })).map(({ key }) => key).sort()).toEqual([
        'a',
        'b',
        'c',
      ])
      const error = await memory.write('long-term', 'a', 'new').catch((reason: unknown) => reason)
      expect(isMemoryError(error, 'MEMORY_WRITE_FAILED')).toBe(true)
      expect(String(error)).toContain(root)
      expect(String(error)).toContain(code)
      const section = await memory
        .write('long-term', 'MEMORY.md#people', 'x')
        .catch((reason: unknown) => reason)
      expect(String(section)).toContain(root)
      await memory.close()
    },
  )

  it.each([
    ['its disk', (_root: string) => readOnlyFileSystem('EROFS').fileSystem],
    [
      'its index',
      (root: string) => {
        rmSync(join(root, 'memory/.recall/index.db'), { force: true })
        mkdirSync(join(root, 'memory/.recall/index.db'))
        return defaultFileSystem
      },
    ],
  ])('is searched, and keeps the notes of a killed writer for others: %s', async (_, fileSystemOf) => {
    const root = temporaryRoot()
    await fill(root)
    const notes = join(root, 'memory/.recall/writers')
    const name = `999999999-1-${thisProcess().place}00`
    mkdirSync(notes, { recursive: true })
    writeFileSync(join(notes, name), 'memory/long-term/a.md\n')
    const { memory } = await openAt(root, fileSystemOf(root))
    expect(await memory.search('long-term', { text: 'old' })).toHaveLength(3)
    await memory.close()
    expect(readdirSync(notes)).toEqual([name])
  })

  it('keeps the note of what it wrote for others where its index cannot be kept', async () => {
    const root = temporaryRoot()
    const internal = join(root, 'memory/.recall')
    mkdirSync(join(internal, 'index.db'), { recursive: true })
    const { memory } = await openAt(root, defaultFileSystem)
    await memory.write('long-term', 'new', 'text')
    expect(await memory.search('long-term', { text: 'text' })).toHaveLength(1)
    await memory.close()
    const notes = readdirSync(join(internal, 'writers')).map((name) => join(internal, 'writers', name))
    expect(notes.map((path) => readFileSync(path, 'utf8'))).toEqual(['memory/long-term/new.md\n'])
  })
})

it.each([
  ['held by another process', 5],
  ['damaged', 11],
  ['on a full disk', 13],
])('an entry that expires can be read while the index is %s', async (_, errcode) => {
  const store = await openFileStore({ root: temporaryRoot() })
  const memory = createMemoryManager({ stores: store })
  await memory.write('short-term', 'key', 'brief')
  await memory.search('short-term', {})
  const transaction = vi.spyOn(store.index.asIs(), 'transaction')
  transaction.mockImplementation(() => {
    throw Object.assign(new Error('no'), { errcode })
  })
  expect(await memory.read('short-term', 'key')).toBe('brief')
  expect(transaction).toHaveBeenCalled()
  transaction.mockRestore()
  await memory.close()
})

/**
 * Runs a script on a small disk of its own, where the system allows one to be mounted. In the steps, `$NODE` runs
 * `$SCRIPT`, and the disk is at `$AT`.
 */
async function onSmallDisk(name: string, steps: string[]): Promise<{ skipped: string } | { output: string }> {
  const env = {
    ...process.env,
    NODE: process.execPath,
    SCRIPT: await bundleScript(name),
    AT: temporaryRoot(),
  }
  const { status, stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', steps.join(' && ')], {
    encoding: 'utf8',
    env,
  })
  if (/unshare|mount:|not permitted/.test(stderr) || status === null)
    return { skipped: stderr || 'no unshare' }
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: expect.stringContaining('ok') })
  return { output: stdout }
}

describe('a disk of its own', () => {
  it('keeps old notes whole, readable and searchable when full, and goes on by itself when freed', async ({
    skip,
  }) => {
    const result = await onSmallDisk('full-disk-child.ts', [
      'mount -t tmpfs -o size=1m t "$AT"',
      '"$NODE" "$SCRIPT" "$AT"',
    ])
    if ('skipped' in result) skip(`no small disk can be mounted here: ${result.skipped}`)
  })

  it.for([
    ['is full', '{ head -c 10000000 /dev/zero > "$AT/ballast" 2>/dev/null; true; }', 'rm "$AT/ballast"'],
    ['may only be read', 'mount -o remount,ro "$AT"', 'mount -o remount,rw "$AT"'],
  ])('keeps what reads have kept alive while it %s, and afterwards', async ([, hinder, mend], { skip }) => {
    const check = '"$NODE" "$SCRIPT" "$AT" check'
    const result = await onSmallDisk('kept-alive-child.ts', [
      'mount -t tmpfs -o size=3m t "$AT"',
      '"$NODE" "$SCRIPT" "$AT" fill',
      hinder as string,
      check,
      mend as string,
      check,
    ])
    if ('skipped' in result) skip(`no small disk can be mounted here: ${result.skipped}`)
  })

  it('is read and searched when it is mounted read-only', async ({ skip }) => {
    const result = await onSmallDisk('read-only-child.ts', [
      'mount -t tmpfs -o size=8m t "$AT"',
      '"$NODE" "$SCRIPT" "$AT" fill',
      'mount -o remount,bind,ro "$AT"',
      '"$NODE" "$SCRIPT" "$AT" check',
    ])
    if ('skipped' in result) skip(`no disk can be mounted here: ${result.skipped}`)
  })
})
