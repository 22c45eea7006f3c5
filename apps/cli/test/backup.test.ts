import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fileSystem, {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openFileMemory } from '@recall/store-file'
import { create, list } from 'tar'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createShell, memoriesOf, shellWithSession, temporaryFolder, writeFiles } from './support.ts'

/** A program that counts one access more, then does something else before it ends. */
const countsOne = (then = ''): string => `
  const { DatabaseSync } = require('@photostructure/sqlite')
  const counts = new DatabaseSync(process.argv[1])
  counts.exec('UPDATE access SET count = count + 1')
  console.log('counted')
  ${then}`

describe('backup and restore', () => {
  it('bring a memory to another place, with everything in it', async () => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect((await shell.run('backup', file)).code).toBe(0)
    const other = createShell(join(temporaryFolder(), 'restored'))
    expect((await other.run('restore', file)).code).toBe(0)
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
    expect(await other.json('doctor', '--deep')).toMatchObject({ healthy: true })
  })

  it('save a file with two names as two files', async () => {
    const shell = await shellWithSession()
    const note = join(shell.root, 'memory/long-term/note.md')
    writeFiles(shell.root, { 'memory/long-term/note.md': 'Tabs.\n' })
    linkSync(note, join(shell.root, 'memory/long-term/twin.md'))
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect((await shell.run('backup', file)).code).toBe(0)
    const other = createShell(join(temporaryFolder(), 'restored'))
    expect(await other.run('restore', file)).toMatchObject({ code: 0, err: '' })
    expect(readFileSync(join(other.root, 'memory/long-term/twin.md'), 'utf8')).toBe('Tabs.\n')
  })

  it('count one file and one entry', async () => {
    const shell = createShell()
    writeFiles(shell.root, { 'memory/MEMORY.md': 'Tabs.\n' })
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect((await shell.run('backup', file)).out).toContain(': 1 file, ')
    const other = createShell(join(temporaryFolder(), 'restored'))
    expect((await other.run('restore', file)).out).toContain('Restored 1 entry to ')
  })

  it('wait on Windows until a scanner lets go, and take the place of an empty folder', async () => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    const root = temporaryFolder()
    mkdirSync(join(root, 'memory'))
    const { platform } = process
    const { renameSync } = fileSystem
    const held = new Set<unknown>()
    fileSystem.renameSync = (from, to) => {
      const isFirst = !held.has(to)
      held.add(to)
      const isFolder = existsSync(to) && statSync(to).isDirectory()
      if (isFirst || isFolder) throw Object.assign(new Error(`EPERM: ${to}`), { code: 'EPERM' })
      renameSync(from, to)
    }
    Object.defineProperty(process, 'platform', { value: 'win32' })
    syncBuiltinESMExports()
    const other = createShell(root)
    try {
      expect(await shell.run('backup', file)).toMatchObject({ code: 0 })
      expect(await other.run('restore', file)).toMatchObject({ code: 0 })
    } finally {
      Object.defineProperty(process, 'platform', { value: platform })
      fileSystem.renameSync = renameSync
      syncBuiltinESMExports()
    }
    expect([...held]).toEqual(expect.arrayContaining([file, join(root, 'memory')]))
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
  })

  it('save everything that a person wrote, whatever it is called, and nothing that is derived', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root })
    const keys = ['lock-order', 'locking', 'index.db-notes', 'index.seal', 'writers', 'journal.json']
    for (const key of keys) await memory.write('long-term', key, `about ${key}`)
    await memory.close()
    const file = join(shell.root, 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell(join(temporaryFolder(), 'restored'))
    await other.run('restore', file)
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
    const names: string[] = []
    await list({ file, onReadEntry: ({ path }) => names.push(path) })
    expect(names.filter((name) => /tar\.gz|\.recall\/(?:index|lock|writers)/.test(name))).toEqual([])
  })

  it('save no backup with the memory that it lies in, also where a link leads to it', async () => {
    const shell = await shellWithSession()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(join(shell.root, 'memory'), link, 'junction')
    const file = join(link, 'memory.tar.gz')
    for (let times = 0; times < 2; times++)
      expect(await shell.run('backup', file)).toMatchObject({ code: 0, err: '' })
    const names: string[] = []
    await list({ file, onReadEntry: ({ path }) => names.push(path) })
    expect(names.filter((name) => name.includes('tar'))).toEqual([])
  })

  it('save no earlier backup that lies in the memory, and say so', async () => {
    const shell = await shellWithSession()
    writeFileSync(join(shell.root, 'memory/summer.gz'), gzipSync('of a summer'))
    await shell.run('backup', 'memory/monday.tgz')
    const file = join(shell.root, 'memory/tuesday.tgz')
    expect(await shell.run('backup', file)).toMatchObject({
      code: 0,
      err: 'recall: memory/monday.tgz is an earlier backup and was left out\n',
    })
    const names: string[] = []
    await list({ file, onReadEntry: ({ path }) => names.push(path) })
    expect(names.filter((name) => name.endsWith('gz'))).toEqual(['memory/summer.gz'])
  })

  it('are no standard output, and no file that is taken for it', async () => {
    const shell = await shellWithSession()
    expect(await shell.run('backup', '-')).toMatchObject({ code: 2, err: expect.stringContaining('./-') })
    expect(existsSync(join(shell.root, '-'))).toBe(false)
    expect((await shell.run('backup', './-')).code).toBe(0)
  })

  it('go on without a file that goes while they are made', async () => {
    const shell = await shellWithSession()
    const gone = join(shell.root, 'memory/gone.md')
    writeFileSync(gone, 'a rope')
    const { lstatSync } = fileSystem
    const look = vi.spyOn(fileSystem, 'lstatSync').mockImplementation(((path: string, options: object) => {
      if (path === gone && existsSync(gone)) unlinkSync(gone)
      return lstatSync(path, options)
    }) as typeof lstatSync)
    onTestFinished(() => look.mockRestore())
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect(await shell.run('backup', file)).toMatchObject({ code: 0, err: '' })
    expect(existsSync(gone)).toBe(false)
    const other = createShell(join(temporaryFolder(), 'restored'))
    expect(await other.run('restore', file)).toMatchObject({ code: 0 })
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
  })

  it('hold the access counts as they were in one moment', async () => {
    const shell = await shellWithSession()
    const counts = join(shell.root, 'memory/.recall/access.db')
    const memory = await openFileMemory({ root: shell.root })
    await memory.write('long-term', 'note', 'text')
    await memory.read('long-term', 'note')
    await memory.close()
    // In processes of their own: within one, two SQLites know nothing of each other's locks.
    const reader = spawn(process.execPath, ['-e', countsOne('setInterval(() => {}, 1000)'), counts])
    onTestFinished(() => void reader.kill())
    await once(reader.stdout, 'data')
    const countOne = () => execFileSync(process.execPath, ['-e', countsOne(), counts], { stdio: 'pipe' })
    const { openSync } = fileSystem
    const attempts: string[] = []
    const look = vi.spyOn(fileSystem, 'openSync').mockImplementation((path, ...options) => {
      if (String(path).startsWith(counts) && options[0] === 'r') {
        expect(countOne).toThrow('locked')
        attempts.push(basename(String(path)))
      }
      return openSync(path, ...options)
    })
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect(await shell.run('backup', file)).toMatchObject({ code: 0, err: '' })
    look.mockRestore()
    expect(attempts).toEqual(['access.db', 'access.db-wal'])
    countOne()
    const other = createShell(join(temporaryFolder(), 'restored'))
    await other.run('restore', file)
    const restored = await openFileMemory({ root: other.root })
    const { metadata } = (await restored.read('long-term', 'note', { includeMetadata: true })) ?? {}
    await restored.close()
    expect(metadata?.accessCount).toBe(3)
  })

  it('leave links out, and say which', async () => {
    const shell = await shellWithSession()
    symlinkSync('/etc/hosts', join(shell.root, 'memory/note-link.md'))
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect(await shell.run('backup', file)).toMatchObject({
      code: 0,
      err: expect.stringContaining('memory/note-link.md is a link and was left out'),
    })
    const other = createShell(join(temporaryFolder(), 'restored'))
    expect((await other.run('restore', file)).code).toBe(0)
    expect(existsSync(join(other.root, 'memory/conversations/conversation-001.md'))).toBe(true)
  })

  it.runIf(process.platform !== 'win32')('leaves pipes and sockets out, and says which', async () => {
    const shell = await shellWithSession()
    const server = createServer().listen(join(shell.root, 'memory/socket'))
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect(await shell.run('backup', file)).toMatchObject({
      code: 0,
      err: 'recall: memory/socket is a pipe, a socket or a device and was left out\n',
    })
  })

  it.runIf(process.platform === 'linux')('says which name is not UTF-8', async () => {
    const shell = await shellWithSession()
    writeFileSync(Buffer.from(join(shell.root, 'memory/k\xfcche.md'), 'latin1'), 'Soup.\n')
    const file = join(temporaryFolder(), 'memory.tar.gz')
    const named = join(shell.root, 'memory/k\ufffdche.md')
    expect(await shell.run('backup', file)).toMatchObject({
      code: 3,
      err: `recall: ${file} could not be written: the name of ${named} is not UTF-8: rename it\n`,
    })
  })

  it.each(['memory', 'memory/conversations'])('is refused where %s is a link', async (path) => {
    const shell = await shellWithSession()
    const real = join(temporaryFolder(), 'real')
    renameSync(join(shell.root, path), real)
    symlinkSync(real, join(shell.root, path))
    const file = join(temporaryFolder(), 'memory.tar.gz')
    expect(await shell.run('backup', file)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/replace the link by (?:a|the) real folder/),
    })
    expect(existsSync(file)).toBe(false)
    expect(await shell.run('status')).toMatchObject({ code: 1, out: expect.stringContaining('degraded') })
  })

  it('makes a file that its owner alone can read, and leaves nothing behind when it cannot', async () => {
    const shell = await shellWithSession()
    const folder = temporaryFolder()
    const file = join(folder, 'memory.tar.gz')
    await shell.run('backup', file)
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await shell.run('backup', folder)).toMatchObject({
      code: 2,
      err: expect.stringContaining('is a folder'),
    })
    const nowhere = await shell.run('backup', join(folder, 'no', 'x.tgz'))
    expect(nowhere).toMatchObject({ code: 2, err: expect.stringContaining('does not exist') })
    expect(readdirSync(folder)).toEqual(['memory.tar.gz'])
  })

  it('takes the place of an earlier backup, and of nothing that somebody wrote', async () => {
    const shell = await shellWithSession()
    const curated = join(shell.root, 'memory/MEMORY.md')
    const before = readFileSync(curated, 'utf8')
    expect(await shell.run('backup', curated)).toMatchObject({
      code: 2,
      err: `recall: ${curated} is not a backup: name another file\n`,
    })
    expect(readFileSync(curated, 'utf8')).toBe(before)
    const folder = temporaryFolder()
    const photos = join(folder, 'photos.tar.gz')
    writeFileSync(join(folder, 'summer.jpg'), 'of a summer')
    await create({ gzip: true, cwd: folder, file: photos }, ['summer.jpg'])
    const photosBefore = readFileSync(photos)
    expect(await shell.run('backup', photos)).toMatchObject({ code: 2 })
    expect(readFileSync(photos).equals(photosBefore)).toBe(true)

    // The file that says where things lie is the first in a backup.
    writeFileSync(join(shell.root, '.recall-echo.json'), '{"layout":"entity"}')
    const reserved = join(folder, 'memory.tar.gz')
    writeFileSync(reserved, '')
    for (let times = 0; times < 2; times++)
      expect(await shell.run('backup', reserved)).toMatchObject({ code: 0 })
    expect(await createShell().run('restore', reserved)).toMatchObject({ code: 0 })
  })

  it('is made behind a link, which stays one', async () => {
    const shell = await shellWithSession()
    const folder = temporaryFolder()
    const link = join(folder, 'link.tar.gz')
    writeFileSync(join(folder, 'real.tar.gz'), '')
    symlinkSync('real.tar.gz', link)
    expect(await shell.run('backup', link)).toMatchObject({ code: 0 })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(statSync(link).size).toBeGreaterThan(0)
    expect(await createShell().run('restore', link)).toMatchObject({ code: 0 })
  })

  it('is whole when two are made at the same time, and removes what a killed one left', async () => {
    const shell = await shellWithSession()
    const folder = temporaryFolder()
    const file = join(folder, 'memory.tar.gz')
    const left = [
      `${file}.unfinished-${2 ** 22 + 1}-0123abcd`,
      `${file}.unfinished-${2 ** 22 + 1}-0123abcd.tar`,
    ]
    for (const path of left) writeFileSync(path, 'half of it')
    const both = await Promise.all([shell.run('backup', file), shell.run('backup', file)])
    expect(both).toMatchObject([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ])
    expect(readdirSync(folder)).toEqual(['memory.tar.gz'])
    const other = createShell(join(folder, 'restored'))
    expect(await other.run('restore', file)).toMatchObject({ code: 0, err: '' })
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
  })

  it.runIf(existsSync('/proc/self'))('says at once where no folder can be made', async () => {
    const shell = await shellWithSession()
    const file = join(shell.root, 'memory.tar.gz')
    await shell.run('backup', file)
    expect(await shell.run('restore', file, '--root', '/proc/recall/memory')).toMatchObject({
      code: 3,
      err: expect.stringContaining('/proc/recall cannot be created (ENOENT): check who may write there'),
    })
  })

  it.runIf(process.platform !== 'win32')('takes the place of no pipe or device', async () => {
    const shell = await shellWithSession()
    const socket = join(shell.root, 'socket')
    const server = createServer().listen(socket)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    expect(await shell.run('backup', socket)).toMatchObject({
      code: 2,
      err: expect.stringContaining('is a device or a pipe'),
    })
    expect(statSync(socket).isSocket()).toBe(true)
  })

  it.runIf(process.platform !== 'win32')('is no pipe and no folder', async () => {
    const shell = createShell()
    execFileSync('mkfifo', [join(shell.root, 'pipe.tgz')])
    mkdirSync(join(shell.root, 'folder.tgz'))
    for (const name of ['pipe.tgz', 'folder.tgz']) {
      const { code, err } = await shell.run('restore', join(shell.root, name))
      expect([code, err]).toEqual([2, expect.stringContaining('is not a file: a backup is one')])
    }
  })
})
