import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createShell, poolSession, temporaryFolder, writeSession } from './support.ts'

const said = {
  layout: 'user',
  paths: { ephemeral: 'notes/now.md', archive: 'notes/table.md', conversations: 'notes/sessions' },
}

function shellWith(layoutFile: unknown) {
  const shell = createShell()
  writeFileSync(join(shell.root, '.recall-echo.json'), JSON.stringify(layoutFile))
  return shell
}

it('creates, fills, reads, backs up and restores a memory at the places that its root names', async () => {
  const shell = shellWith(said)
  const { created, layout } = await shell.json<{ created: string[]; layout: string }>('init')
  expect(layout).toBe('user')
  expect(created).toEqual(['memory/MEMORY.md', 'notes/now.md', 'notes/table.md', 'notes/sessions/'])
  await shell.run('archive', writeSession(temporaryFolder(), 'pool-leak', poolSession))
  expect(readdirSync(join(shell.root, 'notes/sessions'))).toEqual(['archive-log-001.md'])
  expect(readFileSync(join(shell.root, 'notes/now.md'), 'utf8')).toContain(
    '**Archive**: sessions/archive-log-001.md',
  )
  expect(await shell.json('status')).toMatchObject({
    health: 'healthy',
    ephemeral: { entries: 1 },
    archives: { count: 1 },
  })
  expect(await shell.json('doctor', '--deep')).toMatchObject({ healthy: true })
  expect((await shell.run('search', 'leak test')).out).toContain('notes/sessions/archive-log-001.md')

  const file = join(temporaryFolder(), 'backup.tar.gz')
  await shell.run('backup', file)
  const other = createShell(join(temporaryFolder(), 'restored'))
  expect(await other.run('restore', file)).toMatchObject({ code: 0 })
  expect((await other.run('consume')).out).toBe((await shell.run('consume')).out)
  expect((await other.run('search', 'leak test')).out).toContain('notes/sessions/archive-log-001.md')
  expect(readdirSync(join(other.root, 'notes')).sort()).toEqual(['now.md', 'sessions', 'table.md'])

  await shell.run('consume', '--clear')
  expect(readFileSync(join(shell.root, 'notes/now.md'), 'utf8')).toBe('')
})

it('purges what init created at places of its own', async () => {
  const home = temporaryFolder()
  const root = join(home, '.recall')
  mkdirSync(root)
  writeFileSync(join(root, '.recall-echo.json'), JSON.stringify(said))
  const shell = createShell(home, null, {})
  await shell.run('init', '--target', 'claude')
  await shell.run('archive', writeSession(temporaryFolder(), 'pool-leak', poolSession))
  expect(existsSync(join(root, 'notes/sessions/archive-log-001.md'))).toBe(true)
  expect(await shell.run('uninit', '--purge', '--yes')).toMatchObject({ code: 0 })
  expect(readdirSync(root)).toEqual(['.recall-echo.json'])
})

it.each([['search', 'x'], ['status'], ['init'], ['consume'], ['backup', 'x.tar.gz'], ['hook', 'drain']])(
  'refuses a file of paths that is not valid, and writes nowhere: %s %s',
  async (...command) => {
    const shell = shellWith({ paths: { ephemeral: '../E.md' } })
    const { err } = await shell.run(...command)
    expect(err).toContain('.recall-echo.json: paths.ephemeral must be a markdown file below the root')
    expect(readdirSync(shell.root)).toEqual(['.recall-echo.json'])
  },
)

it('the doctor says what is wrong with the file of paths', async () => {
  const shell = shellWith({ layout: 'flat' })
  expect(await shell.json('doctor')).toMatchObject({
    healthy: false,
    findings: [{ check: 'layout', message: expect.stringContaining("must be 'entity' or 'user'") }],
  })
  expect((await shell.run('doctor')).out).toContain('→ correct .recall-echo.json')
})
