import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { entry, evidence, memoryOf, project } from './echo-project.ts'
import { createShell } from './support.ts'

/** A project in which two roles learned the same, and the memory of one cannot be read. */
async function withBrokenAuditor(...how: string[]) {
  const shell = await project()
  for (const role of ['auditor', 'workers'])
    await shell.run('echoes', 'add', role, 'Slow tests', ...how, ...entry)
  const broken = join(shell.root, '.recall/echoes/auditor/MEMORY.md')
  writeFileSync(broken, Buffer.from([0xff, 0xfe]))
  return { shell, broken }
}

it('does the other roles when one fails, says which, and ends with 3', async () => {
  const { shell, broken } = await withBrokenAuditor('--agent', 'ann')
  for (const action of ['consolidate', 'prune']) {
    const { code, out, err } = await shell.run('echoes', action, '--yes')
    expect(code).toBe(3)
    expect(err).toContain(`recall: not finished for auditor: ${broken} is not UTF-8`)
    expect(out).toContain('workers: ')
  }
  expect(memoryOf(shell, 'workers')).toContain('Slow tests')
  const { failed } = await shell.json<{ failed: unknown }>('echoes', 'consolidate')
  expect(failed).toMatchObject([{ role: 'auditor' }])
})

it('shows and surfaces what can be read beside a role that cannot', async () => {
  const { shell, broken } = await withBrokenAuditor('--layer', 'inscribed')
  const shown = await shell.run('echoes', 'show')
  expect(shown).toMatchObject({ code: 3, err: expect.stringContaining(`not shown: auditor: ${broken}`) })
  expect(shown.out).toContain('Slow tests')
  const surfaced = await shell.run('echoes', 'surface', '--for', 'slow tests')
  expect(surfaced).toMatchObject({ code: 0, err: expect.stringContaining(`${broken} is not UTF-8`) })
  expect(surfaced.out).toContain('Slow tests')
})

it('reads all findings but those of a broken file, which it names', async () => {
  const shell = await project()
  await shell.run('echoes', 'add', 'reviewer', 'Slow tests', '--agent', 'bob', ...entry)
  const broken = join(shell.root, '.recall/echoes/reviewer/eve-findings.md')
  writeFileSync(broken, Buffer.from([0xff, 0xfe]))
  expect(await shell.run('echoes', 'migrate', 'list=table')).toMatchObject({
    code: 1,
    out: expect.stringContaining('reviewer/bob-findings.md'),
    err: expect.stringContaining(`reviewer/eve-findings.md is left as it is: ${broken} is not UTF-8`),
  })
  expect(await shell.run('echoes', 'doctor')).toMatchObject({
    code: 1,
    out: expect.stringContaining(`${broken} is not UTF-8`),
  })
  expect(await shell.run('echoes', 'consolidate', '--yes')).toMatchObject({
    code: 1,
    out: expect.stringContaining(`eve, line 1 stays: ${broken} is not UTF-8`),
  })
  expect(memoryOf(shell)).toContain('Slow tests')
})

it('consolidates findings, and prunes what has grown too long', async () => {
  const shell = await project()
  const learned = ['--evidence', evidence, '--learning', 'One thing. And another thing.']
  for (let n = 0; n < 16; n++)
    await shell.run('echoes', 'add', 'reviewer', `Finding ${n}`, '--agent', 'ann', ...learned)
  const planned = await shell.json<{ roles: unknown[] }>('echoes', 'consolidate')
  const done = await shell.json<{ roles: unknown[] }>('echoes', 'consolidate', '--yes')
  expect(done.roles).toEqual(planned.roles)
  expect(done.roles).toMatchObject([{ role: 'reviewer', added: 16, merged: 0, kept: [] }])
  expect((await shell.run('echoes', 'consolidate', '--yes')).out).toContain('reviewer: 0 new')
  expect(readdirSync(join(shell.root, '.recall/echoes/reviewer')).sort()).toEqual([
    '.echoes.json',
    'MEMORY.md',
    'archive',
  ])
})

it('prunes a memory and its knowledge, and says by how much', async () => {
  const shell = await project()
  const folder = join(shell.root, '.recall/echoes/reviewer')
  const standing = memoryOf(shell)
  const old = standing
    .slice(standing.indexOf('###'))
    .replaceAll('2026-03-06', '2025-01-06')
    .replace('inscribed', 'traced')
  const many = Array.from({ length: 40 }, (_, n) => `\n${old.replace('Queries', `Pools ${n}`)}`).join('')
  writeFileSync(join(folder, 'MEMORY.md'), `${standing}${many}`)
  writeFileSync(join(folder, 'knowledge.md'), `# Reviewer Knowledge\n${many}`)
  const { out: planned } = await shell.run('echoes', 'prune')
  expect(planned).toMatch(
    /^reviewer: \d+ lines become 12 \(limit 150\)\n {2}archive {2}traced-001 .*Pools 0 /,
  )
  expect(planned).toMatch(/\nreviewer\/knowledge\.md: \d+ lines become \d+, about \d+ tokens .*% saved\)\n/)
  const { out: done } = await shell.run('echoes', 'prune', '--yes')
  expect(planned).toBe(`${done}\nNothing was changed. Run the same with --yes to do it.\n`)
  expect((await shell.run('echoes', 'prune', 'reviewer')).out).toBe(
    'reviewer: nothing to prune (12 lines, limit 150)\n',
  )
  const { results } = await shell.json<{ results: { key: string }[] }>('search', 'one query')
  expect(results.map(({ key }) => key)).toEqual(['echo:reviewer/inscribed-001'])
})

it('prunes nothing between begin and end of a workflow, in whichever process', async () => {
  const shell = await project()
  mkdirSync(join(shell.root, '.git'))
  const standing = memoryOf(shell)
  const old = standing.slice(standing.indexOf('###')).replaceAll('2026-03-06', '2025-01-06')
  const many = Array.from({ length: 40 }, (_, n) => `\n${old.replace('Queries', `Pools ${n}`)}`).join('')
  writeFileSync(join(shell.root, '.recall/echoes/reviewer/MEMORY.md'), `${standing}${many}`)
  expect(await shell.run('echoes', 'begin', 'review-1')).toEqual({
    code: 0,
    out: "Nothing is pruned before 'recall echoes end review-1'.\n",
    err: 'recall: .gitignore now excludes .recall/echoes/\n',
  })
  expect(await shell.json('echoes', 'begin', 'review-2')).toEqual({ workflow: 'review-2' })
  expect(await shell.run('echoes', 'prune', '--yes')).toMatchObject({
    code: 3,
    err: expect.stringMatching(
      /the workflow review-1 is active: .* end it with 'recall echoes end review-1'/,
    ),
  })
  expect((await shell.run('echoes', 'doctor')).out).toContain('ok     the workflow review-1 is active')
  expect(await shell.run('echoes', 'end', 'review-1')).toEqual({
    code: 0,
    out: 'review-1 has ended. Still active: review-2.\n',
    err: '',
  })
  expect(await shell.json('echoes', 'end', 'review-2')).toEqual({
    workflow: 'review-2',
    ended: true,
    active: [],
  })
  expect(await shell.run('echoes', 'end', 'review-2')).toMatchObject({
    code: 1,
    out: 'review-2 was not active.\n',
  })
  expect((await shell.run('echoes', 'prune', '--yes')).code).toBe(0)
  for (const argv of [
    ['begin'],
    ['end'],
    ['begin', 'a', 'b'],
    ['begin', '../a'],
    ['begin', 'a', '--dry-run'],
  ])
    expect(await shell.run('echoes', ...argv)).toMatchObject({ code: 2, out: '' })
})

it('knows a role by its longer notes alone, and says where only a person can shorten them', async () => {
  const shell = createShell()
  await shell.run('init')
  const folder = join(shell.root, '.recall/echoes/reviewer')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'knowledge.md'), 'A long note\n'.repeat(301))
  const examined = await shell.run('echoes', 'doctor')
  expect(examined).toMatchObject({
    code: 1,
    out: expect.stringContaining(
      'reviewer: knowledge.md is above its 300 lines\n       → shorten it by hand',
    ),
  })
  const byHand = 'it has no entries that prune could shorten'
  expect(await shell.run('echoes', 'prune')).toMatchObject({
    code: 0,
    out: expect.stringMatching(new RegExp(`\nreviewer/knowledge\\.md: 301 lines, limit 300; .*${byHand}\n$`)),
  })
  expect(await shell.json('echoes', 'prune')).toMatchObject({
    knowledge: [{ role: 'reviewer', lines: 301, lineLimit: 300, blocks: [] }],
    plans: [{ role: 'reviewer', lines: 0, linesAfter: 0, steps: [] }],
  })
  expect(examined.out).toContain('reviewer: there is no MEMORY.md\n')
  expect((await shell.run('echoes', 'prune', '--yes')).out).toMatch(
    /^reviewer: nothing to prune \(there is no MEMORY\.md\)\n/,
  )
})

it('says before a migration that the memory of the team is for the lead alone', async () => {
  const shell = await project()
  const team = join(shell.root, '.recall/echoes/team')
  mkdirSync(team)
  writeFileSync(join(team, 'MEMORY.md'), memoryOf(shell))
  const refused = await shell.run('echoes', 'migrate', 'list=table', '--yes')
  expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('only the lead writes') })
  const shown = await shell.run('echoes', 'migrate', 'list=table')
  expect(shown.err).toContain('only the lead writes to team (--lead)')
  expect((await shell.run('echoes', 'migrate', 'list=table', '--lead')).err).not.toContain('lead')
})

it('says where it renamed something and where the files are as they were', async () => {
  const shell = await project()
  expect(await shell.run('echoes', 'migrate', 'nobody=somebody', '--yes')).toMatchObject({
    code: 0,
    out: 'No metadata has these names.\n',
  })
  const { out } = await shell.run('echoes', 'migrate', 'list=table', '--yes')
  const [, backup = ''] = /^reviewer\/MEMORY\.md \(before: (.+)\)\n {2}line \d+, evidence: /.exec(out) ?? []
  expect(out).toMatch(/\n\n1 file\.\n$/)
  expect(readFileSync(join(shell.root, '.recall/echoes', backup), 'utf8')).toContain('src/list.ts')
  expect(memoryOf(shell)).toContain('src/table.ts')
})
