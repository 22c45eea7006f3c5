import { appendFileSync, utimesSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { applyChanges } from '../src/files/transaction.ts'
import { openEchoes, printEntry } from '../src/index.ts'
import { entryOf } from './support.ts'

const now = Date.parse('2026-06-30T12:00:00Z')
const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** Echoes of a folder that holds these files. */
async function open(files: Record<string, string | Buffer> = {}, clock = (): number => now) {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  folders.push(root)
  const path = (name: string): string => join(root, name)
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(path(name)), { recursive: true })
    await writeFile(path(name), content)
  }
  const text = (name: string): Promise<string> => readFile(path(name), 'utf8')
  const echoes = openEchoes({ root, clock })
  const titles = async (): Promise<string[]> =>
    (await echoes.read('reviewer')).echoes.map(({ entry }) => entry.title)
  return { root, echoes, path, text, titles }
}

describe('a secret that swallows marks of the format', () => {
  const begin = '-----BEGIN RSA PRIVATE KEY-----'
  const end = '-----END RSA PRIVATE KEY-----'
  const body = 'A'.repeat(64)

  it('leaves the finding where it is when too little of the entry would be left', async () => {
    const finding = printEntry(entryOf({ source: begin, learning: `${body} ${end}` }))
    const { echoes, text } = await open({ 'reviewer/ann-findings.md': finding })
    const { added, kept } = await echoes.consolidate('reviewer')
    expect(added).toBe(0)
    expect(kept).toMatchObject([{ agent: 'ann', line: 1, reasons: [expect.stringContaining('secret')] }])
    expect(await text('reviewer/ann-findings.md')).toBe(finding)
    const same = entryOf({ source: begin, learning: `${body} ${end}` })
    await expect(echoes.add('reviewer', same)).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
  })

  it('never writes it down, whatever the rest looks like then', async () => {
    const fenced = `${begin}\n${body}\n\`\`\`\n${end}\n# no heading before\n\`\`\`\n`
    const { echoes, text } = await open({ 'reviewer/ann-findings.md': printEntry(entryOf()) + fenced })
    await echoes.consolidate('reviewer')
    expect(await text('reviewer/MEMORY.md').catch(() => '')).not.toContain(body)
  })
})

it('writes nothing through a folder that is a link, and goes on', async () => {
  const { echoes, path, titles } = await open({ 'elsewhere/.keep': '', 'reviewer/.keep': '' })
  await echoes.add('reviewer', entryOf())
  await symlink(path('elsewhere'), path('reviewer/archive'))
  await expect(echoes.applyEdit(await echoes.planRemoval('reviewer'))).rejects.toMatchObject({
    code: 'MEMORY_FORBIDDEN',
    message: expect.stringContaining('reviewer/archive is a link'),
  })
  await echoes.add('reviewer', entryOf({ title: 'next' }))
  expect(await titles()).toEqual([entryOf().title, 'next'])
})

it.each([0o600, 0o664])('leaves the mode of a file: %i', async (mode) => {
  const { echoes, path } = await open()
  await echoes.add('reviewer', entryOf())
  await chmod(path('reviewer/MEMORY.md'), mode)
  // Windows knows fewer modes.
  const before = (await stat(path('reviewer/MEMORY.md'))).mode
  await echoes.add('reviewer', entryOf({ title: 'next' }))
  expect((await stat(path('reviewer/MEMORY.md'))).mode).toBe(before)
})

it('reads again every confidence that it has written', async () => {
  const { echoes } = await open()
  await echoes.add('reviewer', entryOf({ confidence: 1e-7 }))
  const { echoes: entries, problems } = await echoes.read('reviewer')
  expect(problems).toEqual([])
  expect(entries[0]?.entry.confidence).toBeCloseTo(1e-7, 12)
})

it('reads what a process had begun to write before there was a memory', async () => {
  const finding = printEntry(entryOf())
  const path = 'reviewer/MEMORY.md'
  const { echoes, titles, text } = await open({
    'reviewer/ann-findings.md': finding,
    '.journal.json': JSON.stringify({ version: 1, steps: [{ path, content: finding, before: null }] }),
  })
  expect(await titles()).toEqual([entryOf().title])
  expect(await text(path)).toBe(finding)
  expect(await echoes.roles()).toEqual(['reviewer'])
})

it('leaves a file as it is that is not UTF-8, and says which', async () => {
  const latin = Buffer.from('# Reviewer\n\nCaf\xe9\n', 'latin1')
  const { echoes, path } = await open({ 'reviewer/MEMORY.md': latin })
  await expect(echoes.add('reviewer', entryOf())).rejects.toMatchObject({
    code: 'MEMORY_CORRUPTION',
    message: expect.stringContaining('MEMORY.md is not UTF-8'),
  })
  expect(await readFile(path('reviewer/MEMORY.md'))).toEqual(latin)
  const [found] = await echoes.examine()
  expect(found).toMatchObject({ role: 'reviewer', ok: false, message: expect.stringContaining('UTF-8') })
})

describe('findings that cannot be read', () => {
  const latin = Buffer.from('# Findings\n\nCaf\xe9\n', 'latin1')
  const files = {
    'reviewer/eve-findings.md': latin,
    'reviewer/bob-findings.md': printEntry(entryOf({ source: 'rune:review elder' })),
  }

  it('stay, are named, and keep nobody else from being consolidated', async () => {
    const { echoes, path, titles } = await open(files)
    const { added, kept } = await echoes.consolidate('reviewer')
    expect(added).toBe(1)
    expect(kept).toEqual([{ agent: 'eve', line: 1, reasons: [expect.stringContaining('not UTF-8')] }])
    expect(await readFile(path('reviewer/eve-findings.md'))).toEqual(latin)
    expect(await titles()).toEqual([entryOf().title])
  })

  it('are named by a migration of all the others, as is a role whose memory cannot be read', async () => {
    const { echoes, path, text } = await open({
      ...files,
      'tester/MEMORY.md': latin,
      'tester/bob-findings.md': files['reviewer/bob-findings.md'],
    })
    const problem = expect.stringContaining('not UTF-8')
    expect(await echoes.migrate({ elder: 'lead' })).toMatchObject([
      { path: 'tester', backup: null, renamed: [], problem },
      { path: 'reviewer/bob-findings.md', renamed: [{ to: 'lead' }] },
      { path: 'reviewer/eve-findings.md', backup: null, renamed: [], problem },
    ])
    expect(await text('reviewer/bob-findings.md')).toContain('rune:review lead')
    expect(await text('tester/bob-findings.md')).toContain('rune:review elder')
    expect(await readFile(path('reviewer/eve-findings.md'))).toEqual(latin)
  })

  it('are found by an examination, with the entries that wait for a person', async () => {
    const { echoes } = await open({
      ...files,
      'reviewer/ann-findings.md': `${printEntry(entryOf({ layer: 'etched' }))}\n### [2026-13-01] Bad\n\nA note.\n`,
    })
    const wrong = (await echoes.examine()).filter(({ ok }) => !ok)
    expect(wrong.map(({ role, message }) => [role, message])).toEqual([
      ['reviewer', 'reviewer/ann-findings.md, line 1 is not consolidated: only a person adds etched entries'],
      [
        'reviewer',
        expect.stringContaining('reviewer/ann-findings.md, line 10 is not consolidated: the date'),
      ],
      ['reviewer', expect.stringContaining('eve-findings.md is not UTF-8')],
    ])
  })
})

it.each(['MEMORY.md', 'ann-findings.md', 'knowledge.md'])('follows no link in place of %s', async (name) => {
  const { echoes, path } = await open({ 'elsewhere.md': printEntry(entryOf()), 'reviewer/.keep': '' })
  await symlink(path('elsewhere.md'), path(`reviewer/${name}`))
  const call = name === 'knowledge.md' ? echoes.planKnowledge('reviewer') : echoes.consolidate('reviewer')
  await expect(call).rejects.toMatchObject({ code: 'MEMORY_FORBIDDEN' })
})

it.each(['', 'null', '\u0000\u0000', Buffer.from([0xff, 0xfe])])(
  'takes a lock that a power cut left as %j for free',
  async (content) => {
    const { echoes, titles, path } = await open({ '.lock/1': content })
    utimesSync(path('.lock/1'), 0, 0)
    await echoes.add('reviewer', entryOf())
    expect(await titles()).toEqual([entryOf().title])
  },
)

it('names the folder that cannot be a role', async () => {
  const { echoes } = await open({ 'my notes/MEMORY.md': '' })
  await expect(echoes.read('my notes')).rejects.toThrow("'my notes' is not a valid role name")
})

describe('files that others write without asking for the lock', () => {
  const first = printEntry(entryOf({ title: 'First' }))
  // Two that differ in their words make a copy in the archive, which asks for the day after everything was read.
  const differing = `${first}\n${printEntry(entryOf({ title: 'First', learning: 'In other words.' }))}`

  it('brings in a finding that an agent adds while its file is being consolidated', async () => {
    let late = `\n${printEntry(entryOf({ title: 'Late' }))}`
    const { echoes, path, titles } = await open({ 'reviewer/ann-findings.md': differing }, () => {
      appendFileSync(path('reviewer/ann-findings.md'), late)
      late = ''
      return now
    })
    await echoes.consolidate('reviewer')
    expect((await titles()).sort()).toEqual(['First', 'Late'])
  })

  it('keeps what a person writes into the memory meanwhile', async () => {
    let note = '\nA note of Ada.\n'
    const files = { 'reviewer/MEMORY.md': '# Reviewer\n', 'reviewer/ann-findings.md': differing }
    const { echoes, path, text } = await open(files, () => {
      appendFileSync(path('reviewer/MEMORY.md'), note)
      note = ''
      return now
    })
    await echoes.consolidate('reviewer')
    expect(await text('reviewer/MEMORY.md')).toContain('A note of Ada.')
    expect(await text('reviewer/MEMORY.md')).toContain('First')
  })

  it('does not say that it wrote a memory that somebody writes at the same moment', async () => {
    const { root, path, text } = await open({ 'reviewer/MEMORY.md': 'old' })
    const changes = [
      { path: 'reviewer/MEMORY.md', content: 'new', seen: 'old' },
      {
        path: 'reviewer/knowledge.md',
        // Asked for when the memory has been compared already and is not written yet.
        get content() {
          writeFileSync(path('reviewer/MEMORY.md'), 'by hand')
          return 'text'
        },
      },
    ]
    expect(() => applyChanges(root, changes)).toThrow('MEMORY.md was written by somebody else')
    expect(await text('reviewer/MEMORY.md')).toBe('by hand')
  })

  it('gives up, with nothing changed, where somebody writes all the time', async () => {
    const { echoes, path, text } = await open({ 'reviewer/ann-findings.md': differing }, () => {
      appendFileSync(path('reviewer/ann-findings.md'), '\n')
      return now
    })
    await expect(echoes.consolidate('reviewer')).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
    expect(await text('reviewer/ann-findings.md')).toContain(differing)
  })
})

it('sees every entry below a fence that nobody closed', async () => {
  const open1 = `${printEntry(entryOf({ title: 'First', layer: 'traced' }))}\n\`\`\`\nnever closed\n\n`
  const { echoes, titles } = await open({
    'reviewer/MEMORY.md': open1 + printEntry(entryOf({ title: 'Second', layer: 'etched' })),
    'reviewer/ann-findings.md': `${open1}${printEntry(entryOf({ title: 'Third' }))}`,
  })
  expect(await titles()).toEqual(['First', 'Second'])
  await echoes.consolidate('reviewer')
  await echoes.add('reviewer', entryOf({ title: 'Fourth' }))
  expect(await titles()).toEqual(['First', 'Second', 'Third', 'Fourth'])
})

describe('an entry that was shortened', () => {
  const traced = entryOf({ layer: 'traced', learning: 'One sentence. And another one.' })
  async function shorten() {
    const all = ['A', 'B', 'C'].map((title) => printEntry({ ...traced, title })).join('\n')
    const opened = await open({ 'reviewer/MEMORY.md': all + '\n'.repeat(150) }, () =>
      Date.parse(traced.verified),
    )
    const plan = await opened.echoes.planPrune('reviewer')
    expect(plan.steps).toMatchObject([{ id: 'traced-002', action: 'compress' }])
    await opened.echoes.applyPrune(plan)
    const entry = async () =>
      (await opened.echoes.read('reviewer')).echoes.find(({ id }) => id === 'traced-002')?.entry
    return { ...opened, entry }
  }

  it('keeps what was confirmed since when it is restored', async () => {
    const { echoes, entry } = await shorten()
    const confirmed = { ...traced, title: 'B', verified: '2026-02-02', confidence: 0.95 }
    await echoes.appendFinding('reviewer', 'ann', confirmed)
    await echoes.consolidate('reviewer')
    expect(await echoes.restoreEntry('reviewer', 'traced-002')).toBe(true)
    expect(await entry()).toEqual(confirmed)
  })

  it('keeps what a person wrote instead', async () => {
    const { echoes, path, text, entry } = await shorten()
    const edited = (await text('reviewer/MEMORY.md')).replace(/- One sentence\.\n/, '- My own words.\n')
    await writeFile(path('reviewer/MEMORY.md'), edited)
    await expect(echoes.restoreEntry('reviewer', 'traced-002')).rejects.toMatchObject({
      code: 'MEMORY_CONFLICT',
    })
    expect((await entry())?.learning).toBe('My own words.')
  })
})
