import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFileMemory } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { createShell, poolSession, temporaryFolder, writeFiles, writeSession } from './support.ts'

describe('the memory that a command uses', () => {
  it('takes no empty argument for the present folder', async () => {
    const shell = createShell()
    writeSession(shell.root, 's', poolSession)
    for (const argv of [
      ['import', ''],
      ['archive', ''],
      ['forget', 'k', '--root', ''],
      ['echoes', 'show', '--folder='],
    ]) {
      const { code, err } = await shell.run(...argv)
      expect(code, argv.join(' ')).toBe(2)
      expect(err).toContain('is empty')
    }
    expect(existsSync(join(shell.root, 'memory'))).toBe(false)
  })

  it('says that a root is a file, or lies in one', async () => {
    const shell = createShell()
    const file = writeSession(shell.root, 's', poolSession)
    for (const argv of [
      ['status', file],
      ['init', file],
      ['search', 'pool', '--root', file],
      ['status', join(file, 'below', 'it')],
    ]) {
      expect(await shell.run(...argv)).toMatchObject({
        code: 2,
        err: `recall: ${file} is a file: a memory is a folder\n`,
      })
    }
  })

  it.runIf(process.platform !== 'win32')('takes no device for a memory', async () => {
    expect(await createShell().run('init', '/dev/null')).toMatchObject({
      code: 2,
      err: 'recall: /dev/null is not a folder: a memory is a folder\n',
    })
  })

  it('takes a memory that a program made in this folder', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    const memory = await openFileMemory({ root: shell.root, create: true })
    await memory.write('long-term', 'style', 'Ana prefers tabs.')
    await memory.close()
    expect((await shell.run('search', 'tabs')).out).toContain('Ana prefers tabs.')
    await shell.run('archive', writeSession(temporaryFolder(), 's', poolSession))
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
    // As a copy of the notes alone, without what is made of them.
    rmSync(join(shell.root, 'memory/.recall'), { recursive: true })
    for (const name of ['conversations', 'EPHEMERAL.md', 'ARCHIVE.md'])
      rmSync(join(shell.root, 'memory', name), { recursive: true })
    expect((await shell.run('search', 'tabs')).out).toContain('Ana prefers tabs.')
  })

  it('takes the sessions of a person in this folder, also without curated memory', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    await shell.run('init', '.', '--layout', 'user')
    await shell.run('archive', writeSession(temporaryFolder(), 's', poolSession))
    rmSync(join(shell.root, 'memory'), { recursive: true })
    expect((await shell.run('search', 'leak test')).out).toContain('memories/archive-log-001.md')
  })

  it.each([
    'memory',
    'memory/notes.md',
    'memory/src/pool.c',
    'memory/working/draft.md',
    'memories/summer.jpg',
  ])('takes no project with %s for a memory', async (path) => {
    const shell = createShell(temporaryFolder(), null, {})
    writeFiles(shell.root, { [path]: 'walrus' })
    await shell.run('archive', writeSession(temporaryFolder(), 's', poolSession))
    expect(existsSync(join(shell.root, '.recall/memory/conversations'))).toBe(true)
  })

  it('takes no other memory for the one of this folder, which cannot be looked at', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    mkdirSync(join(shell.root, 'memory'))
    symlinkSync('conversations', join(shell.root, 'memory', 'conversations'))
    const { err } = await shell.run('archive', writeSession(shell.root, 's', poolSession))
    expect(err).toContain(join(shell.root, 'memory', 'conversations'))
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
  })

  it('says that the usual place is a file', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    writeFileSync(join(shell.root, '.recall'), '')
    expect((await shell.run('search', 'pool')).err).toContain('.recall is a file: a memory is a folder')
  })

  it('says that a root is a link to a disk that is not there, and makes nothing', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    const disk = join(shell.root, 'disk/memory')
    const link = join(shell.root, '.recall')
    symlinkSync(disk, link)
    for (const argv of [['init'], ['status'], ['search', 'pool', '--root', join(link, 'below')]]) {
      expect(await shell.run(...argv)).toMatchObject({
        code: 3,
        err: `recall: ${link} is a link to ${disk}, which is not there: check that its disk is mounted\n`,
      })
    }
    expect(readdirSync(shell.root)).toEqual(['.recall'])
  })

  it.runIf(existsSync('/proc/self'))('says where no memory can be made', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    expect(await shell.run('init', '/proc/recall/memory')).toMatchObject({
      code: 3,
      err: expect.stringContaining('/proc/recall cannot be created (ENOENT): check who may write there'),
    })
  })

  it.each([
    ['an argument', {}, ['status', '~/notes']],
    ['an option', {}, ['status', '--root=~/notes']],
    ['the environment', { RECALL_ROOT: '~/notes' }, ['status']],
  ])('finds the home folder in %s, which no shell has put there', async (_, env, argv) => {
    const { root } = createShell()
    await createShell(root).run('init', join(root, 'notes'))
    expect((await createShell(root, null, env).run(...argv)).out).toContain(
      `Recall  ${join(root, 'notes')}\n`,
    )
  })

  it('looks without a trace where there is no memory yet', async () => {
    const shell = createShell()
    const root = join(temporaryFolder(), 'none')
    const session = writeSession(shell.root, 's', poolSession)
    for (const folder of [root, temporaryFolder()])
      expect(await shell.run('import', session, '--dry-run', '--root', folder)).toMatchObject({
        code: 0,
        err: '',
      })
    expect(await shell.json('init', root, '--dry-run')).toMatchObject({ dryRun: true })
    expect(existsSync(root)).toBe(false)
  })

  it('finds a new memory in order, and says how to make what is missing', async () => {
    const shell = createShell()
    expect((await shell.run('status')).out).toContain("'recall init' creates what is missing")
    await shell.run('init')
    expect(await shell.run('doctor')).toMatchObject({ code: 0 })
  })
})
