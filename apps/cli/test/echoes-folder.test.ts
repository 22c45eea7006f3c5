import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { entry, project } from './echo-project.ts'
import { createShell, temporaryFolder } from './support.ts'

it('refuses a file in the place of its folder', async () => {
  const shell = await project()
  expect(await shell.run('echoes', 'show', '--folder', 'memory/MEMORY.md')).toMatchObject({
    code: 2,
    err: expect.stringContaining('is a file: echoes are kept in a folder'),
  })
})

it('keeps the folder out of version control, once', async () => {
  const shell = createShell()
  mkdirSync(join(shell.root, '.git'))
  const first = await shell.run('echoes', 'add', 'reviewer', 'x', ...entry)
  expect(first.err).toContain('.gitignore now excludes .recall/echoes/')
  expect((await shell.run('echoes', 'add', 'reviewer', 'y', ...entry)).err).not.toContain('.gitignore')
  expect(readFileSync(join(shell.root, '.gitignore'), 'utf8')).toBe('/.recall/echoes/\n')
  writeFileSync(join(shell.root, '.recall/talisman.yml'), 'echoes:\n  version_controlled: true\n')
  await shell.run('echoes', 'add', 'reviewer', 'z', ...entry)
  expect(readFileSync(join(shell.root, '.gitignore'), 'utf8')).toBe('')
})

it('keeps the folder of a part of a repository out of version control', async () => {
  const repository = temporaryFolder()
  mkdirSync(join(repository, '.git'))
  mkdirSync(join(repository, 'packages/web/.recall/echoes'), { recursive: true })
  const shell = createShell(join(repository, 'packages/web'))
  const { err } = await shell.run('echoes', 'add', 'reviewer', 'x', ...entry)
  expect(err).toContain('.gitignore now excludes .recall/echoes/')
  expect(readFileSync(join(shell.root, '.gitignore'), 'utf8')).toBe('/.recall/echoes/\n')
})

it('leaves the echoes of the folder above a repository alone', async () => {
  const home = temporaryFolder()
  mkdirSync(join(home, '.recall/echoes'), { recursive: true })
  mkdirSync(join(home, 'code/.git'), { recursive: true })
  mkdirSync(join(home, 'code/src'))
  const shell = createShell(join(home, 'code/src'))
  await shell.run('echoes', 'add', 'reviewer', 'x', ...entry)
  expect(existsSync(join(home, 'code/.recall/echoes/reviewer/MEMORY.md'))).toBe(true)
  expect(existsSync(join(home, '.recall/echoes/reviewer'))).toBe(false)
})

it.each([
  ['notes', '/notes/\n'],
  ['..notes', '/..notes/\n'],
  ['../elsewhere', null],
  ['..', null],
])(
  'keeps --folder %s out of version control, if the project holds it, and no other',
  async (folder, line) => {
    const shell = createShell(join(temporaryFolder(), 'project'))
    mkdirSync(join(shell.root, '.git'), { recursive: true })
    const added = await shell.run('echoes', 'add', 'reviewer', 'x', ...entry, '--folder', folder)
    expect(added.code).toBe(0)
    const path = join(shell.root, '.gitignore')
    expect(existsSync(path) ? readFileSync(path, 'utf8') : null).toBe(line)
  },
)

it('says that no line excludes the project itself, and what to do', async () => {
  const shell = createShell()
  mkdirSync(join(shell.root, '.git'))
  const added = await shell.run('echoes', 'add', 'reviewer', 'x', ...entry, '--folder', '.')
  expect(added).toMatchObject({
    code: 0,
    err: expect.stringMatching(/\.gitignore stays as it is: .*give them/),
  })
  expect(existsSync(join(shell.root, '.gitignore'))).toBe(false)
})

it('goes on with the echoes of a host, where the project has no others', async () => {
  const shell = createShell()
  mkdirSync(join(shell.root, '.git'))
  mkdirSync(join(shell.root, '.claude/echoes/reviewer'), { recursive: true })
  writeFileSync(join(shell.root, '.claude/talisman.yml'), 'echoes:\n  version_controlled: true\n')
  expect((await shell.run('echoes', 'add', 'reviewer', 'x', ...entry)).code).toBe(0)
  expect(readFileSync(join(shell.root, '.claude/echoes/reviewer/MEMORY.md'), 'utf8')).toContain('x')
  expect(existsSync(join(shell.root, '.recall'))).toBe(false)
  expect(existsSync(join(shell.root, '.gitignore'))).toBe(false)
  mkdirSync(join(shell.root, '.recall/echoes'), { recursive: true })
  expect((await shell.run('echoes', 'show')).out).not.toContain('reviewer')
})

it('says that a change stands although talisman.yml cannot be read', async () => {
  const shell = createShell()
  mkdirSync(join(shell.root, '.git'))
  await shell.run('echoes', 'add', 'reviewer', 'x', ...entry)
  writeFileSync(join(shell.root, '.recall/talisman.yml'), 'echoes: [\n')
  const added = await shell.run('echoes', 'add', 'reviewer', 'y', ...entry)
  expect(added).toMatchObject({ code: 0, out: 'Added as reviewer/traced-002.\n' })
  expect(added.err).toContain('.gitignore stays as it is')
  expect(readFileSync(join(shell.root, '.gitignore'), 'utf8')).toBe('/.recall/echoes/\n')
})

it('says of an entry in words that the role knows already where they stand', async () => {
  const shell = await project()
  const again = await shell.run('echoes', 'add', 'reviewer', 'Queries in loops', ...entry)
  expect(again).toMatchObject({
    code: 0,
    out: 'Added as reviewer/traced-001.\n',
    err: 'recall: the same is there already as reviewer/inscribed-001\n',
  })
  for (const [role, title] of [
    ['reviewer', 'Queries in lists'],
    ['planner', 'Queries in loops'],
  ] as const)
    expect((await shell.run('echoes', 'add', role, title, ...entry)).err).not.toContain('already')
})

it('keeps two folders of one project apart in its memory', async () => {
  const shell = await project()
  const other = ['--learning', 'Pools are never closed by a worker.', '--evidence', '`b.ts:1`']
  await shell.run('echoes', 'add', 'reviewer', 'Pools', '--folder', 'others', ...other)
  const keysOf = async (text: string) => {
    const { results } = await shell.json<{ results: { key: string }[] }>('search', text, '--ranked')
    return results.map(({ key }) => key)
  }
  expect(await keysOf('one query')).toEqual(['echo:reviewer/inscribed-001'])
  expect(await keysOf('pools closed worker')).toEqual([
    expect.stringMatching(/^echo:.+\/reviewer\/traced-001$/),
  ])
  await shell.run('echoes', 'add', 'reviewer', 'More', ...entry)
  const [key = ''] = await keysOf('pools closed worker')
  expect(await shell.json('forget', key)).toMatchObject({
    memories: [{ key }],
    echoes: ['reviewer/traced-001'],
  })
})
