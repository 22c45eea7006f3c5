import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonFile, type Target, targets, tomlTable, yamlList } from '../src/index.ts'
import { setUp, snapshot, write } from './installing.ts'
import { temporaryFolder } from './support.ts'

describe('settings that cannot be edited', () => {
  const claude = targets.find(({ name }) => name === 'claude') as Target
  const codex = targets.find(({ name }) => name === 'codex') as Target
  const aider = targets.find(({ name }) => name === 'aider') as Target

  it.each([
    ['broken JSON', claude, '.claude/settings.json', '{ "hooks": '],
    ['a list for an object', claude, '.claude/settings.json', '[]'],
    ['hooks that are no object', claude, '.claude/settings.json', '{"hooks": "none"}'],
    ['a hook list that is none', claude, '.claude/settings.json', '{"hooks": {"PreCompact": {}}}'],
    ['a member twice', claude, '.claude/settings.json', '{"hooks": {}, "hooks": {"Stop": []}}'],
    ['a member twice further in', claude, '.claude/settings.json', '{"hooks": {"Stop": [], "Stop": []}}'],
    [
      'lists that nest deeper than a parser goes',
      claude,
      '.claude/settings.json',
      `{"a": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    ],
    ['bytes that are no UTF-8', claude, '.claude/settings.json', Buffer.from([0x7b, 0xff, 0x7d])],
    ['broken TOML', codex, '.codex/config.toml', 'model = '],
    [
      'TOML whose servers are inline',
      codex,
      '.codex/config.toml',
      'mcp_servers = { docs = { command = "docs" } }\n',
    ],
    ['broken YAML', aider, '.aider.conf.yml', 'read: [a\nb: c'],
    ['YAML with a strange list', aider, '.aider.conf.yml', 'read:\n  - {a: b}\n'],
    ['YAML in braces', aider, '.aider.conf.yml', '{read: x}\n'],
    ['YAML with a list for a key', aider, '.aider.conf.yml', 'read: x\n? [a, b]\n: c\n'],
    [
      'YAML whose lists nest deeper than people write',
      aider,
      '.aider.conf.yml',
      `a: ${'['.repeat(101)}${']'.repeat(101)}\n`,
    ],
    [
      'YAML that stands for far more than it is',
      aider,
      '.aider.conf.yml',
      `a: &a [${'x, '.repeat(50)}]\nb: &b [${'*a, '.repeat(50)}]\nc: [${'*b, '.repeat(50)}]\n`,
    ],
  ] as const)('%s is left alone, and the person is told what to do', async (_, target, path, content) => {
    const home = await temporaryFolder()
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), content)
    const before = snapshot(home)
    const { install, uninstall } = setUp(home, target)
    const refused = install().filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([{ path: join(home, path) }])
    expect(refused[0]?.byHand).toMatch(/recall/)
    expect(readFileSync(join(home, path))).toEqual(Buffer.from(content))
    expect(uninstall().filter(({ status }) => status === 'refused')).toEqual([])
    const left = snapshot(home)
    for (const [name, state] of Object.entries(before)) expect(left[name]).toBe(state)
  })

  it.each([
    ['{"hooks": []}', "'hooks' is not an object"],
    ['{"hooks": {"PreCompact": {}}}', "'hooks.PreCompact' is not a list"],
  ])('says what stands in the way in %s', async (content, reason) => {
    const home = await temporaryFolder()
    write(home, { '.claude/settings.json': content })
    const refused = setUp(home, claude)
      .install()
      .filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([{ reason }])
  })

  it.each([
    ['model = ', 'it is not valid TOML (Invalid TOML document: '],
    [
      'mcp_servers = {}\n',
      "'mcp_servers' in it is written between braces: give each of its members a [table] first",
    ],
  ])('says whether the TOML of Codex is broken or leaves no place in %j', async (content, reason) => {
    const home = await temporaryFolder()
    write(home, { '.codex/config.toml': content })
    const refused = setUp(home, codex)
      .install()
      .filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([{ reason: expect.stringContaining(reason) }])
  })

  it('a settings file that others may write as well stays theirs to write', async () => {
    const home = await temporaryFolder()
    write(home, { '.claude/settings.json': '{}\n' })
    chmodSync(join(home, '.claude/settings.json'), 0o666)
    const { install, uninstall } = setUp(home, claude)
    install()
    expect(lstatSync(join(home, '.claude/settings.json')).mode & 0o777).toBe(0o666)
    uninstall()
    expect(lstatSync(join(home, '.claude/settings.json')).mode & 0o777).toBe(0o666)
  })

  it('a linked settings file stays a link, and keeps its mode', async () => {
    const home = await temporaryFolder()
    write(home, { 'dotfiles/settings.json': '{}\n' })
    chmodSync(join(home, 'dotfiles/settings.json'), 0o640)
    mkdirSync(join(home, '.claude'))
    symlinkSync('../dotfiles/settings.json', join(home, '.claude/settings.json'))
    const before = snapshot(home)
    const { install, uninstall } = setUp(home, claude)
    install()
    expect(lstatSync(join(home, '.claude/settings.json')).isSymbolicLink()).toBe(true)
    expect(lstatSync(join(home, 'dotfiles/settings.json')).mode & 0o777).toBe(0o640)
    expect(readFileSync(join(home, 'dotfiles/settings.json'), 'utf8')).toMatch(/SessionStart/)
    uninstall()
    expect(snapshot(home)).toEqual(before)
  })

  it('a link that leads nowhere stays one', async () => {
    const home = await temporaryFolder()
    mkdirSync(join(home, '.claude'))
    symlinkSync('nowhere/settings.json', join(home, '.claude/settings.json'))
    const before = snapshot(home)
    const host = setUp(home, targets[0] as Target)
    expect(host.install().find(({ path }) => path.endsWith('/settings.json'))).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('it is a link to a file that does not exist'),
    })
    host.uninstall()
    expect(snapshot(home)).toEqual(before)
  })

  it('a linked folder that leads nowhere stays one', async () => {
    const home = await temporaryFolder()
    symlinkSync('dotfiles/claude', join(home, '.claude'))
    const before = snapshot(home)
    const { install, uninstall } = setUp(home, claude)
    const reason = expect.stringContaining('or lies below a link to such a folder')
    expect(install()).toMatchObject([
      { status: 'refused', reason },
      { status: 'refused', reason },
      { status: 'created' },
    ])
    uninstall()
    expect(snapshot(home)).toEqual(before)
  })

  it('a folder that a person has moved and linked since is taken back behind the link', async () => {
    const home = await temporaryFolder()
    const { install, uninstall } = setUp(home, claude)
    install()
    renameSync(join(home, '.claude'), join(home, 'dotfiles'))
    symlinkSync('dotfiles', join(home, '.claude'))
    uninstall()
    expect(snapshot(home)).toMatchObject({ '/.claude': '-> dotfiles' })
    expect(Object.keys(snapshot(home))).toEqual(['/', '/.claude', '/dotfiles/'])
  })

  it('a file that stands where a folder would have to be stays one', async () => {
    const home = await temporaryFolder()
    write(home, { '.gemini/extensions': 'mine' })
    const before = snapshot(home)
    const gemini = targets.find(({ name }) => name === 'gemini') as Target
    const { install, uninstall } = setUp(home, gemini)
    for (const { status, reason } of install())
      expect([status, reason]).toEqual(['refused', expect.stringContaining('extensions cannot be created')])
    expect(new Set(uninstall().map(({ status }) => status))).toEqual(new Set(['absent']))
    expect(snapshot(home)).toEqual(before)
  })

  it('a rules file that would grow past what its host reads is left alone', async () => {
    const home = await temporaryFolder()
    write(home, { '.codeium/windsurf/memories/global_rules.md': 'x'.repeat(5000) })
    const windsurf = targets.find(({ name }) => name === 'windsurf') as Target
    const refused = setUp(home, windsurf)
      .install()
      .filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([{ reason: expect.stringContaining('6000') }])
  })

  it('instructions of which the host reads no more bytes than they have already', async () => {
    const home = await temporaryFolder()
    write(home, { '.codex/AGENTS.md': 'ж'.repeat(15_500) })
    const refused = setUp(home, codex)
      .install()
      .filter(({ status }) => status === 'refused')
    expect(refused).toMatchObject([
      { reason: expect.stringMatching(/the host reads 32768 of them: take \d+ out of it first$/) },
    ])
  })
})

it.each([
  ['model: x\n', 'model: x\n'],
  ['read: A.md # always\nmodel: x\n', 'read: ["A.md"] # always\nmodel: x\n'],
  ['read:\n  - A.md\n  - MEMORY.md\n', 'read:\n  - A.md\n  - MEMORY.md\n'],
  ['read: [A.md]\nmodel: x\n', 'read: [A.md]\nmodel: x\n'],
])('files of an earlier memory leave %j with those of the present one', (text, left) => {
  const listOf = (root: string) =>
    yamlList('conf.yml', 'read', ['/recall.md', `/${root}/MEMORY.md`, `/${root}/EPHEMERAL.md`])
  const [earlier, present] = [listOf('earlier'), listOf('present')]
  const wired = present.add(earlier.add(text))
  expect(wired).not.toContain('/earlier/')
  expect(wired).toBe(present.add(wired))
  expect(wired.match(/\/present\//g)).toHaveLength(2)
  expect(present.remove(earlier.add(text))).toBe(left)
  expect(present.remove(wired)).toBe(left)
})

it('keeps any JSON settings as they were, whatever they hold', () => {
  const edit = jsonFile('x', [{ at: ['hooks', 'Stop'], hook: { hooks: [{ command: 'recall hook stop' }] } }])
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string().filter((name) => name !== 'hooks' && name !== '__proto__'),
        fc.jsonValue(),
      ),
      fc.constantFrom(undefined, 1, 3, '\t'),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const added = edit.add(text)
        expect(edit.add(added)).toBe(added)
        const removed = edit.remove(added)
        expect(removed === null ? {} : JSON.parse(removed)).toEqual(JSON.parse(text))
      },
    ),
  )
})

describe('a settings file with comments and a comma behind the last of everything', () => {
  const server = jsonFile('x', [{ at: ['mcp', 'recall'], member: { command: 'recall' } }])
  const hook = jsonFile('x', [{ at: ['hooks', 'Stop'], hook: { command: 'recall hook stop' } }])

  it.each([
    ['{\n  "mcp": {\n    "recall": {},\n  },\n}\n', null],
    ['{\n  "mcp": {\n    "recall": {},\n  },\n  "theme": "dark",\n}\n', '{\n  "theme": "dark",\n}\n'],
    ['{\n  "theme": "dark",\n  "mcp": { "recall": {} }\n}\n', '{\n  "theme": "dark"\n}\n'],
    ['{"a": 1, "mcp": {"recall": {}}, "b": 2}', '{"a": 1, "b": 2}'],
    ['{ "mcp": { "recall": {} }, "b": 2 }', '{ "b": 2 }'],
    ['{ "a": 1, "mcp": { "recall": {} } }', '{ "a": 1 }'],
  ])('loses nothing but a server: %j', (text, left) => {
    expect(server.remove(text)).toBe(left)
  })

  it('keeps each comment that does not stand in what is taken out', () => {
    const before = '{\n  // my servers\n  "mcp": {\n    "a": {}, // why a\n    "recall": {}\n  } // end\n}\n'
    expect(server.remove(before)).toBe(
      '{\n  // my servers\n  "mcp": {\n    "a": {} // why a\n  } // end\n}\n',
    )
    const version = { at: ['version'], default: 1 }
    const hooks = jsonFile('x', [version, { at: ['hooks', 'Stop'], hook: { command: 'recall hook stop' } }])
    const noted = '{\n  // mine\n  "version": 1,\n  "hooks": {"Stop": [{"command": "recall hook stop"}]}\n}\n'
    expect(hooks.remove(noted)).toBe('{\n  // mine\n  "version": 1\n}\n')
    const alone = '{\n  "mcp": {\n    // mine\n    "recall": {},\n  },\n}\n'
    expect(server.remove(alone)).toBe('{\n  "mcp": {\n    // mine\n  },\n}\n')
    const listed = '{"hooks": {"Stop": [\n  /* first */ {"command": "recall hook stop"}, // ours\n  "b"\n]}}'
    expect(hook.remove(listed)).toBe('{"hooks": {"Stop": [\n  /* first */ // ours\n  "b"\n]}}')
  })
})

describe('a comment on the line of the last member', () => {
  const server = jsonFile('x', [{ at: ['mcp', 'recall'], member: { command: 'recall' } }])
  const list = jsonFile('x', [{ at: ['instructions'], item: 'recall.md' }])
  const ours = '"mcp": {\n    "recall": {\n      "command": "recall"\n    }\n  }'

  it.each([
    ['{\n  "theme": "dark" // why\n}\n', `{\n  "theme": "dark", // why\n  ${ours}\n}\n`],
    ['{\n  "theme": "dark", // why\n}\n', `{\n  "theme": "dark", // why\n  ${ours},\n}\n`],
    ['{\n  "theme": {}  /* a */ /* b */ \n}', `{\n  "theme": {},  /* a */ /* b */\n  ${ours}\n}`],
    [
      '{\n  "mcp": {\n    "a": {} // why\n  } // end\n}\n',
      '{\n  "mcp": {\n    "a": {}, // why\n    "recall": {\n      "command": "recall"\n    }\n  } // end\n}\n',
    ],
    ['{\n  "theme": 1 /* a */, // b\n}\n', `{\n  "theme": 1, /* a */ // b\n  ${ours},\n}\n`],
    ['{ "theme": "dark" } // end\n', `{\n  "theme": "dark",\n  ${ours}\n} // end\n`],
  ])('stays with it: %j', (text, added) => {
    expect(server.add(text)).toBe(added)
    expect(server.add(added)).toBe(added)
    expect(server.add(server.remove(added) as string)).toBe(added)
  })

  it('stays with it in a list, and where lines end with CRLF', () => {
    const text = '{\r\n  "instructions": [\r\n    "a.md" // why\r\n  ]\r\n}\r\n'
    expect(list.add(text)).toBe(text.replace('"a.md" // why', '"a.md", // why\r\n    "recall.md"'))
    expect(list.remove(list.add(text))).toBe(text)
  })
})

it.each(['    ', '\t', ' '])('writes in the indentation of a settings file: %j', (indent) => {
  const edit = jsonFile('x', [{ at: ['mcp', 'recall'], member: { command: 'recall' } }])
  expect(edit.add(JSON.stringify({ a: 1 }, null, indent))).toBe(
    JSON.stringify({ a: 1, mcp: { recall: { command: 'recall' } } }, null, indent),
  )
})

it.each(['{}', '{"hooks": {}}', '{"hooks": {"Stop": []}}', '{"hooks": {"Stop": [{"hooks": []}]}}'])(
  'leaves what is empty, and not for our sake, as it is: %s',
  (text) => {
    const hook = { command: 'recall hook stop' }
    expect(jsonFile('x', [{ at: ['hooks', 'Stop'], hook }]).remove(text)).toBe(text)
    expect(jsonFile('x', [{ at: ['hooks', 'Stop'], noHook: true }]).add(text)).toBe(text)
  },
)

it('leaves hooks in a form that it does not know alone where it wants none', () => {
  const text = '{"hooks": {"Prompt": {"command": "mine"}}}'
  expect(jsonFile('x', [{ at: ['hooks', 'Prompt'], noHook: true }]).add(text)).toBe(text)
})

it('knows a hook of ours by the command that its host gives to a shell, too', () => {
  const text = '{"hooks": {"stop": [{"type": "command", "bash": "recall hook stop"}]}}'
  expect(jsonFile('x', [{ at: ['hooks', 'stop'], noHook: true }]).remove(text)).toBe(null)
})

it('brings what starts our server up to date, and leaves the rest of it', () => {
  const server = { type: 'local', command: 'recall', args: ['mcp'] }
  const edit = jsonFile('x', [{ at: ['mcp', 'recall'], server }])
  const theirs = { env: { A: '1' }, timeout: 5 }
  const before = { mcp: { recall: { type: 'stdio', command: '/old/recall', args: ['mcp'], ...theirs } } }
  expect(JSON.parse(edit.add(JSON.stringify(before)))).toEqual({ mcp: { recall: { ...server, ...theirs } } })
})

it.each(['[mcp]\nrecall = { command = "recall" }\n', 'mcp.recall.command = "recall"\n'])(
  'leaves a table of our name that a person wrote in another form as it is: %j',
  (text) => {
    expect(tomlTable('x', ['mcp', 'recall'], { command: 'recall' }).add(text)).toBe(text)
    const edit = tomlTable('x', ['mcp', 'recall'], { command: 'recall', args: ['mcp'] })
    expect(() => edit.add(text)).toThrow("'mcp.recall' occurs in it in another form than ours")
    expect(edit.remove(text)).toBe(text)
  },
)

it('knows its TOML table with blanks in its header and a comment behind it, and tables inside it', () => {
  const edit = tomlTable('x', ['mcp', 'recall'], { command: 'recall' })
  const inside = '[mcp.recall.tools] # allowed\nsearch = true\n'
  const others = '[mcp.other] # mine\ncommand = "other"\n'
  const text = `${others}\n[ mcp.recall ]  # memory\ncommand = "old"\n\n${inside}`
  const added = edit.add(text)
  expect(added).toBe(`${others}\n[mcp.recall]\ncommand = "recall"\n\n${inside}`)
  expect(edit.remove(added)).toBe(others)
  expect(edit.remove(text)).toBe(others)
  const crlf = (lines: string): string => lines.replaceAll('\n', '\r\n')
  expect(edit.remove(crlf(text))).toBe(crlf(others))
})

it.each([
  ['model = "m"', 'model = "m"\n\n[mcp.recall]\ncommand = "recall"\n'],
  ['model = "m"\r\n', 'model = "m"\r\n\r\n[mcp.recall]\r\ncommand = "recall"\r\n'],
])('writes our table behind an empty line, whatever a TOML file ends with: %j', (text, written) => {
  expect(tomlTable('x', ['mcp', 'recall'], { command: 'recall' }).add(text)).toBe(written)
})

it('adds to YAML lists of any form and takes the items out again', () => {
  const edit = yamlList('x', 'read', ['/m/a.md', '/m/b.md'])
  for (const text of [
    'read: [x, y]\n',
    'read: []\n',
    'read:\n  - x',
    'read:\n- x\n-   y # z\nmodel: m\n',
    'read:\nmodel: m\n',
    'model: m',
    "read: 'a: b'\n",
    'read:\r\n    - x\r\nz: 1\r\n',
    '# only words\n',
  ]) {
    const added = edit.add(text)
    expect(edit.add(added)).toBe(added)
    expect(added).toContain('/m/b.md')
    expect(edit.remove(added) ?? '').not.toContain('/m/')
  }
})

it.each([
  ['read: # files to read\nmodel: m\n', 'read: ["/m/a.md", "/m/b.md"] # files to read\nmodel: m\n'],
  ['read: ~\n', 'read: ["/m/a.md", "/m/b.md"]\n'],
  ['read: null # none\n', 'read: ["/m/a.md", "/m/b.md"] # none\n'],
])('fills a YAML list that is empty in another form: %j', (text, filled) => {
  expect(yamlList('x', 'read', ['/m/a.md', '/m/b.md']).add(text)).toBe(filled)
})

it.each([
  ['read: /m/a.md\nmodel: m\n', 'model: m\n'],
  ['read:\n  - x\n  - /m/a.md', 'read:\n  - x\n'],
])('takes items of ours out of a YAML file that a person wrote anew: %j', (text, left) => {
  expect(yamlList('x', 'read', ['/m/a.md', '/m/b.md']).remove(text)).toBe(left)
})

it('keeps a JSON file that is indented far, and leaves one that is indented farther as it is', () => {
  const edit = jsonFile('x', [{ at: ['mcpServers', 'recall'], member: { command: 'recall' } }])
  for (const indent of [0, 9, 40, 50, 100, 300]) {
    const added = edit.add(`${' '.repeat(indent)}{}`)
    expect(JSON.parse(added)).toEqual({ mcpServers: { recall: { command: 'recall' } } })
    expect(edit.add(added)).toBe(added)
  }
  expect(() => edit.add(`${' '.repeat(198)}{}`)).toThrow('it is indented too far: reformat it')
})

it('takes no other blanks for an empty file than those that YAML and TOML pass over', () => {
  const edits = [yamlList('x', 'read', ['/m/a.md']), tomlTable('x', ['mcp', 'recall'], { command: 'recall' })]
  for (const edit of edits) {
    for (const text of ['', '\n', ' \t\r\n', '\uFEFF\n']) {
      const added = edit.add(text)
      expect([added, edit.add(added)]).toEqual([text + edit.byHand, added])
    }
    for (const text of ['\v', '\f\n', '\u00a0', '\u3000\n'])
      expect(() => edit.add(text)).toThrow(/not (?:a |valid )(?:YAML|TOML)/)
  }
})

it('takes a file of the person for none of ours because it has the name of one', () => {
  const edit = yamlList('x', 'read', ['/m/protocol.md', '/m/a.md'])
  const mine = 'read:\n  - /mine/a.md\n'
  expect(edit.remove(mine)).toBe(mine)
  const both = edit.add(mine)
  expect(edit.remove(both)).toBe(mine)
})

it('leaves items of ours where they stand, also before those that a person added since', () => {
  const edit = yamlList('x', 'read', ['/m/protocol.md', '/m/a.md'])
  const text = `${edit.byHand}  - mine\n`
  expect(edit.add(text)).toBe(text)
})

it.each(['', '\n', '# mine\n'])('puts a YAML file back that held as little as %j', async (text) => {
  const home = await temporaryFolder()
  write(home, { '.aider.conf.yml': text })
  const { install, uninstall } = setUp(home, targets.find(({ name }) => name === 'aider') as Target)
  install()
  uninstall()
  expect(readFileSync(join(home, '.aider.conf.yml'), 'utf8')).toBe(text)
})
