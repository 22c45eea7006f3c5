import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShell, poolSession, shellWithSession, temporaryFolder, writeSession } from './support.ts'

describe('consume', () => {
  it('prints the window, and with --clear empties it for good', async () => {
    const shell = await shellWithSession()
    expect((await shell.run('consume', '--clear')).out).toContain('## Session pool-leak')
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
    await shell.run('archive', shell.path)
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
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
    expect((await shell.run('distill')).out).toContain('Would move to topic files:\n  Debugging')
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toBe(heavy)
    await shell.run('distill', '--apply')
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8').split('\n').length).toBeLessThan(20)
    expect(readFileSync(join(shell.root, 'memory/debugging.md'), 'utf8')).toContain('- fact 229')
    expect((await shell.run('search', 'fact 117')).out).toContain('memory/debugging.md')
  })
})
