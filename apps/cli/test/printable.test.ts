import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { printable } from '../src/terminal/printable.ts'
import { createShell, jsonLines, temporaryFolder, writeSession } from './support.ts'

const steering = '\u001b[2J\u001b]0;gone\u0007\u202e\u061c\u00ad\u{e0049}\u{e0067}'

it('nothing that is stored steers the terminal of who looks at it', async () => {
  const shell = createShell()
  await shell.run('init')
  const section = `## Walrus ${steering}\n\n${`- walrus ${steering} line\n`.repeat(150)}\n`
  writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n${section}${section}`)
  const talk = [
    { role: 'user', text: `the walrus ${steering} is called Ana` },
    { role: 'assistant', text: `a walrus ${steering}` },
  ] as const
  await shell.run('archive', writeSession(shell.root, 's1', [...talk]))
  const folder = join(shell.root, '.recall/echoes/reviewer')
  mkdirSync(folder, { recursive: true })
  const entry = [
    'layer**: traced',
    'source**: manual',
    'confidence**: 0.8',
    `evidence**: \`a.ts:1\` ${steering}`,
  ]
  const echo = [...entry, 'verified**: 2026-03-06', 'supersedes**: none']
    .map((part) => `- **${part}\n`)
    .join('')
  writeFileSync(
    join(folder, 'MEMORY.md'),
    `<!-- echo-schema: v1 -->\n# Reviewer Memory\n\n### [2026-03-06] Pattern: Walrus ${steering}\n${echo}- Walrus ${steering}.\n`,
  )
  // Whoever made the folder named its files.
  writeFileSync(join(shell.root, `memory/conversations/walrus${steering}.md`), 'a walrus')
  writeFileSync(join(shell.root, `memory/${steering}.md`), `# Keys\n\nghp_${'a1B2'.repeat(9)}\n`)
  const foreign = join(shell.root, `memory/namespaces/n${steering}/long-term`)
  mkdirSync(foreign, { recursive: true })
  writeFileSync(join(foreign, 'k.md'), 'a walrus')
  for (const command of [
    ['doctor'],
    ['forget', '--containing', 'walrus'],
    ['scrub'],
    ['import', '--dry-run', join(shell.root, 'memory')],
    ['search', 'walrus'],
    ['search', 'walrus', '--ranked', '--explain'],
    ['status'],
    ['distill'],
    ['echoes', 'show'],
    ['echoes', 'show', 'reviewer/traced-001'],
    ['echoes', 'surface', '--for', 'walrus'],
    ['search', steering],
    ['search', 'walrus', '--root', `nowhere${steering}`],
  ]) {
    const { out, err } = await shell.run(...command)
    expect(out + err, command.join(' ')).not.toBe('')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(out + err, command.join(' ')).not.toMatch(/[\u0007\u001b\u202e\u061c\u00ad\u{e0049}\u{e0067}]/u)
  }
})

it('leaves emoji and scripts whole', () => {
  for (const text of ['👩‍🚀 ❤️', 'می‌خواهم', 'क्‍ष']) expect(printable(text)).toBe(text)
})

it('an earlier archive that is kept is named without what steers a terminal', async () => {
  const shell = createShell(temporaryFolder())
  const path = join(temporaryFolder(), 'run\u202e.jsonl')
  const say = (...texts: string[]) =>
    writeFileSync(path, jsonLines(...texts.map((content) => ({ role: 'user', content }))))
  say('Feed the walrus.', 'And wash it.')
  await shell.run('archive', path)
  say('Feed the walrus.', 'Once more.', 'And again.')
  const { out } = await shell.run('archive', path)
  expect(out).toContain('kept an earlier version with messages this one lacks: conversation:run\n')
})

it('the window is printed to the letter where an agent reads it, and not where a person does', async () => {
  const shell = createShell(temporaryFolder())
  await shell.run('init')
  writeFileSync(join(shell.root, 'memory/EPHEMERAL.md'), 'kept \u202eas it is\n')
  expect((await shell.run('consume')).out).toContain('\u202e')
  expect((await shell.onTerminal().run('consume')).out).toBe('kept as it is\n')
})
