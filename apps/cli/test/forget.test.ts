import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shellWithSession } from './support.ts'

describe('forget', () => {
  it('shows first, then removes the archive, its row and its entry in the window, and keeps it forgotten', async () => {
    const shell = await shellWithSession()
    const shown = await shell.json<{ forgotten: boolean; memories: unknown[] }>(
      'forget',
      'conversation:pool-leak',
    )
    expect(shown).toMatchObject({
      forgotten: false,
      memories: [
        { scope: 'episodic', key: 'conversation:pool-leak' },
        { scope: 'short-term', key: 'session:pool-leak' },
      ],
    })
    expect((await shell.run('search', 'retry path')).code).toBe(0)
    const { out } = await shell.run('forget', 'conversation:pool-leak', '--yes')
    expect(out).toMatch(/receipt [0-9a-f]{16}/)
    expect((await shell.run('search', 'retry path')).code).toBe(1)
    expect(readFileSync(join(shell.root, 'memory/ARCHIVE.md'), 'utf8')).not.toContain('pool-leak')
    expect(existsSync(join(shell.root, 'memory/conversations/conversation-001.md'))).toBe(false)
    const again = await shell.run('archive', shell.path)
    expect(again.code).toBe(3)
    expect(again.err).toContain('was forgotten')
    expect(await shell.json('import', shell.path)).toMatchObject({ archived: 0, forgotten: 1, failed: [] })
  })

  it('finds memories by what they contain', async () => {
    const shell = await shellWithSession()
    expect(await shell.json('forget', '--containing', 'never releases it')).toMatchObject({
      memories: [{ key: 'conversation:pool-leak' }],
    })
    expect((await shell.run('forget', '--containing', 'zeppelin')).code).toBe(1)
  })
})

describe('scrub', () => {
  it('finds secrets that people typed into their files, and replaces them when asked', async () => {
    const shell = await shellWithSession()
    const secret = ['sk_', 'live_', '4eC39HqLyjWDarjtT1zdp7dc'].join('')
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), `\n## Keys\n\nstripe: ${secret}\n`)
    expect(await shell.run('scrub')).toMatchObject({ code: 1 })
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).toContain(secret)
    expect(await shell.run('scrub', '--yes')).toMatchObject({ code: 0 })
    expect(readFileSync(join(shell.root, 'memory/MEMORY.md'), 'utf8')).not.toContain(secret)
    expect(await shell.run('scrub')).toMatchObject({ code: 0, out: 'No secrets found.\n' })
  })
})
