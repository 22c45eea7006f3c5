import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createHome, createShell, poolSession, writeSession } from './support.ts'

describe('a memory that was wired into hosts and is away', () => {
  it('takes an empty folder in the place of a wired memory for a disk that is not mounted', async () => {
    const shell = createHome()
    const root = join(shell.root, 'disk')
    await shell.run('init', '--target', 'claude', '--root', root)
    rmSync(root, { recursive: true })
    mkdirSync(root)
    const session = {
      hook_event_name: 'SessionStart',
      session_id: 's',
      transcript_path: writeSession(shell.root, 's', poolSession),
    }
    const start = await shell.withInput(JSON.stringify(session)).run('hook', 'session-start', '--root', root)
    expect(start).toMatchObject({ code: 0, out: expect.stringContaining('check that its disk is mounted') })
    for (const argv of [['search', 'pool'], ['archive', session.transcript_path], ['export'], ['mcp']]) {
      expect(await shell.run(...argv, '--root', root)).toMatchObject({
        code: 3,
        err: `recall: the memory that was wired into agents is not in ${root} any more: check that its disk is mounted, or run 'recall init' for a new one\n`,
      })
    }
    expect(await shell.run('doctor', '--root', root)).toMatchObject({
      code: 1,
      out: expect.stringContaining('→ check that its disk is mounted'),
    })
    expect(readdirSync(root)).toEqual([])
    rmSync(root, { recursive: true })
    const unnamed = createShell(shell.root, null, { RECALL_ROOT: root }, { input: JSON.stringify(session) })
    expect(await unnamed.run('hook', 'session-start')).toMatchObject({
      code: 0,
      out: expect.stringContaining('check that its disk is mounted'),
    })
    expect(existsSync(root)).toBe(false)
    await shell.run('init', '--root', root)
    expect((await shell.run('archive', session.transcript_path, '--root', root)).code).toBe(0)
  })

  it('lets a backup take the place of a wired memory that was lost', async () => {
    const shell = createHome()
    const session = writeSession(shell.root, 's', poolSession)
    await shell.run('init', '--target', 'claude')
    await shell.run('archive', session)
    await shell.run('backup', 'memory.tar.gz')
    rmSync(join(shell.root, '.recall/memory'), { recursive: true })
    expect((await shell.run('archive', session)).code).toBe(3)
    expect((await shell.run('restore', 'memory.tar.gz')).code).toBe(0)
    expect(await shell.json('archive', session)).toMatchObject({ archived: [{ status: 'unchanged' }] })
  })

  it('says at the next start that a wired memory is away with its folder, and makes none', async () => {
    const shell = createHome()
    const root = join(shell.root, 'mem')
    await shell.run('init', root, '--target', 'claude')
    renameSync(root, join(shell.root, 'elsewhere'))
    const start = { session_id: 'a', hook_event_name: 'SessionStart', source: 'startup' }
    const hook = ['hook', 'session-start', '--root', root]
    const said = `the memory that was wired into agents is not in ${root} any more`
    const { code, out, err } = await shell.withInput(JSON.stringify(start)).run(...hook)
    expect([code, existsSync(root)]).toEqual([0, false])
    expect(JSON.parse(out)).toMatchObject({ systemMessage: expect.stringContaining(said) })
    expect(err).toContain(said)
    await shell.run('uninit')
    expect(await shell.withInput(JSON.stringify(start)).run(...hook)).toEqual({ code: 0, out: '', err: '' })
    expect(existsSync(root)).toBe(false)
  })

  it('makes no second memory for a wired one that is away with its folder', async () => {
    const shell = createHome()
    const root = join(shell.root, 'disk/memory')
    await shell.run('init', '--target', 'claude', '--root', root)
    rmSync(join(shell.root, 'disk'), { recursive: true })
    const session = writeSession(shell.root, 's', poolSession)
    const imports = [
      ['import', session],
      ['import', session, '--dry-run'],
    ]
    for (const argv of [['search', 'pool'], ['archive', session], ...imports, ['export']]) {
      expect(await shell.run(...argv)).toMatchObject({
        code: 3,
        err: expect.stringContaining(`is not in ${root} any more: check that its disk is mounted`),
      })
    }
    expect(await shell.run('status')).toMatchObject({
      code: 1,
      out: expect.stringContaining('→ check that its disk is mounted'),
    })
    expect(existsSync(join(shell.root, '.recall/memory'))).toBe(false)
    await shell.run('init')
    expect((await shell.run('archive', session)).code).toBe(0)
    expect(existsSync(join(root, 'memory/conversations/conversation-001.md'))).toBe(true)
  })

  it('says of no memory that is away that it was deleted', async () => {
    const shell = createHome()
    const root = join(shell.root, 'disk/memory')
    await shell.run('init', '--target', 'claude', '--root', root)
    renameSync(join(shell.root, 'disk'), join(shell.root, 'away'))
    const { out } = await shell.run('uninit', '--purge', '--yes')
    expect(out).toContain(`There is no memory at ${root}. If its disk is away, it stays there.\n`)
    expect(out).not.toContain('Deleted')
    expect(existsSync(join(shell.root, 'away/memory/memory/MEMORY.md'))).toBe(true)
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
  })
})
