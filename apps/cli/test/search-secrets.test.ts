import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shellWithSession } from './support.ts'

const token = `ghp_${'a1B2'.repeat(9)}`

it('shows no secret in a label of a note that is exported', async () => {
  const shell = await shellWithSession()
  const note = `---\ntags: ["people", "${token}"]\ntype: "${token}"\n---\n\nAda likes tea.\n`
  mkdirSync(join(shell.root, 'memory/long-term'), { recursive: true })
  writeFileSync(join(shell.root, 'memory/long-term/ada.md'), note)
  const { out, err } = await shell.run('export', '--scope', 'long-term')
  expect(out).toContain('"tags":["people","[redacted:github]"]')
  expect(out).toContain('"type":"[redacted:github]"')
  expect(out).not.toContain('a1B2')
  expect(err).toContain('2 github')
})

it('shows no secret in what the window and the status say of a session', async () => {
  const shell = await shellWithSession()
  const change = (file: string, pattern: RegExp, replacement: string): void => {
    const path = join(shell.root, 'memory', file)
    const text = readFileSync(path, 'utf8')
    expect(text).toMatch(pattern)
    writeFileSync(path, text.replace(pattern, replacement))
  }
  change('EPHEMERAL.md', /(\*\*Archive\*\*: \S+).*/, `$1 · **Project**: /home/${token}`)
  change('conversations/conversation-001.md', /^---\n/, `---\ntitle: The token ${token}\n`)
  for (const command of [['consume', '--json'], ['status', '--json'], ['status']]) {
    const { out, err } = await shell.run(...command)
    expect(out).toContain('[redacted:github]')
    expect(out).not.toContain('a1B2')
    expect(err).toContain('secrets are not shown')
  }
})

describe('search, where people typed secrets,', () => {
  it('shows no secret that a person typed, and says how to find it', async () => {
    const shell = await shellWithSession()
    appendFileSync(
      join(shell.root, 'memory/MEMORY.md'),
      `\n## Zebra ${token}\n\nThe zebra token is ${token}.\n`,
    )
    for (const options of [[], ['--ranked'], ['--json'], ['--ranked', '--json'], ['-C', '5']]) {
      const { code, out, err } = await shell.run('search', 'zebra', ...options)
      expect(code).toBe(0)
      expect(out).toContain('[redacted:')
      expect(out).not.toContain('a1B2')
      expect(err).toContain("recall: secrets are not shown: 'recall scrub' says in which files they are")
    }
  })

  it('says nothing of a secret in what it does not show', async () => {
    const shell = await shellWithSession()
    const secret = `The okapi token is ghp_${'a1B2'.repeat(9)}.`
    appendFileSync(
      join(shell.root, 'memory/conversations/conversation-001.md'),
      `\n### User\n\nWhere is the zebra?\n\n### Assistant\n\n${secret}\n`,
    )
    for (const options of [[], ['--ranked'], ['--ranked', '--limit', '1']])
      expect((await shell.run('search', 'zebra', ...options)).err).not.toContain('secrets')
    const { out, err } = await shell.run('search', 'zebra', '--ranked', '--json')
    expect(out).toContain('[redacted:github]')
    expect(err).toContain('secrets are not shown')
  })

  it('shows no part of a key of several lines, wherever the lines that it shows begin', async () => {
    const shell = await shellWithSession()
    const lines = ['zebra key:', '-----BEGIN RSA PRIVATE KEY-----', 'c2hvcnQ', 'bGluZXM=']
    const key = [...lines, '-----END RSA PRIVATE KEY-----', 'zebra end'].join('\n')
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n## Keys\n\n${key}\n`)
    for (const options of [[], ['--ranked']])
      for (const [query, context] of [
        ['zebra', '2'],
        ['zebra', '1'],
        ['bGluZXM', '0'],
      ] as const) {
        const { out, err } = await shell.run('search', query, '-C', context, ...options)
        expect(out).toContain('[redacted:')
        expect(out).not.toMatch(/c2hvcnQ|bGluZXM/)
        expect(err).toContain('secrets are not shown')
      }
  })

  it('shows no secret in the row of a table, whose first line tells what it is', async () => {
    const shell = await shellWithSession()
    const table = 'name,password\nada,none\nzebra,hunter22\n'
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n## Accounts\n\n${table}`)
    for (const options of [[], ['--ranked'], ['--json'], ['-C', '1']]) {
      const { out, err } = await shell.run('search', 'zebra', ...options)
      expect(out).toContain('zebra,[redacted:password]')
      expect(err).toContain('secrets are not shown')
    }
    const { out, err } = await shell.run('search', 'ada')
    expect(out).toContain('ada,none')
    expect(err).toBe('')
  })

  it('shows no secret in a long table, and none in JSON whose members tell of it', async () => {
    const shell = await shellWithSession()
    const rows = Array.from({ length: 60 }, (_, i) => `| app${i} | zed | Wint3rgarten${i}9 |`)
    const table = [
      '| service | owner | password |',
      '|---|---|---|',
      ...rows,
      '| walrusapp | zed | Wint3rgarten99 |',
    ]
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n## Accounts\n\n${table.join('\n')}\n`)
    const json = JSON.stringify(
      { password: ['hunter2hunter2'], bank: { pin: 4711 }, note: 'apple pie' },
      null,
      2,
    )
    const note = `---\nformat: "json"\n---\n\`\`\`json\n${json}\n\`\`\`\n`
    mkdirSync(join(shell.root, 'memory/long-term'), { recursive: true })
    writeFileSync(join(shell.root, 'memory/long-term/bank.md'), note)
    for (const query of ['walrusapp', 'apple pie', 'hunter2hunter2'])
      for (const options of [[], ['--ranked', '--lexical'], ['--json'], ['--ranked', '--json', '-C', '9']]) {
        const { code, out, err } = await shell.run('search', query, ...options)
        expect(code).toBe(0)
        expect(out.replace(`"query":"${query}"`, '')).not.toMatch(/hunter2|4711|Wint3r/)
        if (query !== 'apple pie' || options.includes('-C')) expect(err).toContain('secrets are not shown')
      }
  })

  it.each(['Recovery codes:\n', '## Recovery codes\n\n'])(
    'shows no code of a list that is titled %j, whichever of its lines it shows',
    async (title) => {
      const shell = await shellWithSession()
      const codes = ['8f3a2-b91cd', '77e0d-1c4fa', '0a9b8-c7d6e']
      const list = codes.map((code) => `- ${code}\n`).join('')
      writeFileSync(
        join(shell.root, 'memory/MEMORY.md'),
        `# Memory\n\n${title}${list}\nThe zebra keeps them.\n`,
      )
      for (const query of [...codes, 'zebra'])
        for (const options of [[], ['--ranked', '--lexical'], ['--json'], ['-C', '3']]) {
          const { code, out, err } = await shell.run('search', query, ...options)
          expect(code).toBe(0)
          for (const each of codes) expect(out.replace(`"query":"${query}"`, '')).not.toContain(each)
          if (query !== 'zebra') expect(err).toContain('secrets are not shown')
        }
    },
  )
})
