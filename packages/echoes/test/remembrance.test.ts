import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  appendEntries,
  emptyEchoes,
  emptySidecar,
  findRemembrance,
  identify,
  type KnownEcho,
  type PromotionDetails,
  parseRemembrance,
  planPromotion,
  printRemembrance,
  promoteEcho,
  type RemembranceCategory,
} from '../src/index.ts'
import { entryOf } from './support.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'echoes-'))
  folders.push(folder)
  return folder
}

const echoOf = (changes: Parameters<typeof entryOf>[0] = {}): KnownEcho => {
  const document = appendEntries(emptyEchoes('reviewer'), [
    entryOf({ layer: 'etched', confidence: 1, ...changes }),
  ])
  const [echo] = identify(document, emptySidecar()).echoes
  if (!echo) throw new Error('no echo')
  return echo
}
const details: PromotionDetails = {
  category: 'performance',
  tags: ['n-plus-one', 'eager-loading', 'orm'],
  symptom: 'The list of users takes five seconds',
  root_cause: 'A query for every row of the list of users',
  solution_summary: 'Load the posts with the users',
  actionable: true,
}

describe('promoteEcho', () => {
  it('writes a document whose front matter is valid and names the echo by its hash', async () => {
    const folder = await newFolder()
    const { decision, path } = await promoteEcho({ folder }, 'reviewer', echoOf(), details)
    expect([decision, path]).toEqual(['promote', 'performance/queries-in-loops.md'])
    const { remembrance, body } = parseRemembrance(await readFile(join(folder, path), 'utf8'), path)
    expect(remembrance).toMatchObject({ title: 'Queries in loops', confidence: 'high', verified_by: 'agent' })
    expect(remembrance.requires_human_approval).toBe(false)
    expect(remembrance.echo_ref).toMatch(/^echoes\/reviewer\/MEMORY\.md#etched-001@sha256:[0-9a-f]{64}$/)
    expect(body).toContain('Load what a list shows with one query.')
    expect(findRemembrance(folder, { search: 'EVERY row' }).documents).toHaveLength(1)
    expect(findRemembrance(folder, { search: 'every column' }).documents).toEqual([])
    expect(findRemembrance(folder, { category: 'tooling' }).documents).toEqual([])
  })

  it.each<[string, KnownEcho, Partial<PromotionDetails>, RegExp]>([
    ['An ETCHED echo becomes a Remembrance document', echoOf({ layer: 'inscribed' }), {}, /only etched/],
    ['a clear problem-solution pair: symptom', echoOf(), { symptom: ' ' }, /problem and its solution/],
    ['a clear problem-solution pair: root_cause', echoOf(), { root_cause: '' }, /problem and its solution/],
    [
      'a clear problem-solution pair: solution',
      echoOf(),
      { solution_summary: ' ' },
      /problem and its solution/,
    ],
    ['confidence: high OR referenced by 2+ sessions', echoOf({ confidence: 0.79 }), {}, /not validated/],
    ['… 1 session', { ...echoOf({ confidence: 0.79 }), sessions: 1 }, {}, /not validated/],
    ['actionable for humans', echoOf(), { actionable: false }, /not actionable/],
  ])('skips: %s', async (_, echo, changes, reason) => {
    const folder = await newFolder()
    const { decision, reasons } = await promoteEcho({ folder }, 'reviewer', echo, { ...details, ...changes })
    expect(decision).toBe('skip')
    expect(reasons).toEqual([expect.stringMatching(reason)])
    expect(findRemembrance(folder).documents).toEqual([])
  })

  it('writes no secret that stands in the memory', async () => {
    const folder = await newFolder()
    const echo = echoOf({ learning: 'Log in with password: hunter2hunter2 here.' })
    const { path } = await promoteEcho({ folder }, 'reviewer', echo, details)
    expect(await readFile(join(folder, path), 'utf8')).not.toContain('hunter2')
  })

  it.each([
    [0.8, 0, 'high'],
    [0.5, 2, 'medium'],
  ])('takes a confidence of %d after %i sessions for valid', async (confidence, sessions, written) => {
    const echo = { ...echoOf({ confidence }), sessions }
    const promotion = await promoteEcho({ folder: await newFolder() }, 'reviewer', echo, details)
    expect([promotion.decision, promotion.remembrance.confidence]).toEqual(['promote', written])
  })

  it('publishes security only when a person at the terminal says so', async () => {
    const folder = await newFolder()
    const security = { ...details, category: 'security' as const }
    const forged = { ...security, verified_by: 'human', requires_human_approval: false }
    expect((await promoteEcho({ folder }, 'reviewer', echoOf(), forged)).decision).toBe('blocked')
    const declined = { folder, askHuman: async () => false }
    expect((await promoteEcho(declined, 'reviewer', echoOf(), security)).decision).toBe('blocked')
    expect(findRemembrance(folder).documents).toEqual([])
    const agreed = { folder, askHuman: async () => true }
    const { decision, remembrance } = await promoteEcho(agreed, 'reviewer', echoOf(), security)
    expect([decision, remembrance.verified_by]).toEqual(['promote', 'human'])
  })

  it.each<[string, Parameters<typeof entryOf>[0], Partial<PromotionDetails>, string]>([
    ['title match', {}, { root_cause: 'x', tags: [] }, 'the same title'],
    ['root_cause similarity', { title: 'Other' }, { tags: [] }, 'a similar root cause'],
    ['3+ tag overlap', { title: 'Other' }, { root_cause: 'x' }, '3 tags in common'],
  ])('finds duplicates: %s', async (_, entry, changes, reason) => {
    const folder = await newFolder()
    await promoteEcho({ folder }, 'reviewer', echoOf(), details)
    const again = await promoteEcho({ folder }, 'reviewer', echoOf(entry), { ...details, ...changes })
    expect(again).toMatchObject({ decision: 'skip', duplicates: [{ reason }] })
  })

  it.each([
    ['N+1', 'n+1'],
    ['no DB', 'no DB'],
    ['缓存', '缓存'],
    ['连接池没有释放连接，导致超时', '连接池没有释放连接导致超时'],
    ['सेवा देर से ताज़ा हुई', 'सेवा देर से ताज़ा हुई।'],
  ])('finds what has the same root cause in any script: %s', async (first, second) => {
    const folder = await newFolder()
    const promote = (title: string, root_cause: string) =>
      promoteEcho({ folder }, 'reviewer', echoOf({ title }), { ...details, tags: [], root_cause })
    expect((await promote('First', first)).decision).toBe('promote')
    expect((await promote('Second', second)).duplicates).toMatchObject([{ reason: 'a similar root cause' }])
  })

  it.each<[string, Partial<PromotionDetails>, string[]]>([
    ['most words', { root_cause: 'the QUERIES for every row of a list', tags: [] }, ['a similar root cause']],
    ['half of the words', { root_cause: 'a query for rows', tags: [] }, []],
    ['two tags', { root_cause: 'x', tags: ['ORM', 'orm', 'n-plus-one', 'sql'] }, []],
  ])('takes for a duplicate what has much in common: %s', async (_, changes, reasons) => {
    const folder = await newFolder()
    await promoteEcho({ folder }, 'reviewer', echoOf(), details)
    const other = { ...details, ...changes }
    const { decision, duplicates } = await promoteEcho(
      { folder },
      'reviewer',
      echoOf({ title: 'Other' }),
      other,
    )
    expect(decision).toBe(reasons.length > 0 ? 'skip' : 'promote')
    expect(duplicates.map(({ reason }) => reason)).toEqual(reasons)
  })

  it('asks no person about what is not to be published anyway, and looks again once one has agreed', async () => {
    const folder = await newFolder()
    const security = { ...details, category: 'security' as const }
    const asked: string[] = []
    const askHuman = async (question: string) => {
      asked.push(question)
      await promoteEcho({ folder }, 'reviewer', echoOf(), details)
      return true
    }
    const inscribed = await promoteEcho(
      { folder, askHuman },
      'reviewer',
      echoOf({ layer: 'inscribed' }),
      security,
    )
    expect([inscribed.decision, asked]).toEqual(['skip', []])
    const meanwhile = await promoteEcho({ folder, askHuman }, 'reviewer', echoOf(), security)
    expect(meanwhile).toMatchObject({ decision: 'skip', duplicates: [{ reason: 'the same title' }] })
    expect(asked).toHaveLength(1)
  })

  it('makes no hash of a secret for the name of an echo', () => {
    const [one, other] = ['a', 'b'].map((letter) => {
      const learning = `Use ${'ghp_'}${letter.repeat(36)} for it.`
      return planPromotion('reviewer', echoOf({ learning }), details, []).remembrance.echo_ref
    })
    expect(one).toBe(other)
  })

  it('names an echo by the hash of its text, whatever its line endings', () => {
    const lines = echoOf()
    const windows = { ...lines, block: { ...lines.block, text: lines.block.text.replaceAll('\n', '\r\n') } }
    const hash = createHash('sha256').update(lines.block.text.trim()).digest('hex')
    for (const echo of [lines, windows])
      expect(planPromotion('reviewer', echo, details, []).remembrance.echo_ref).toBe(
        `echoes/reviewer/MEMORY.md#etched-001@sha256:${hash}`,
      )
  })

  it.each([
    ['Über naïve Caches!', /^uber-naive-caches$/],
    ['数据库', /^echo-[0-9a-f]{8}$/],
    [`${'a'.repeat(79)} b`, /^a{79}$/],
  ])('names a document after %s', (title, name) => {
    const plan = planPromotion('reviewer', echoOf({ title }), details, [])
    expect(/^performance\/(.*)\.md$/.exec(plan.path)?.[1]).toMatch(name)
    const other = { ...plan.remembrance, title: 'Other', root_cause: 'x', tags: [] }
    const taken = [{ path: plan.path, remembrance: other, body: '' }]
    expect(planPromotion('reviewer', echoOf({ title }), details, taken)).toMatchObject({
      decision: 'promote',
      path: plan.path.replace('.md', '-2.md'),
    })
  })

  it('writes over no document whose name it would have', async () => {
    const folder = await newFolder()
    await mkdir(join(folder, 'performance'))
    await writeFile(join(folder, 'performance/queries-in-loops.md'), 'mine')
    const { path } = await promoteEcho({ folder }, 'reviewer', echoOf(), details)
    expect(path).toBe('performance/queries-in-loops-2.md')
    expect(await readFile(join(folder, 'performance/queries-in-loops.md'), 'utf8')).toBe('mine')
    expect(findRemembrance(folder).problems).toHaveLength(1)
  })

  it('reads markdown only, whatever else lies beside it', async () => {
    const folder = await newFolder()
    await promoteEcho({ folder }, 'reviewer', echoOf(), details)
    await writeFile(join(folder, 'performance/flame.svg'), '<svg/>')
    expect(findRemembrance(folder)).toMatchObject({ documents: [{ body: expect.any(String) }], problems: [] })
  })

  it.each(['../security', 'performance/../..', 'other', ''])('refuses the category %j', async (category) => {
    const folder = await newFolder()
    const changed = { ...details, category: category as RemembranceCategory }
    await expect(promoteEcho({ folder }, 'reviewer', echoOf(), changed)).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
    })
  })

  it('follows no category out of its folder', async () => {
    const folder = await newFolder()
    const elsewhere = await newFolder()
    await promoteEcho({ folder: elsewhere }, 'reviewer', echoOf(), details)
    await symlink(join(elsewhere, 'performance'), join(folder, 'performance'))
    const refused = { code: 'MEMORY_INVALID_INPUT' }
    await expect(promoteEcho({ folder }, 'reviewer', echoOf(), details)).rejects.toMatchObject(refused)
    expect(() => findRemembrance(folder)).toThrow(expect.objectContaining(refused))
  })
})

it('says what is wrong with front matter', async () => {
  const { remembrance } = await promoteEcho({ folder: await newFolder() }, 'reviewer', echoOf(), details)
  expect(parseRemembrance(printRemembrance(remembrance, 'x'), 'x').remembrance).toEqual(remembrance)
  expect(() => printRemembrance({ ...remembrance, category: 'security' }, '')).toThrow(
    'verified_by: must be human for the category security',
  )
  expect(() => parseRemembrance('---\ntitle: x\n---\n', 'a.md')).toThrow(/^a\.md: category: .*; tags: /)
  expect(() => parseRemembrance('---\n- x\n---\n', 'a.md')).toThrow(/^a\.md: front matter: /)
})

it('finds a document whose reference to an echo has another form, and says so; writes none', async () => {
  const folder = await newFolder()
  const { remembrance } = await promoteEcho({ folder: await newFolder() }, 'reviewer', echoOf(), details)
  const printed = printRemembrance(remembrance, 'x')
  await mkdir(join(folder, 'performance'))
  const other = 'echoes/reviewer/MEMORY.md#etched-004@sha256:a1b2c3...'
  const write = (name: string, reference: string) =>
    writeFile(join(folder, 'performance', name), printed.replace(/echo_ref: .*/, `echo_ref: ${reference}`))
  await write('a.md', `"${other}"`)
  await write('b.md', '[1]')
  const { documents, problems } = findRemembrance(folder)
  expect(problems).toEqual([])
  const { echo_ref: _, ...rest } = remembrance
  expect(documents.map((document) => document.remembrance)).toEqual([{ ...rest, echo_ref: other }, rest])
  expect(documents.map(({ problem }) => problem)).toEqual([
    'performance/a.md: echo_ref: must name an echo and its hash',
    expect.stringMatching(/^performance\/b\.md: echo_ref: /),
  ])
  expect(() => printRemembrance({ ...rest, echo_ref: other }, 'x')).toThrow('echo_ref: must name an echo')
  await writeFile(join(folder, 'performance/a.md'), `---\necho_ref: ${other}\n---\n`)
  const security = printed.replace(/echo_ref: .*/, 'echo_ref: 1').replace('"performance"', '"security"')
  await writeFile(join(folder, 'performance/b.md'), security)
  expect(findRemembrance(folder)).toEqual({
    documents: [],
    problems: [
      expect.stringContaining('performance/a.md: title: '),
      'performance/b.md: verified_by: must be human for the category security',
    ],
  })
})

it.each([
  ['broken', 'title: [', expect.any(String)],
  ['of too many levels', `tags: ${'['.repeat(200)}${']'.repeat(200)}`, 'it is nested too deep'],
  ['with a list as a key', '? [a, b]\n: c', 'a list or a mapping cannot be a key'],
])('reads no front matter that is YAML %s', (_, head, message) => {
  expect(() => parseRemembrance(`---\n${head}\n---\n`, 'a.md')).toThrow(
    expect.objectContaining({
      code: 'MEMORY_CORRUPTION',
      message: 'a.md: the front matter is not YAML',
      cause: expect.objectContaining({ message }),
    }),
  )
})

it('reads a document that an editor gave a byte order mark, and no front matter but at the top', async () => {
  const { remembrance } = await promoteEcho({ folder: await newFolder() }, 'reviewer', echoOf(), details)
  const printed = printRemembrance(remembrance, 'x\n---\ny')
  expect(parseRemembrance(printed, 'x').body).toBe('\nx\n---\ny\n')
  expect(parseRemembrance(`\uFEFF${printed.replaceAll('\n', '\r\n')}`, 'x').remembrance).toEqual(remembrance)
  expect(() => parseRemembrance(`A note.\n${printed}`, 'x')).toThrow('title: ')
})
