import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { entry, evidence, learning, memoryOf, project } from './echo-project.ts'
import { createShell, temporaryFolder } from './support.ts'

describe('echoes', () => {
  it('shows all of them, those of a role, and one', async () => {
    const shell = await project()
    expect((await shell.run('echoes', 'show')).out).toBe(
      'reviewer\n  inscribed-001  0.58  Queries in loops\n',
    )
    const { roles } = await shell.json<{ roles: unknown }>('echoes', 'show', 'reviewer')
    expect(roles).toMatchObject([{ role: 'reviewer', entries: [{ id: 'inscribed-001', score: 0.58 }] }])
    const one = await shell.run('echoes', 'show', 'reviewer/inscribed-001')
    expect(one.out).toContain(`- ${learning}\n\nscore 0.58 (importance 0.7, relevance 0.00, recency 1.00)\n`)
    expect((await shell.run('echoes', 'show', 'reviewer/inscribed-009')).code).toBe(1)
    expect((await createShell().run('echoes', 'show')).code).toBe(1)
  })

  it('adds an entry that takes the place of another', async () => {
    const shell = await project()
    const joins = ['reviewer', 'Joins', '--supersedes', 'Queries in loops', ...entry]
    expect(await shell.json('echoes', 'add', ...joins)).toMatchObject({ role: 'reviewer', id: 'traced-001' })
    expect(memoryOf(shell)).toContain('\n- **supersedes**: Queries in loops\n')
  })

  it('writes nothing with --dry-run, also where there is nothing to show', async () => {
    const shell = await project()
    const before = memoryOf(shell)
    for (const argv of [
      ['add', 'reviewer', 'Joins', ...entry],
      ['restore', 'reviewer/inscribed-001'],
      ['surface', '--for', 'a list', '--workflow', 'review-1'],
    ])
      expect(await shell.run('echoes', ...argv, '--dry-run')).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('takes no --dry-run'),
      })
    expect(memoryOf(shell)).toBe(before)
  })

  it('keeps an entry where the memory that is named is none, and says that searches do not find it', async () => {
    const shell = await project()
    const file = join(shell.root, 'memory/MEMORY.md')
    expect(await shell.run('echoes', 'add', 'reviewer', 'Joins', ...entry, '--root', file)).toMatchObject({
      code: 0,
      out: 'Added as reviewer/traced-001.\n',
      err: `recall: searches do not find the latest echoes: ${file} is a file: a memory is a folder\n`,
    })
  })

  it('says nothing of searches where the usual place holds no memory', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    mkdirSync(join(shell.root, '.recall/hosts'), { recursive: true })
    expect((await shell.run('echoes', 'add', 'reviewer', 'Joins', ...entry)).err).toBe('')
  })

  it('says of a role that is none that there is none', async () => {
    const shell = await project()
    for (const action of ['show', 'prune', 'consolidate'])
      expect(await shell.run('echoes', action, 'revewer', 'reviewer', '--yes')).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining('there is no role revewer'),
      })
    expect(await shell.run('echoes', 'reset', 'revewer')).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no role revewer'),
    })
  })

  it('says what it can do when it is asked for something else', async () => {
    const shell = createShell()
    expect(await shell.run('echoes', 'constructor')).toMatchObject({
      code: 2,
      err: expect.stringContaining('echoes takes show, add, move'),
    })
    for (const wrong of [
      ['show', '../x'],
      ['remove', 'x'],
      ['add', 'reviewer'],
      ['surface'],
      ['surface', '--for', 'a list', '--limit', '0'],
      ['surface', '--for', 'a list', '--limit', '101'],
      ['migrate', 'x'],
      ['move', 'reviewer/traced-001', 'reviewer/traced-002', '--to', 'inscribed'],
      ['publish', 'reviewer/traced-001', 'reviewer/traced-002'],
      ['doctor', 'reviewer'],
    ])
      expect((await shell.run('echoes', ...wrong)).code, wrong.join(' ')).toBe(2)
    expect((await shell.run('echoes', 'prune', '--yes', '--dry-run')).code).toBe(2)
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
  })

  it.each([
    ['an entry needs --learning', ['add', 'reviewer', 'Joins', '--evidence', evidence]],
    ['an entry needs --learning', ['add', 'reviewer', 'Joins', '--learning', learning]],
    ['confidence must be a number', ['add', 'reviewer', 'Joins', ...entry, '--confidence', 'high']],
    ['--to is missing', ['move', 'reviewer/inscribed-001']],
    ['say which entry', ['remove']],
    ['one role at a time', ['remove', 'reviewer/inscribed-001', 'tester/traced-001']],
    ['reset takes one role', ['reset']],
    ['reset takes one role', ['reset', 'reviewer', 'tester']],
    ['say which entry', ['restore']],
    ['--category takes', ['promote', 'reviewer/inscribed-001']],
  ])('says what is missing or wrong: %s', async (problem, argv) => {
    const shell = await project()
    const before = memoryOf(shell)
    expect(await shell.run('echoes', ...argv, ...(argv[0] === 'add' ? [] : ['--yes']))).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(problem),
    })
    expect(memoryOf(shell)).toBe(before)
  })

  it('takes one entry out with reset as well', async () => {
    const shell = await project()
    expect(await shell.run('echoes', 'reset', 'reviewer/inscribed-001', '--yes')).toMatchObject({
      out: 'reviewer/inscribed-001 → archive  Queries in loops\n\n1 step done; a copy is in reviewer/archive/.\n',
    })
    expect((await shell.run('echoes', 'reset', 'reviewer')).out).toContain('There is nothing to remove.')
  })

  it('plans, and changes nothing before --yes', async () => {
    const shell = await project()
    await shell.run('echoes', 'add', 'reviewer', 'Waits', '--agent', 'ann', ...entry)
    const before = memoryOf(shell)
    for (const [...argv] of [
      ['remove', 'reviewer/inscribed-001'],
      ['reset', 'reviewer'],
      ['move', 'reviewer/inscribed-001', '--to', 'traced'],
      ['migrate', 'list=table'],
      ['prune'],
      ['consolidate'],
    ]) {
      expect(await shell.json('echoes', ...argv, '--dry-run')).toMatchObject({ applied: false })
      const { code, out } = await shell.run('echoes', ...argv)
      expect(code).toBe(0)
      if (argv[0] !== 'prune') expect(out).toContain('Nothing was changed. Run the same with --yes')
      expect(memoryOf(shell)).toBe(before)
    }
  })

  it('removes an entry, and restores it to the same bytes', async () => {
    const shell = await project()
    const before = memoryOf(shell)
    expect((await shell.run('echoes', 'remove', 'reviewer/inscribed-001', '--yes')).code).toBe(0)
    expect(memoryOf(shell)).not.toContain('Queries')
    expect(await shell.run('echoes', 'show', 'reviewer')).toMatchObject({
      code: 0,
      out: expect.stringContaining('inscribed-001  archived'),
    })
    await shell.run('echoes', 'restore', 'reviewer/inscribed-001')
    expect(memoryOf(shell)).toBe(before)
  })

  it('says which entries are back also when the next one fails, and searches find them', async () => {
    const shell = await project()
    await shell.run('echoes', 'remove', 'reviewer/inscribed-001', '--yes')
    expect(
      await shell.run('echoes', 'restore', 'reviewer/inscribed-001', 'reviewer/traced-009'),
    ).toMatchObject({
      code: 1,
      out: 'reviewer/inscribed-001 is back\n',
      err: expect.stringContaining('has no entry traced-009'),
    })
    expect((await shell.run('search', 'one query')).code).toBe(0)
    expect(await shell.run('echoes', 'restore', 'reviewer/inscribed-001')).toMatchObject({
      code: 0,
      out: 'reviewer/inscribed-001 is unchanged\n',
    })
  })

  it('moves an entry, and says by which id it is known now', async () => {
    const shell = await project()
    const move = ['echoes', 'move', '--yes']
    expect(await shell.run(...move, 'reviewer/inscribed-001', '--to', 'traced')).toMatchObject({
      out: expect.stringContaining('reviewer/inscribed-001 → reviewer/traced-001  Queries in loops\n'),
    })
    expect(await shell.json(...move, 'reviewer/traced-001', '--to', 'inscribed')).toMatchObject({
      newIds: { 'traced-001': 'inscribed-002' },
    })
    expect((await shell.run('echoes', 'show', 'reviewer/inscribed-002')).code).toBe(0)
  })

  it('says nothing of a memory to who never made one, and misses one that was named', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    const echoes = (...argv: string[]) => shell.run('echoes', ...argv, '--folder', 'notes')
    expect(await echoes('add', 'reviewer', 'Slow tests', ...entry)).toMatchObject({ code: 0, err: '' })
    expect((await echoes('doctor')).out).toContain('there is no memory here')
    const { err } = await echoes('add', 'reviewer', 'More', ...entry, '--root', 'away')
    expect(err).toContain('searches do not find the latest echoes')
  })

  it('writes to the team for the lead only', async () => {
    const shell = createShell()
    expect(await shell.run('echoes', 'add', 'team', 'x', ...entry)).toMatchObject({
      code: 3,
      err: expect.stringContaining('only the lead'),
    })
    expect((await shell.run('echoes', 'add', 'team', 'x', '--lead', ...entry)).code).toBe(0)
    await shell.run('echoes', 'add', 'reviewer', 'y', '--agent', 'ann', ...entry)
    const others = await shell.run('echoes', 'consolidate', '--yes')
    expect(others).toMatchObject({ code: 0, out: expect.stringContaining('reviewer: 1 new') })
    expect(others.err).toContain('team is left out: only the lead')
    expect((await shell.run('echoes', 'consolidate', '--yes', '--lead')).out).toContain('team: 0 new')
  })

  it('examines the folder, and clears what killed processes left', async () => {
    const shell = await project()
    expect((await shell.run('echoes', 'doctor')).out).toContain('searches of the memory find all entries')
    const left = join(shell.root, '.recall/echoes/reviewer/.tmp-1-a')
    writeFileSync(left, '')
    expect((await shell.run('echoes', 'doctor')).code).toBe(1)
    expect((await shell.run('echoes', 'doctor', '--yes')).code).toBe(0)
    expect(existsSync(left)).toBe(false)
    writeFileSync(join(shell.root, '.recall/echoes/reviewer/.echoes.json'), 'torn')
    const { code, out } = await shell.run('echoes', 'doctor')
    expect([code, out]).toEqual([1, expect.stringContaining('.echoes.json cannot be read')])
  })

  it('brings the memory in step also where something is left to do', async () => {
    const shell = await project()
    await shell.run('forget', 'echo:reviewer/inscribed-001', '--yes')
    writeFileSync(join(shell.root, '.recall/echoes/reviewer/knowledge.md'), 'A long note\n'.repeat(301))
    const { code, out } = await shell.run('echoes', 'doctor')
    expect([code, out]).toEqual([1, expect.stringContaining('knowledge.md is above its 300 lines')])
    expect(out).toMatch(/\nok +searches of the memory find all entries\n$/)
    expect((await shell.run('search', 'one query')).code).toBe(0)
  })

  it('is not well while the memory does not take the copies, and says why', async () => {
    const shell = await project()
    const { healthy, findings } = await shell.json<{ healthy: boolean; findings: unknown[] }>(
      'echoes',
      'doctor',
      '--root',
      'away',
    )
    expect(healthy).toBe(false)
    expect(findings.at(-1)).toMatchObject({ ok: false, message: expect.stringContaining('does not exist') })
  })

  it('takes no copies out of the memory where there are no echoes', async () => {
    const shell = await project()
    rmSync(join(shell.root, '.recall'), { recursive: true })
    const { code, out } = await shell.run('echoes', 'doctor')
    expect([code, out]).toEqual([0, expect.stringContaining('there are no echoes in')])
    expect((await shell.run('search', 'one query')).code).toBe(0)
  })
})

describe('what only a person does', () => {
  const etched = ['echoes', 'add', 'reviewer', 'Stack', '--layer', 'etched', ...entry]

  it('refuses etched entries where nobody sits, whatever is given', async () => {
    for (const answer of [null, '', 'no', 'n', 'human']) {
      const shell = await project(answer)
      for (const argv of [
        etched,
        [...etched, '--yes', '--lead'],
        ['echoes', 'move', 'reviewer/inscribed-001', '--to', 'etched', '--yes'],
      ]) {
        expect(await shell.run(...argv)).toMatchObject({
          code: 3,
          err: expect.stringContaining('only a person'),
        })
      }
      expect(memoryOf(shell)).not.toContain('etched')
    }
  })

  it('keeps the etched in a reset, unless a person takes them out', async () => {
    const shell = await project('yes')
    expect((await shell.run(...etched)).code).toBe(0)
    await shell.run('echoes', 'reset', 'reviewer', '--yes')
    expect(memoryOf(shell)).toContain('Stack')
    const nobody = createShell(shell.root)
    expect((await nobody.run('echoes', 'reset', 'reviewer', '--etched', '--yes')).code).toBe(3)
    expect(memoryOf(shell)).toContain('Stack')
    expect((await shell.run('echoes', 'reset', 'reviewer', '--etched', '--yes')).code).toBe(0)
    expect(memoryOf(shell)).not.toContain('Stack')
    expect((await nobody.run('echoes', 'restore', 'reviewer/etched-001')).code).toBe(3)
    expect((await shell.run('echoes', 'restore', 'reviewer/etched-001')).code).toBe(0)
  })

  const details = ['--symptom', 'Slow', '--root-cause', 'A query for each row', '--solution', 'Join']
  const promote = (category: string, ...more: string[]) => [
    'echoes',
    'promote',
    'reviewer/etched-001',
    '--category',
    category,
    ...details,
    ...more,
  ]

  it('promotes an echo to a document that is found again', async () => {
    const shell = await project('y')
    await shell.run(...etched)
    expect((await shell.run(...promote('performance'))).out).toContain('it is not actionable for people')
    const plan = await shell.json(...promote('performance', '--actionable', '--tags', 'sql,lists'))
    expect(plan).toMatchObject({ applied: false, promotion: { decision: 'promote' } })
    expect(existsSync(join(shell.root, 'docs'))).toBe(false)
    expect((await shell.run(...promote('performance', '--actionable', '--yes'))).code).toBe(0)
    const { documents } = await shell.json<{ documents: { path: string; echo_ref: string }[] }>(
      'echoes',
      'remembrance',
      'performance',
      'each',
      'row',
    )
    expect(documents).toMatchObject([{ path: 'performance/stack.md', verified_by: 'agent' }])
    const [document] = documents
    expect((await shell.run('echoes', 'remembrance', 'security')).code).toBe(1)
    expect((await shell.run(...promote('performance', '--actionable', '--yes'))).code).toBe(1)
    const stale = document?.echo_ref.replace(/.{64}$/, '0'.repeat(64)) ?? ''
    expect(await shell.run('echoes', 'promote', stale, '--category', 'tooling')).toMatchObject({
      code: 3,
      err: expect.stringContaining('says something else now'),
    })
    expect((await shell.run(...promote('../x', '--actionable', '--yes'))).code).toBe(2)
  })

  it('takes a reference by the text of an echo without its secrets alone', async () => {
    const shell = await project('y')
    await shell.run(...etched)
    const path = join(shell.root, '.recall/echoes/reviewer/MEMORY.md')
    const token = `${'ghp_'}${'a1B2'.repeat(9)}`
    const text = readFileSync(path, 'utf8')
    const at = text.indexOf('### ', text.indexOf('### ') + 1)
    const raw = text.slice(at).replace(learning, `$& It needs ${token}.`)
    writeFileSync(path, text.slice(0, at) + raw)
    const promote = (said: string) => {
      const hash = createHash('sha256').update(said.trim()).digest('hex')
      return shell.run('echoes', 'promote', `reviewer/etched-001@sha256:${hash}`, '--category', 'tooling')
    }
    expect(await promote(raw.replace(token, '[redacted:github]'))).toMatchObject({
      out: expect.stringContaining('symptom, root_cause and solution_summary'),
      err: '',
    })
    expect(await promote(raw)).toMatchObject({ code: 3, err: expect.stringContaining('something else now') })
  })

  it('shows what a document says, and fails where one cannot be read', async () => {
    const shell = await project('y')
    await shell.run(...etched)
    const folder = join(shell.root, 'notes')
    const tags = ['--tags', 'sql,lists']
    await shell.run(...promote('performance', '--actionable', '--yes', '--docs', 'notes', ...tags))
    const about = 'performance; tags sql, lists; confidence high; verified by agent; 2026-03-06'
    const shown = `performance/stack.md\n  Stack\n  ${about}\n  Slow\n  → Join\n`
    const find = ['echoes', 'remembrance', '--docs', 'notes']
    expect(await shell.run(...find)).toEqual({ code: 0, out: shown, err: '' })
    writeFileSync(join(folder, 'performance/broken.md'), '---\ntitle: [\n---\n')
    expect(await shell.run(...find)).toEqual({
      code: 3,
      out: shown,
      err: expect.stringContaining('performance/broken.md'),
    })
    expect((await shell.run(...find, 'zebra')).out).toBe('No document fits.\n')
    rmSync(join(folder, 'performance/broken.md'))
    const path = join(folder, 'performance/stack.md')
    writeFileSync(path, readFileSync(path, 'utf8').replace(/sha256:\w+/, 'sha256:a1b2c3...'))
    const problem = 'performance/stack.md: echo_ref: must name an echo and its hash'
    expect(await shell.run(...find)).toEqual({ code: 0, out: shown, err: `recall: ${problem}\n` })
    expect(await shell.json(...find)).toMatchObject({
      documents: [{ echo_ref: expect.stringMatching(/#etched-001@sha256:a1b2c3\.\.\.$/) }],
      problems: [problem],
    })
  })

  it('says which documents it could not compare with', async () => {
    const shell = await project('y')
    await shell.run(...etched)
    const folder = join(shell.root, 'docs/solutions/performance')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'broken.md'), '---\ntitle: [\n---\n')
    for (const more of [[], ['--yes']]) {
      const { code, err } = await shell.run(...promote('performance', '--actionable', ...more))
      expect(code).toBe(0)
      expect(err).toContain('not compared: performance/broken.md')
    }
  })

  it('publishes security only when the person at the terminal says yes', async () => {
    const shell = await project('y')
    await shell.run(...etched)
    const nobody = createShell(shell.root)
    const blocked = await nobody.run(...promote('security', '--actionable', '--yes'))
    expect(blocked).toMatchObject({ code: 1, out: expect.stringContaining('security needs a person') })
    expect(existsSync(join(shell.root, 'docs/solutions/security/stack.md'))).toBe(false)
    expect((await nobody.run(...promote('security', '--verified-by', 'human'))).code).toBe(2)
    expect((await shell.run(...promote('security', '--actionable', '--yes'))).code).toBe(0)
    const text = readFileSync(join(shell.root, 'docs/solutions/security/stack.md'), 'utf8')
    expect(text).toContain('verified_by: "human"')
  })
})

describe('found by others', () => {
  it('surfaces what fits a task, fenced, and counts its use', async () => {
    const shell = await project()
    const { code, out } = await shell.run('echoes', 'surface', '--for', 'a list of users', '--workflow', 'w1')
    expect(code).toBe(0)
    expect(out).toMatch(
      /^<recalled-memory source="echoes"[\s\S]*Load what a list[\s\S]*<\/recalled-memory>\n$/,
    )
    expect(await shell.json('echoes', 'show', 'reviewer/inscribed-001')).toMatchObject({ sessions: 1 })
    expect(await shell.run('echoes', 'surface', '--for', 'zebra')).toEqual({
      code: 1,
      out: '',
      err: 'recall: no echo fits the task\n',
    })
  })

  it('surfaces the documents that fit as well, and names one that cannot be read', async () => {
    const shell = await project()
    const folder = join(shell.root, 'docs/solutions/performance')
    mkdirSync(folder, { recursive: true })
    const head = [
      'title: Zebra crossing',
      'category: performance',
      'tags: []',
      'date: "2026-01-01"',
      'symptom: It waits.',
      'root_cause: It stands.',
      'solution_summary: Let it walk.',
      'confidence: high',
      'verified_by: human',
    ]
    writeFileSync(join(folder, 'zebra.md'), `---\n${head.join('\n')}\n---\nMore.\n`)
    writeFileSync(join(folder, 'broken.md'), 'none')
    const surfaced = await shell.run('echoes', 'surface', '--for', 'zebra')
    expect(surfaced).toMatchObject({
      code: 0,
      err: expect.stringContaining('recall: performance/broken.md: '),
    })
    expect(surfaced.out).toContain('\n- Zebra crossing (solution performance/zebra.md): Let it walk.\n')
    expect(await shell.json('echoes', 'surface', '--for', 'zebra')).toMatchObject({
      echoes: [],
      solutions: [{ path: 'performance/zebra.md', title: 'Zebra crossing' }],
    })
  })

  it('says which role has nothing yet, and surfaces what the others know', async () => {
    const shell = await project()
    expect(await shell.run('echoes', 'surface', 'reviewer', 'reviwer', '--for', 'a list')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Load what a list'),
      err: 'recall: there is no role reviwer yet\n',
    })
  })

  it('is found by a search of the memory as long as it stands', async () => {
    const shell = await project()
    const search = () => shell.json<{ results: { key: string }[] }>('search', 'one query', '--ranked')
    expect((await search()).results).toMatchObject([{ key: 'echo:reviewer/inscribed-001' }])
    await shell.run('echoes', 'remove', 'reviewer/inscribed-001', '--yes')
    expect((await search()).results).toEqual([])
  })
})
