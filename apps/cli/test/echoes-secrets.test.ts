import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { entry, evidence, learning, memoryOf, project } from './echo-project.ts'

describe('secrets in echoes', () => {
  it('writes no secret of an entry, and says what it took out', async () => {
    const shell = await project()
    const secret = ['AKIA', 'QYLPMN5HFIQR7XYZ'].join('')
    const keys = ['reviewer', 'Keys', '--evidence', evidence, '--learning', `It was ${secret}.`]
    const added = await shell.run('echoes', 'add', ...keys)
    expect(added).toMatchObject({ code: 0, err: 'recall: taken out before it was written: aws-key-id\n' })
    expect(memoryOf(shell)).toContain('It was [redacted:aws-key-id].')
    const findings = join(shell.root, '.recall/echoes/reviewer/ann-findings.md')
    await shell.run('echoes', 'add', 'reviewer', 'Pools', '--agent', 'ann', ...entry)
    writeFileSync(findings, readFileSync(findings, 'utf8').replace(learning, `It is ${secret}.`))
    const { out } = await shell.run('echoes', 'consolidate', '--yes')
    expect(out).toContain('reviewer: 1 new, 0 known before\n  taken out of "Pools": aws-key-id\n')
    expect(memoryOf(shell)).not.toContain(secret)
  })

  it('shows no secret that a person typed into the files, and says so', async () => {
    const shell = await project()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const path = join(shell.root, '.recall/echoes/reviewer/MEMORY.md')
    const typed = memoryOf(shell).replace('Queries in loops', `Queries of ${secret}`)
    writeFileSync(path, typed.replace('one query', `one query, ${secret}`))
    const [id] = /inscribed-\d+/.exec((await shell.run('echoes', 'show')).out) ?? []
    for (const argv of [
      ['show'],
      ['show', `reviewer/${id}`],
      ['surface', '--for', 'a list'],
      ['remove', `reviewer/${id}`],
    ])
      for (const options of [[], ['--json']]) {
        const { code, out, err } = await shell.run('echoes', ...argv, ...options)
        expect(code).toBe(0)
        expect(out).toContain('[redacted:github]')
        expect(out).not.toContain(secret)
        // What is surfaced is for an agent, which is not told to mend files.
        if (argv[0] !== 'surface') expect(err).toContain('secrets are not shown: take them out of the files')
      }
    expect(memoryOf(shell)).toContain(secret)
  })

  it('shows no evidence that holds sensitive data', async () => {
    const shell = await project()
    const path = join(shell.root, '.recall/echoes/reviewer/MEMORY.md')
    const typed = memoryOf(shell).replace(/(\*\*evidence\*\*:).*/, '$1 `src/a.ts:3` — of ada@example.com')
    writeFileSync(path, typed)
    const [id] = /inscribed-\d+/.exec((await shell.run('echoes', 'show')).out) ?? []
    for (const options of [[], ['--json']]) {
      const { out, err } = await shell.run('echoes', 'show', `reviewer/${id}`, ...options)
      expect(out).toContain('`src/a.ts:3` — [removed: e-mail-address]')
      expect(err).toContain('secrets are not shown: take them out of the files (1 e-mail-address)')
    }
  })

  it('neither writes nor shows what evidence may not hold in a title or a learning', async () => {
    const shell = await project()
    const secret = 'Call it with bearer abc.def-123 and API key: QWERTYUIOPASDFGHJKLZ'
    const safe = 'Call it with bearer [redacted:token] and API key: [redacted:api-key]'
    const argv = ['reviewer', secret, '--evidence', evidence, '--learning', secret, '--json']
    const added = await shell.run('echoes', 'add', ...argv)
    expect(JSON.parse(added.out)).toMatchObject({ title: safe, stripped: ['api-key', 'token'] })
    expect(memoryOf(shell)).toContain(`${evidence}\n`)
    expect(memoryOf(shell).split(safe)).toHaveLength(3)
    const path = join(shell.root, '.recall/echoes/reviewer/MEMORY.md')
    // With another title it is another entry.
    writeFileSync(path, memoryOf(shell).replaceAll(safe, secret))
    for (const shown of [['show'], ['show', 'reviewer/traced-002'], ['surface', '--for', 'a call']])
      for (const options of [[], ['--json']]) {
        const { out } = await shell.run('echoes', ...shown, ...options)
        expect(out).toContain(safe)
        expect(out).not.toMatch(/abc\.def|QWERTY/)
      }
  })
})
