import { createHash } from 'node:crypto'
import fileSystem, {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { create, list } from 'tar'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createShell,
  memoriesOf,
  poolSession,
  type Shell,
  shellWithSession,
  temporaryFolder,
  writeSession,
} from './support.ts'

/** A memory whose files lie in several folders, and a backup of it. */
async function severalFolders(): Promise<{ shell: Shell; file: string }> {
  const shell = createShell()
  await shell.run('init', '.', '--layout', 'user')
  await shell.run('archive', writeSession(temporaryFolder(), 's1', poolSession))
  const file = join(temporaryFolder(), 'memory.tar.gz')
  expect((await shell.run('backup', file)).code).toBe(0)
  return { shell, file }
}

describe('restore', () => {
  it('is put back once when two restore it at the same time, for its owner alone', async () => {
    const shell = await shellWithSession()
    const folder = temporaryFolder()
    const file = join(folder, 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell(join(folder, 'restored'))
    const both = await Promise.all([other.run('restore', file), other.run('restore', file)])
    expect(both.map(({ code }) => code).sort()).toEqual([0, 3])
    expect(both.map(({ err }) => err).join('')).toContain('already holds a memory')
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
    if (process.platform !== 'win32') expect(statSync(other.root).mode & 0o777).toBe(0o700)
    expect(readdirSync(folder).sort()).toEqual(['memory.tar.gz', 'restored'])
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

  it('restores nothing when another layout is named than that of the backup', async () => {
    const { file } = await severalFolders()
    const other = createShell(join(temporaryFolder(), 'restored'))
    expect(await other.run('restore', file, '--layout', 'entity')).toMatchObject({
      code: 2,
      err: expect.stringContaining(`nothing was restored: ${file} holds a memory in the user layout`),
    })
    expect((await other.run('restore', file, '--layout', 'entity')).err).toMatch(/: leave out --layout\n$/)
    expect(existsSync(other.root)).toBe(false)
    expect(await other.json('restore', file, '--layout', 'user')).toEqual({ root: other.root, documents: 3 })
  })

  it.each([
    ['another layout', { layout: 'entity' }],
    ['other places', { paths: { ephemeral: 'notes/now.md' } }],
  ])('restores nothing where the file of a root names %s than the backup', async (_, said) => {
    const { file } = await severalFolders()
    const other = createShell()
    writeFileSync(join(other.root, '.recall-echo.json'), JSON.stringify(said))
    for (const layout of [[], ['--layout', 'user']]) {
      expect(await other.run('restore', file, ...layout)).toMatchObject({ out: '' })
      expect(readdirSync(other.root)).toEqual(['.recall-echo.json'])
    }
    expect((await other.run('restore', file)).err).toBe(
      `recall: ${join(other.root, '.recall-echo.json')} is not what the backup holds: move it away, or name another --root\n`,
    )
  })

  it('restores where the file of a root names the places of the backup', async () => {
    const { shell, file } = await severalFolders()
    const other = createShell()
    writeFileSync(join(other.root, '.recall-echo.json'), '{ "layout": "user" }')
    expect(await other.run('restore', file)).toMatchObject({ code: 0 })
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
  })

  it.runIf(process.platform !== 'win32')('lets only the user enter a folder of another name', async () => {
    const shell = createShell()
    const settings = { paths: { ephemeral: 'notes/now.md' } }
    writeFileSync(join(shell.root, '.recall-echo.json'), JSON.stringify(settings))
    await shell.run('init', '.')
    const file = join(temporaryFolder(), 'memory.tar.gz')
    await shell.run('backup', file)
    const other = createShell()
    expect((await other.run('restore', file)).code).toBe(0)
    expect(statSync(join(other.root, 'notes')).mode & 0o777).toBe(0o700)
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
    expect(err).toContain('is not a backup of a memory, nothing was restored')
    expect(readdirSync(folder).sort()).toEqual(['photos', 'photos.tar.gz'])
  })

  it.each<[string, (folder: string) => void, string]>([
    [
      'a file beside the memory',
      (folder) => writeFileSync(join(folder, '.profile'), 'echo run'),
      '.profile does not belong to one',
    ],
    [
      'a file in a folder above a part',
      (folder) => {
        const paths = { conversations: 'notes/sessions' }
        writeFileSync(join(folder, '.recall-echo.json'), JSON.stringify({ paths }))
        mkdirSync(join(folder, 'notes/sessions'), { recursive: true })
        writeFileSync(join(folder, 'notes/start.sh'), 'echo run')
      },
      'notes/start.sh does not belong to one',
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
    create({ gzip: true, cwd: folder, file, sync: true }, readdirSync(folder))
    const other = createShell()
    const { code, err } = await other.run('restore', file)
    expect([code, readdirSync(other.root)]).toEqual([2, []])
    expect(err).toContain(`${file} is not a backup of a memory, nothing was restored: `)
    expect(err).toContain(problem)
  })

  it('restores no journal and no index of another machine', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'memory/.recall'), { recursive: true })
    writeFileSync(join(folder, 'memory/MEMORY.md'), '# Memory\n')
    writeFileSync(join(folder, 'memory/other.md'), 'kept')
    const before = createHash('sha256').update('kept').digest('hex')
    const steps = [{ path: 'memory/other.md', temporary: null, before }]
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
    const { shell, file } = await severalFolders()
    const folder = temporaryFolder()
    const other = createShell(join(folder, 'restored'))
    mkdirSync(other.root)
    // Some of it had been moved in; `memory` comes last.
    cpSync(join(shell.root, 'memories'), join(other.root, 'memories'), { recursive: true })
    const abandoned = join(folder, `restored.restoring-${2 ** 22 + 1}`)
    const underWay = join(folder, `restored.restoring-${process.ppid}`)
    for (const name of [abandoned, underWay]) mkdirSync(name)
    expect(await other.run('restore', file, '--layout', 'user')).toMatchObject({ code: 0, err: '' })
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
    expect([existsSync(abandoned), existsSync(underWay)]).toEqual([false, true])
  })

  it('has a memory only when all of it was moved in, so that it can go on', async () => {
    const { shell, file } = await severalFolders()
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
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
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
    expect(await memoriesOf(other)).toEqual(await memoriesOf(shell))
    expect(readdirSync(other.root)).toEqual(['memory'])
  })

  it('overwrites nothing that lies where the backup belongs', async () => {
    const { file } = await severalFolders()
    const other = createShell()
    writeFileSync(join(other.root, 'EPHEMERAL.md'), 'mine')
    const { code, err } = await other.run('restore', file, '--layout', 'user')
    expect([code, readdirSync(other.root)]).toEqual([3, ['EPHEMERAL.md']])
    expect(err).toContain('EPHEMERAL.md is not what the backup holds')
  })

  it('takes no folder that holds more than the backup for what a killed restore had moved in', async () => {
    const { shell, file } = await severalFolders()
    const other = createShell()
    cpSync(join(shell.root, 'memories'), join(other.root, 'memories'), { recursive: true })
    writeFileSync(join(other.root, 'memories/archive-log-009.md'), 'mine')
    const { code, err } = await other.run('restore', file)
    expect([code, readdirSync(other.root)]).toEqual([3, ['memories']])
    expect(err).toContain('memories is not what the backup holds')
  })
})
