import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fileSystem, {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { openFileMemory } from '@recall/store-file'
import { create, list } from 'tar'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createShell,
  poolSession,
  type Shell,
  shellWithSession,
  temporaryFolder,
  writeFiles,
  writeSession,
} from './support.ts'

/** What a memory holds; times of files survive a backup to the second only. */
const memories = async (shell: Shell): Promise<unknown[]> =>
  (await shell.run('export')).out
    .trim()
    .split('\n')
    .map((line) => {
      const { key, scope, type, tags, value } = JSON.parse(line) as Record<string, unknown>
      return { key, scope, type, tags, value }
    })

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
    expect(await memories(other)).toEqual(await memories(shell))
    expect(await other.json('doctor', '--deep')).toMatchObject({ healthy: true })
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
    expect(await memories(other)).toEqual(await memories(shell))
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
    expect(await memories(other)).toEqual(await memories(shell))
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
    expect(await memories(other)).toEqual(await memories(shell))
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
      err: `recall: ${curated} is no backup: name another file\n`,
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
    expect(await memories(other)).toEqual(await memories(shell))
  })

  it('is put back once when two restore it at the same time, for its owner alone', async () => {
    const shell = await shellWithSession()
    const folder = temporaryFolder()
    const file = join(folder, 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell(join(folder, 'restored'))
    const both = await Promise.all([other.run('restore', file), other.run('restore', file)])
    expect(both.map(({ code }) => code).sort()).toEqual([0, 3])
    expect(both.map(({ err }) => err).join('')).toContain('already holds a memory')
    expect(await memories(other)).toEqual(await memories(shell))
    if (process.platform !== 'win32') expect(statSync(other.root).mode & 0o777).toBe(0o700)
    expect(readdirSync(folder).sort()).toEqual(['memory.tar.gz', 'restored'])
  })

  it.runIf(existsSync('/proc/self'))('says at once where no folder can be made', async () => {
    const shell = await shellWithSession()
    const file = join(shell.root, 'memory.tar.gz')
    await shell.run('backup', file)
    expect(await shell.run('restore', file, '--root', '/proc/recall/memory')).toMatchObject({
      code: 3,
      err: expect.stringContaining('/proc/recall cannot be created (ENOENT): see who may write there'),
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
      expect([code, err]).toEqual([2, expect.stringContaining('is no file: a backup is one')])
    }
  })

  it('is on the disk, with every file and folder, before it stands in its place', async () => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    let entries = 0
    await list({ file, onReadEntry: () => entries++ })
    const other = createShell(join(temporaryFolder(), 'restored'))
    const handle = await open(file)
    const sync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync')
    onTestFinished(() => sync.mockRestore())
    const tooLate: number[] = []
    sync.mockImplementation(async function (this: typeof handle) {
      if (existsSync(other.root)) tooLate.push(this.fd)
    })
    await handle.close()
    expect((await other.run('restore', file)).code).toBe(0)
    // And the folder that they lie in.
    expect([sync.mock.calls.length, tooLate]).toEqual([entries + 1, []])
  })

  it('never restores over a memory', async () => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const { code, err } = await shell.run('restore', file)
    expect(code).toBe(3)
    expect(err).toContain('already holds a memory')
  })

  it.each<[string, (path: string) => void]>([
    ['a file', (path) => writeFileSync(path, 'mine')],
    ['a link to nowhere', (path) => symlinkSync(join(path, '../nowhere'), path, 'junction')],
  ])('says that the place of a memory is taken by %s', async (_, occupy) => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell()
    occupy(join(other.root, 'memory'))
    expect(await other.run('restore', file)).toMatchObject({
      code: 3,
      err: `recall: ${other.root} already holds a memory: move it away, or name another --root\n`,
    })
    expect(readdirSync(other.root)).toEqual(['memory'])
  })

  it('leaves nothing behind when the file is damaged', async () => {
    const shell = await shellWithSession()
    const folder = temporaryFolder()
    await shell.run('backup', join(folder, 'memory.tar.gz'))
    const bytes = readFileSync(join(folder, 'memory.tar.gz'))
    writeFileSync(join(folder, 'torn.tar.gz'), bytes.subarray(0, bytes.length / 2))
    const other = createShell(join(folder, 'restored'))
    expect((await other.run('restore', join(folder, 'torn.tar.gz'))).code).toBe(3)
    expect(existsSync(join(folder, 'restored', 'memory'))).toBe(false)
    expect(readdirSync(folder).filter((name) => name.includes('restoring'))).toEqual([])
  })

  it('is not called damaged when the disk is full', async () => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell()
    const full = { code: 'ENOSPC', syscall: 'write' }
    const write = vi.spyOn(fileSystem, 'writeSync').mockImplementation(() => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), full)
    })
    const { code, err } = await other.run('restore', file).finally(() => write.mockRestore())
    expect([code, readdirSync(other.root)]).toEqual([3, []])
    expect(err).toBe(
      `recall: ${file} could not be unpacked, nothing was restored: ENOSPC: no space left on device, write\n`,
    )
    expect(await other.run('restore', file)).toMatchObject({ code: 0 })
  })

  it('takes no other archive for a backup', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'photos'))
    writeFileSync(join(folder, 'photos', 'memory'), 'of a summer')
    const file = join(folder, 'photos.tar.gz')
    await create({ gzip: true, cwd: join(folder, 'photos'), file }, ['.'])
    const other = createShell(join(folder, 'restored'))
    const { code, out, err } = await other.run('restore', file)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('is no backup of a memory, nothing was restored')
    expect(readdirSync(folder).sort()).toEqual(['photos', 'photos.tar.gz'])
  })

  it.each<[string, (folder: string) => void, string]>([
    [
      'a file beside the memory',
      (folder) => writeFileSync(join(folder, '.profile'), 'echo run'),
      '.profile is no part of one',
    ],
    [
      'a file in a folder above a part',
      (folder) => {
        const paths = { conversations: 'notes/sessions' }
        writeFileSync(join(folder, '.recall-echo.json'), JSON.stringify({ paths }))
        mkdirSync(join(folder, 'notes/sessions'), { recursive: true })
        writeFileSync(join(folder, 'notes/start.sh'), 'echo run')
      },
      'notes/start.sh is no part of one',
    ],
    [
      'a link to another folder of the root',
      (folder) => symlinkSync('../other', join(folder, 'memory/long-term')),
      'memory/long-term is a link',
    ],
    [
      'a second name of a file',
      (folder) => linkSync(join(folder, 'memory/MEMORY.md'), join(folder, 'memory/second.md')),
      'is a link',
    ],
    [
      'places that lie outside',
      (folder) =>
        writeFileSync(join(folder, '.recall-echo.json'), '{"paths":{"conversations":"../outside"}}'),
      'paths.conversations must be a folder below the root',
    ],
  ])('restores nothing of an archive that holds more than a memory: %s', async (_, add, problem) => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'memory'))
    writeFileSync(join(folder, 'memory/MEMORY.md'), '# Memory\n')
    add(folder)
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await create({ gzip: true, cwd: folder, file }, readdirSync(folder))
    const other = createShell()
    const { code, err } = await other.run('restore', file)
    expect([code, readdirSync(other.root)]).toEqual([2, []])
    expect(err).toContain(`${file} is no backup of a memory, nothing was restored: `)
    expect(err).toContain(problem)
  })

  it('restores no journal and no index of another machine', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'memory/.recall'), { recursive: true })
    writeFileSync(join(folder, 'memory/MEMORY.md'), '# Memory\n')
    writeFileSync(join(folder, 'memory/other.md'), 'kept')
    const steps = [{ path: 'memory/other.md', temporary: null }]
    writeFileSync(join(folder, 'memory/.recall/journal.json'), JSON.stringify({ version: 1, steps }))
    writeFileSync(join(folder, 'memory/.recall/index.db'), 'of another')
    const file = join(temporaryFolder(), 'memory.tar.gz')
    // An archive may spell a path in several ways.
    for (const path of ['memory', './memory', 'memory//.recall']) {
      await create({ gzip: true, cwd: folder, file }, ['memory/MEMORY.md', 'memory/other.md', path])
      const other = createShell()
      expect(await other.run('restore', file)).toMatchObject({ code: 0, err: '' })
      expect(readFileSync(join(other.root, 'memory/other.md'), 'utf8')).toBe('kept')
    }
  })

  it.runIf(process.platform !== 'win32')(
    'restores files that only their owner may write, and that run as nobody else',
    async () => {
      const folder = temporaryFolder()
      mkdirSync(join(folder, 'memory'))
      writeFileSync(join(folder, 'memory/MEMORY.md'), '# Memory\n')
      chmodSync(join(folder, 'memory/MEMORY.md'), 0o6777)
      const file = join(temporaryFolder(), 'memory.tar.gz')
      await create({ gzip: true, cwd: folder, file }, ['memory'])
      const other = createShell()
      const umask = process.umask(0)
      onTestFinished(() => void process.umask(umask))
      await other.run('restore', file)
      expect(statSync(join(other.root, 'memory/MEMORY.md')).mode & 0o7777).toBe(0o755)
    },
  )

  it('goes on where a restore was killed, and removes what that one had unpacked', async () => {
    const shell = createShell()
    await shell.run('init', '.', '--layout', 'user')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
    const folder = temporaryFolder()
    const file = join(folder, 'memory.tar.gz')
    expect((await shell.run('backup', file)).code).toBe(0)
    const other = createShell(join(folder, 'restored'))
    mkdirSync(other.root)
    // Some of it had been moved in; `memory` comes last.
    cpSync(join(shell.root, 'memories'), join(other.root, 'memories'), { recursive: true })
    const abandoned = join(folder, `restored.restoring-${2 ** 22 + 1}`)
    const underWay = join(folder, `restored.restoring-${process.ppid}`)
    for (const name of [abandoned, underWay]) mkdirSync(name)
    expect(await other.run('restore', file, '--layout', 'user')).toMatchObject({ code: 0, err: '' })
    expect(await memories(other)).toEqual(await memories(shell))
    expect([existsSync(abandoned), existsSync(underWay)]).toEqual([false, true])
  })

  it('has a memory only when all of it was moved in, so that it can go on', async () => {
    const shell = createShell()
    await shell.run('init', '.', '--layout', 'user')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell()
    const { renameSync } = fileSystem
    fileSystem.renameSync = (from, to) => {
      if (to === join(other.root, 'memories')) throw Object.assign(new Error('EIO'), { code: 'EIO' })
      renameSync(from, to)
    }
    syncBuiltinESMExports()
    try {
      expect(await other.run('restore', file)).toMatchObject({ code: 3 })
    } finally {
      fileSystem.renameSync = renameSync
      syncBuiltinESMExports()
    }
    expect(await other.run('restore', file)).toMatchObject({ code: 0, err: '' })
    expect(await memories(other)).toEqual(await memories(shell))
  })

  it('puts nothing beside a root that exists, which may be a disk of its own', async () => {
    const shell = await shellWithSession()
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    // So long that no name beside it could begin with it.
    const other = createShell(join(temporaryFolder(), 'disk'.padEnd(250, '-')))
    mkdirSync(other.root)
    const abandoned = `memory.restoring-${2 ** 22 + 1}-0123abcd`
    mkdirSync(join(other.root, abandoned))
    expect(await other.run('restore', file)).toMatchObject({ code: 0, err: '' })
    expect(await memories(other)).toEqual(await memories(shell))
    expect(readdirSync(other.root)).toEqual(['memory'])
  })

  it('overwrites nothing that lies where the backup belongs', async () => {
    const shell = createShell()
    await shell.run('init', '.', '--layout', 'user')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell()
    writeFileSync(join(other.root, 'EPHEMERAL.md'), 'mine')
    const { code, err } = await other.run('restore', file, '--layout', 'user')
    expect([code, readdirSync(other.root)]).toEqual([3, ['EPHEMERAL.md']])
    expect(err).toContain('EPHEMERAL.md is not what the backup holds')
  })

  it('takes no folder that holds more than the backup for what a killed restore had moved in', async () => {
    const shell = createShell()
    await shell.run('init', '.', '--layout', 'user')
    await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell()
    cpSync(join(shell.root, 'memories'), join(other.root, 'memories'), { recursive: true })
    writeFileSync(join(other.root, 'memories/archive-log-009.md'), 'mine')
    const { code, err } = await other.run('restore', file)
    expect([code, readdirSync(other.root)]).toEqual([3, ['memories']])
    expect(err).toContain('memories is not what the backup holds')
  })
})
