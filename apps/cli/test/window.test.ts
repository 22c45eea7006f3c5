import { appendFileSync, chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createShell,
  poolSession,
  shellWithSession,
  temporaryFolder,
  writeFiles,
  writeSession,
} from './support.ts'

describe('consume', () => {
  it('shows no secret that a person typed, and says how to find it', async () => {
    const shell = await shellWithSession()
    const window = join(shell.root, 'memory/EPHEMERAL.md')
    const token = `ghp_${'a1B2'.repeat(9)}`
    writeFileSync(window, readFileSync(window, 'utf8').replace('connections', `connections with ${token}`))
    appendFileSync(window, `\n---\n\nMind the token ${token}.\n`)
    for (const options of [[], ['--json'], ['--clear']]) {
      const { code, out, err } = await shell.run('consume', ...options)
      expect(code).toBe(0)
      expect(out.match(/\[redacted:/g)).toHaveLength(2)
      expect(out).not.toContain('a1B2')
      expect(err).toContain("recall: secrets are not shown: 'recall scrub'")
    }
    expect(readFileSync(window, 'utf8').trim()).toBe('')
  })

  it('prints the window, and with --clear empties it for good', async () => {
    const shell = await shellWithSession()
    expect(await shell.json('consume')).toMatchObject({ cleared: false })
    expect((await shell.run('consume', '--clear')).out).toContain('## Session pool-leak')
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
    await shell.run('archive', shell.path)
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
  })

  it('prints what was written into it by hand, and --clear makes an episode of it', async () => {
    const shell = createShell()
    await shell.run('init')
    const window = join(shell.root, 'memory/EPHEMERAL.md')
    writeFileSync(window, '# Last session\n\nThe walrus was fed. Next: the narwhal.\n')
    expect((await shell.run('consume', '--clear')).out).toBe(
      readFileSync(window, 'utf8') || '# Last session\n\nThe walrus was fed. Next: the narwhal.\n',
    )
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
    expect(await shell.json('search', 'walrus')).toMatchObject({ results: [{ scope: 'episodic' }] })
  })

  it('says where the archive of each session is', async () => {
    const { out } = await (await shellWithSession()).run('consume')
    expect(out).toContain('**Archive**: conversations/conversation-001.md')
  })

  it('takes a window that cannot be read for none that is empty', async () => {
    const shell = await shellWithSession()
    const window = join(shell.root, 'memory/EPHEMERAL.md')
    const bytes = Buffer.concat([readFileSync(window), Buffer.from([0xff])])
    writeFileSync(window, bytes)
    for (const options of [[], ['--clear'], ['--clear', '--json']]) {
      const { code, err } = await shell.run('consume', ...options)
      expect(code).toBe(3)
      expect(err).toContain('EPHEMERAL.md is not UTF-8')
    }
    expect(readFileSync(window).equals(bytes)).toBe(true)
  })

  it('keeps as many sessions as the settings say', async () => {
    const shell = createShell()
    await shell.run('init')
    await shell.run('config', 'ephemeral.max_entries', '2')
    const folder = temporaryFolder()
    for (const day of [1, 2, 3]) writeSession(folder, `day-${day}`, poolSession, `2026-03-0${day}`)
    await shell.run('archive', folder)
    const { entries } = await shell.json<{ entries: { sessionId: string }[] }>('consume')
    expect(entries.map(({ sessionId }) => sessionId)).toEqual(['day-2', 'day-3'])
  })
})

describe('distill', () => {
  const heavy = `# Memory\n\n## Debugging\n\n${Array.from({ length: 230 }, (_, i) => `- fact ${i}`).join('\n')}\n\n## Style\n\nShort.\n`

  it('shows a plan, and applies it only when asked', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), heavy)
    const { out } = await shell.run('distill')
    expect(out).toContain('Would move to topic files:\n  Debugging')
    // A command without its options would be one for another memory.
    expect(out).toMatch(/\nRun the same with --apply to do it\.\n$/)
    expect((await shell.run('compact')).out).toBe(out)
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toBe(heavy)
    const applied = await shell.run('distill', '--apply')
    expect(applied.out).toMatch(/^MEMORY\.md had \d{3} of 200 lines, and has \d{1,2} now\.\n/)
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8').split('\n').length).toBeLessThan(20)
    expect(readFileSync(join(shell.root, 'memory/debugging.md'), 'utf8')).toContain('- fact 229')
    expect((await shell.run('search', 'fact 117')).out).toContain('memory/debugging.md')
  })

  it('finds nothing to do in 200 lines, and in more of them only what is heavy', async () => {
    const shell = createShell()
    const has = async (lines: number) => {
      writeFiles(shell.root, { 'memory/MEMORY.md': `# Memory\n${'- fact\n'.repeat(lines - 1)}` })
      return (await shell.run('distill')).out
    }
    expect(await has(200)).toContain('MEMORY.md has 200 of 200 lines.\nNothing to distil.\n')
    expect(await has(201)).toContain('No single section is heavy enough to move: shorten it by hand.\n')
  })

  it('shows no secret that a person typed into a heading, and makes no name of a file of it', async () => {
    const shell = createShell()
    const heading = `## Keys ghp_${'a1B2'.repeat(9)}`
    writeFiles(shell.root, { 'memory/MEMORY.md': `# Memory\n\n${heading}\n${'- fact\n'.repeat(250)}` })
    for (const options of [[], ['--json'], ['--apply']]) {
      const { code, out, err } = await shell.run('distill', ...options)
      expect(code).toBe(0)
      expect(out).toContain('Keys [redacted:github]')
      expect(out).not.toMatch(/a1b2/i)
      expect(err).toContain('secrets are not shown')
    }
    expect(readFileSync(join(shell.root, 'memory/keys-redacted-github.md'), 'utf8')).toContain(heading)
  })

  it('names the heaviest sections where none is heavy enough to move', async () => {
    const shell = createShell()
    const section = (name: string, lines: number) => `## ${name}\n${'- fact\n'.repeat(lines)}`
    const sections = [...Array(50).fill(section('Light', 3)), section('Heavier', 4)]
    writeFiles(shell.root, { 'memory/MEMORY.md': `# Memory\n${sections.join('')}` })
    expect((await shell.run('distill', '--apply')).out).toMatch(
      /shorten it by hand\.\n\nHeaviest sections:\n {5}5 {2}Heavier\n {5}4 {2}Light\n {5}4 {2}Light\n$/,
    )
  })

  it('says what to do where there is no MEMORY.md', async () => {
    const shell = createShell()
    writeFiles(shell.root, { 'memory/EPHEMERAL.md': '' })
    expect(await shell.run('distill')).toEqual({
      code: 1,
      out: '',
      err: "recall: memory/MEMORY.md does not exist: run 'recall init'\n",
    })
  })

  it('moves nothing while both sides of a merge stand in it', async () => {
    const shell = createShell()
    await shell.run('init')
    const merged = heavy
      .replace('- fact 0', '<<<<<<< HEAD\n- fact 0')
      .replace('## Style', '=======\n## Style')
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `${merged}>>>>>>> 51fb131\n`)
    const { code, err } = await shell.run('distill', '--apply')
    expect(code).toBe(3)
    expect(err).toContain('memory/MEMORY.md holds both sides of a merge: choose what stays')
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toBe(`${merged}>>>>>>> 51fb131\n`)
  })

  it('shows the first of many sections and how many more there are', async () => {
    const shell = createShell()
    await shell.run('init')
    const sections = Array.from({ length: 45 }, (_, i) => `## Subject ${i}\n\n${'- fact\n'.repeat(9)}`)
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n${sections.join('\n')}`)
    const { plan } = await shell.json<{ plan: { extractions: unknown[] } }>('distill')
    const { out } = await shell.run('distill')
    const more = plan.extractions.length - 20
    expect(out).toContain(`and ${more} more sections, all of which --json prints\n`)
    expect(out.split('\n').length).toBeLessThan(30)
  })

  it.runIf(process.platform !== 'win32')(
    'moves nothing where more people can read it than before',
    async () => {
      const shell = createShell()
      await shell.run('init')
      const memory = join(shell.root, 'memory/MEMORY.md')
      writeFileSync(memory, heavy)
      chmodSync(memory, 0o600)
      await shell.run('distill', '--apply')
      for (const path of [memory, join(shell.root, 'memory/debugging.md')])
        expect(statSync(path).mode & 0o777).toBe(0o600)
    },
  )
})
