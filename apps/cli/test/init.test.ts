import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShell, poolSession, temporaryFolder, writeSession } from './support.ts'

describe('init', () => {
  it('creates the files of the entity layout and a second time changes none of them', async () => {
    const shell = createShell()
    const first = await shell.json<{ created: string[]; kept: string[] }>('init')
    expect(first.created).toEqual([
      'memory/MEMORY.md',
      'memory/EPHEMERAL.md',
      'memory/ARCHIVE.md',
      'memory/conversations/',
    ])
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), '## Mine\n')
    const second = await shell.json<{ created: string[]; kept: string[] }>('init')
    expect(second.created).toEqual([])
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toContain('## Mine')
  })

  it('creates the user layout when asked', async () => {
    const shell = createShell()
    const { out } = await shell.run('init', '--layout', 'user')
    expect(out).toContain('A search finds it all.')
    expect(readdirSync(shell.root).sort()).toEqual(['ARCHIVE.md', 'EPHEMERAL.md', 'memories', 'memory'])
  })
})

describe('what stands in the way', () => {
  it.each([
    ['memory/MEMORY.md', 'folder', 'file'],
    ['memory/EPHEMERAL.md', 'folder', 'file'],
    ['memory/conversations', 'file', 'folder'],
    ['memory', 'file', 'folder'],
  ])('is named, and nothing is created: %s, a %s', async (path, is, belongs) => {
    const shell = createShell()
    const full = join(shell.root, path)
    mkdirSync(is === 'folder' ? full : join(full, '..'), { recursive: true })
    if (is === 'file') writeFileSync(full, '')
    const before = readdirSync(shell.root, { recursive: true })
    const { code, out, err } = await shell.run('init')
    expect([code, out]).toEqual([3, ''])
    expect(err).toBe(
      `recall: ${full} is a ${is}, and a memory has a ${belongs} there: move it away, then run 'recall init'\n`,
    )
    expect(readdirSync(shell.root, { recursive: true })).toEqual(before)
    if (is === 'file') expect(await shell.run('status')).toEqual({ code, out, err })
  })

  it.each(['memory', 'memory/conversations', 'memory/EPHEMERAL.md'])(
    'makes nothing where %s is a link that no store follows',
    async (path) => {
      const shell = createShell()
      const elsewhere = join(temporaryFolder(), 'elsewhere')
      mkdirSync(join(shell.root, 'memory'))
      rmSync(join(shell.root, path), { recursive: true, force: true })
      symlinkSync(elsewhere, join(shell.root, path))
      for (const isThere of [false, true]) {
        if (isThere) mkdirSync(elsewhere)
        expect(await shell.run('init')).toMatchObject({
          code: 3,
          err: expect.stringContaining(`${join(shell.root, path)} is a link to ${elsewhere}, which`),
        })
      }
    },
  )

  it('takes a folder elsewhere in the root that memory/ is a link to', async () => {
    const shell = createShell()
    mkdirSync(join(shell.root, 'real'))
    symlinkSync('real', join(shell.root, 'memory'))
    expect((await shell.run('init')).code).toBe(0)
    expect(existsSync(join(shell.root, 'real/MEMORY.md'))).toBe(true)
  })
})

it.each(['--recall-prompts', '--consume'])('says that %s does nothing without an agent', async (option) => {
  const { code, err } = await createShell().run('init', option)
  expect([code, err]).toEqual([
    0,
    `recall: ${option} is for agents, and none is wired: name them with --target\n`,
  ])
})

describe('a root that holds a memory in the other layout', () => {
  const inEntityLayout = async () => {
    const shell = createShell()
    await shell.run('init')
    return shell
  }

  it('is not given a second layout', async () => {
    const shell = await inEntityLayout()
    const session = writeSession(temporaryFolder(), 's', poolSession)
    for (const command of [['init'], ['init', '--dry-run'], ['archive', session], ['import', session]]) {
      const { code, err } = await shell.run(...command, '--layout', 'user')
      expect(code).toBe(2)
      expect(err).toContain('holds a memory in the entity layout: leave out --layout')
    }
    expect(readdirSync(shell.root)).toEqual(['memory'])
    expect((await shell.run('status')).code).toBe(0)
  })

  it('is not read by it either, as if its sessions were missing', async () => {
    const shell = await inEntityLayout()
    for (const command of [['status'], ['search', 'pool'], ['consume'], ['export'], ['doctor'], ['reindex']])
      expect(await shell.run(...command, '--layout', 'user')).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('holds a memory in the entity layout: leave out --layout'),
      })
  })

  it.each([
    ['a layout', { layout: 'user' }, 'entity', 'names the user layout: leave out --layout'],
    ['the usual layout', { layout: 'entity' }, 'user', 'names the entity layout: leave out --layout'],
    [
      'a layout and a place',
      { layout: 'user', paths: { conversations: 'notes/sessions' } },
      'entity',
      'names the user layout: leave out --layout',
    ],
    ['a place', { paths: { conversations: 'memories' } }, 'user', 'holds a memory in the entity layout'],
  ])('is given no other than its own file names by %s', async (_, said, other, why) => {
    const shell = createShell()
    writeFileSync(join(shell.root, '.recall-echo.json'), JSON.stringify(said))
    const session = (name: string) => writeSession(temporaryFolder(), name, poolSession)
    const init = ['init', '--layout', other]
    if ('layout' in said) expect(await shell.run(...init)).toMatchObject({ code: 2, out: '' })
    await shell.run('archive', session('one'))
    for (const command of [init, ['archive', session('two'), '--layout', other]])
      expect(await shell.run(...command)).toMatchObject({ code: 2, err: expect.stringContaining(why) })
    await shell.run('init')
    expect(await shell.json('status')).toMatchObject({ health: 'healthy', archives: { count: 1 } })
  })

  it('takes the other one when its own file names it, or when it has both', async () => {
    const shell = await inEntityLayout()
    writeFileSync(join(shell.root, '.recall-echo.json'), '{ "layout": "user" }')
    expect((await shell.run('init', '--layout', 'user')).code).toBe(0)
    rmSync(join(shell.root, '.recall-echo.json'))
    expect((await shell.run('init', '--layout', 'user')).code).toBe(0)
  })
})

it.each(['init', 'status', 'distill', 'consume'])(
  'refuses two roots for %s, but not one twice',
  async (name) => {
    const shell = createShell()
    await shell.run('init', 'one')
    expect(await shell.run(name, 'one', '--root', 'other')).toEqual({
      code: 2,
      out: '',
      err: 'recall: one and --root other are two memories: name one\n',
    })
    expect(readdirSync(shell.root)).toEqual(['one'])
    expect((await shell.run(name, 'one', '--root', join(shell.root, 'one/'))).code).toBe(0)
  },
)

it('says where a memory is in words that a shell takes', async () => {
  const shell = createShell(temporaryFolder(), null, {})
  const { out } = await shell.run('init', "Ana's notes")
  expect(out).toContain(`RECALL_ROOT='${shell.root}/Ana'\\''s notes'`)
})

describe('init at a terminal', () => {
  it('asks for the layout of a new memory and takes entity when nothing is typed', async () => {
    const user = createShell(temporaryFolder(), 'user')
    await user.run('init')
    expect(existsSync(join(user.root, 'memories'))).toBe(true)
    const entity = createShell(temporaryFolder(), '')
    await entity.run('init')
    expect(existsSync(join(entity.root, 'memory/conversations'))).toBe(true)
    expect(await createShell(temporaryFolder(), 'both').run('init')).toMatchObject({ code: 2 })
  })

  it('makes a memory that nobody else can look into, and leaves one that is there as it is', async () => {
    const shell = createShell()
    const modeOf = (path: string): number => statSync(path).mode & 0o777
    await shell.run('init', 'mine')
    expect(modeOf(join(shell.root, 'mine'))).toBe(0o700)
    await shell.run('archive', writeSession(shell.root, 's', poolSession), '--root', join(shell.root, 'new'))
    expect(modeOf(join(shell.root, 'new'))).toBe(0o700)
    const project = join(shell.root, 'project')
    mkdirSync(project)
    chmodSync(project, 0o755)
    await shell.run('init', 'project')
    expect([modeOf(project), modeOf(join(project, 'memory'))]).toEqual([0o755, 0o700])
    chmodSync(join(project, 'memory'), 0o770)
    await shell.run('init', 'project')
    expect(modeOf(join(project, 'memory'))).toBe(0o770)
  })
})
