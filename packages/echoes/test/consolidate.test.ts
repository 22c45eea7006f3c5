import { appendFileSync, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type EchoEntry, openEchoes, parseEchoes, printEntry } from '../src/index.ts'
import { bundlePackage, runChild } from './child-script.ts'
import { anyEntry, entryOf } from './support.ts'

const now = Date.parse('2026-06-30T12:00:00Z')
const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})
const newRoot = async (): Promise<string> => {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  folders.push(root)
  return root
}
const open = async (lead = true) => {
  const root = await newRoot()
  const echoes = openEchoes({ root, lead, clock: () => now })
  const path = (name: string) => join(root, 'reviewer', name)
  return { root, echoes, path, memory: () => readFile(path('MEMORY.md'), 'utf8') }
}
const entriesOf = (text: string): EchoEntry[] =>
  parseEchoes(text).blocks.flatMap(({ entry }) => (entry ? [entry] : []))

describe('consolidate', () => {
  it('appends what is new, joins what is known, and removes the findings', async () => {
    const { echoes, path, memory } = await open()
    await echoes.appendFinding('reviewer', 'ann', entryOf())
    await echoes.consolidate('reviewer')
    const later = entryOf({ date: '2026-02-02', verified: '2026-02-02', confidence: 0.6 })
    await echoes.appendFinding('reviewer', 'ann', later)
    await echoes.appendFinding('reviewer', 'bob', entryOf({ confidence: 0.9, evidence: 'elsewhere' }))
    expect(await echoes.consolidate('reviewer')).toMatchObject({
      added: 1,
      merged: 1,
      kept: [],
      pruned: null,
    })
    expect(entriesOf(await memory())).toEqual([
      entryOf({ verified: '2026-02-02', confidence: 0.8 }),
      entryOf({ confidence: 0.9, evidence: 'elsewhere' }),
    ])
    expect((await readdir(path('.'))).sort()).toEqual(['.echoes.json', 'MEMORY.md'])
    await echoes.appendFinding('reviewer', 'bob', entryOf({ verified: '2026-02-02', confidence: 0.95 }))
    await echoes.consolidate('reviewer')
    expect(entriesOf(await memory())[0]).toEqual(entryOf({ verified: '2026-02-02', confidence: 0.95 }))
  })

  it('reads the first finding of a file that begins with a byte order mark', async () => {
    const { echoes, path, memory } = await open()
    await mkdir(path('.'), { recursive: true })
    await writeFile(path('ann-findings.md'), `\uFEFF${printEntry(entryOf())}`)
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 1, kept: [] })
    expect(entriesOf(await memory())).toEqual([entryOf()])
    expect(await memory()).not.toContain('\uFEFF')
    expect(existsSync(path('ann-findings.md'))).toBe(false)
  })

  it('is idempotent, and the order of the findings does not matter', async () => {
    const shared = fc.array(anyEntry, { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(shared, fc.array(anyEntry, { maxLength: 6 }), async (first, second) => {
        const all = [
          ...first,
          ...second,
          ...first.map((entry) => ({ ...entry, confidence: 1, learning: 'else' })),
        ].map((entry) => (entry.layer === 'etched' ? { ...entry, layer: 'traced' as const } : entry))
        const texts: string[] = []
        for (const findings of [all, [...all].reverse()]) {
          const { echoes, memory } = await open()
          for (const [i, entry] of findings.entries())
            await echoes.appendFinding('reviewer', `a${i % 3}`, entry)
          await echoes.consolidate('reviewer')
          const once = await memory()
          for (const entry of findings) await echoes.appendFinding('reviewer', 'again', entry)
          expect((await echoes.consolidate('reviewer')).added).toBe(0)
          expect(await memory()).toBe(once)
          texts.push(once)
        }
        expect(texts[1]).toBe(texts[0])
      }),
      { numRuns: 15 },
    )
  })

  it('keeps the words of a duplicate that says something else', async () => {
    const { echoes, path } = await open()
    await echoes.appendFinding('reviewer', 'ann', entryOf())
    await echoes.appendFinding('reviewer', 'bob', entryOf({ learning: 'Or cache them.' }))
    await echoes.consolidate('reviewer')
    expect(entriesOf(await readFile(path('archive/findings-2026-06-30.md'), 'utf8'))).toHaveLength(1)
  })

  it('leaves what it cannot read, and what only a person may add, where the agent wrote it', async () => {
    const { echoes, path } = await open()
    await echoes.appendFinding('reviewer', 'ann', entryOf({ layer: 'etched' }))
    const written = await readFile(path('ann-findings.md'), 'utf8')
    await writeFile(path('ann-findings.md'), `# Findings\n\n### [2026-13-01] Bad: date\n- text\n${written}`)
    const { added, kept } = await echoes.consolidate('reviewer')
    expect(added).toBe(0)
    expect(kept).toMatchObject([
      { agent: 'ann', line: 3, reasons: expect.arrayContaining(['source is missing']) },
      { agent: 'ann', line: 5, reasons: ['only a person adds etched entries'] },
    ])
    expect(await readFile(path('ann-findings.md'), 'utf8')).toContain('### [2026-13-01] Bad: date')
  })

  it('leaves what stands below a finding, and says so', async () => {
    const { echoes, path, memory } = await open()
    await echoes.appendFinding('reviewer', 'ann', entryOf())
    const finding = await readFile(path('ann-findings.md'), 'utf8')
    const note = '#### Mine\n\nTo be looked at.\n'
    await writeFile(path('ann-findings.md'), `${finding}\n${note}\n## Later\n\n<!-- why -->\n\nMore.\n`)
    const { added, kept } = await echoes.consolidate('reviewer')
    expect(added).toBe(1)
    expect(kept).toEqual([
      { agent: 'ann', line: 10, reasons: ['it is not an entry'] },
      { agent: 'ann', line: 14, reasons: ['it is not an entry'] },
    ])
    expect(await readFile(path('ann-findings.md'), 'utf8')).toBe(
      `${note}\n## Later\n\n<!-- why -->\n\nMore.\n`,
    )
    expect(await memory()).not.toContain('Mine')
  })

  it('keeps what a duplicate says besides its learning, and the higher layer of two', async () => {
    const { echoes, path, memory } = await open()
    await echoes.appendFinding('reviewer', 'ann', entryOf({ layer: 'traced', title: 'QUERIES in loops' }))
    await echoes.appendFinding('reviewer', 'bob', entryOf())
    const finding = await readFile(path('bob-findings.md'), 'utf8')
    await writeFile(path('bob-findings.md'), `${finding}- **owner**: ada\n`)
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 1, merged: 1 })
    expect(await memory()).toContain('- **layer**: inscribed')
    const kept = await readFile(path('archive/findings-2026-06-30.md'), 'utf8')
    expect(`${await memory()}${kept}`).toContain('- **owner**: ada')
  })

  it('moves what stands in it to the higher layer of a duplicate, of another kind as well, and not back', async () => {
    const { echoes, memory } = await open()
    await echoes.add('reviewer', entryOf({ layer: 'traced', title: 'before' }))
    await echoes.add('reviewer', entryOf({ layer: 'traced', kind: 'Observation' }))
    for (const layer of ['inscribed', 'traced'] as const) {
      await echoes.appendFinding('reviewer', 'ann', entryOf({ layer }))
      expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 0, merged: 1 })
      expect(entriesOf(await memory())[1]).toEqual(entryOf({ kind: 'Observation' }))
      const ids = (await echoes.read('reviewer')).echoes.map(({ id }) => id)
      expect(ids).toEqual(['traced-001', 'inscribed-001'])
    }
  })

  it('joins a duplicate to the entry of the highest layer, where a pattern stands more than once', async () => {
    const { echoes, memory } = await open()
    for (const layer of ['traced', 'inscribed'] as const) await echoes.add('reviewer', entryOf({ layer }))
    await echoes.appendFinding('reviewer', 'ann', entryOf({ verified: '2026-02-02' }))
    await echoes.consolidate('reviewer')
    expect(entriesOf(await memory())).toEqual([
      entryOf({ layer: 'traced' }),
      entryOf({ verified: '2026-02-02' }),
    ])
  })

  it('leaves an etched entry etched that an agent found again, with the day of that', async () => {
    const { root, echoes, memory } = await open()
    const byPerson = openEchoes({ root, askHuman: async () => true })
    await byPerson.add('reviewer', entryOf({ layer: 'etched' }))
    await echoes.appendFinding('reviewer', 'ann', entryOf({ verified: '2026-02-02' }))
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 0, merged: 1 })
    expect(entriesOf(await memory())).toEqual([entryOf({ layer: 'etched', verified: '2026-02-02' })])
  })

  it('leaves an entry as a person spelled it that a finding confirms no later and no surer', async () => {
    const { root, echoes, path, memory } = await open()
    await echoes.add('reviewer', entryOf())
    const spelled = (await memory()).replace('**: 0.8', '**:  .80')
    await writeFile(path('MEMORY.md'), spelled)
    await echoes.appendFinding('reviewer', 'ann', entryOf({ layer: 'traced' }))
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 0, merged: 1 })
    expect(await readFile(join(root, 'reviewer/MEMORY.md'), 'utf8')).toBe(spelled)
  })

  it('changes nothing when it only tells what it would do, prune as well', async () => {
    const { echoes, path, memory } = await open()
    for (let n = 0; n < 18; n++) await echoes.add('reviewer', entryOf({ layer: 'traced', title: `x${n}` }))
    await echoes.appendFinding('reviewer', 'ann', entryOf())
    const before = [await memory(), await readdir(path('.'))]
    const { added, pruned } = await echoes.consolidate('reviewer', { dryRun: true })
    expect([added, pruned?.steps.length]).toEqual([1, 19])
    expect([await memory(), await readdir(path('.'))]).toEqual(before)
  })

  it('tells what it added also where somebody writes the memory just before it is pruned', async () => {
    const { root, path, memory } = await open()
    const byHand = () => {
      if (existsSync(path('MEMORY.md'))) appendFileSync(path('MEMORY.md'), '\nA note.\n')
      return now
    }
    const echoes = openEchoes({ root, clock: byHand, policy: { lineLimit: 1 } })
    await echoes.appendFinding('reviewer', 'ann', entryOf({ layer: 'traced' }))
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 1, pruned: null })
    expect(await memory()).toContain('A note.')
    expect(entriesOf(await memory())).toHaveLength(1)
  })

  it('prunes a memory that has grown too long', async () => {
    const { echoes, memory } = await open()
    for (let n = 0; n < 18; n++) {
      await echoes.appendFinding('reviewer', 'ann', entryOf({ layer: 'traced', title: `x${n}` }))
    }
    const { pruned } = await echoes.consolidate('reviewer')
    expect(pruned?.steps).toHaveLength(18)
    expect(entriesOf(await memory())).toEqual([])
  })
})

describe('hostile input', () => {
  it.each([
    ['password', 'password: hunter2hunter2'],
    ['token', 'Authorization: bearer abc.def'],
    ['password', `password:${' '.repeat(9)}hunter2`],
    ['connection-string', 'postgres://ada:lovelace@db/main'],
    ['connection-string', 'postgres://admin@srv:S3cr@localhost/db'],
    ['url-credentials', 'amqp://team/app:hunter2@localhost'],
    ['url-credentials', 'ftp://user:hun/ter2@h/x'],
    ['api-key', 'token = abcdefghijklmnopqrst_uvwxyz'],
    ['api-key', 'the deploy key Qx7Lm2Zp9Rt4Vb8Nc3Wd6 was printed'],
    ['e-mail-address', 'reported by ada@example.com'],
    ['e-mail-address', 'reported by ünal@exämple.com'],
  ])('strips evidence with: %s', async (kind, secret) => {
    const { echoes, memory } = await open()
    const evidence = `\`src/a.ts:3\` — ${secret}`
    const { stripped } = await echoes.appendFinding('reviewer', 'ann', entryOf({ evidence }))
    expect(stripped).toContain(kind)
    await echoes.consolidate('reviewer')
    const [entry] = entriesOf(await memory())
    expect(entry?.learning).toBe(entryOf().learning)
    expect(entry?.evidence).toContain('`src/a.ts:3` — [removed: ')
    expect(await memory()).not.toContain(secret)
  })

  it.each([
    ['src/billing/client.ts:12 — password: hunter2', 'src/billing/client.ts:12 — [removed: password]'],
    ['docker-compose.yml:40-42: password: hunter2', 'docker-compose.yml:40-42 — [removed: password]'],
    ['/srv/app/.env - password: hunter2', '/srv/app/.env — [removed: password]'],
    ['password: hunter2 in a.ts', '[removed: password]'],
    ['hunter2 — the password: hunter2', '[removed: password]'],
    ['root:12345 — password: 12345', '[removed: password]'],
    ['in `src/a.ts:3`: password: hunter2', '[removed: password]'],
    ['the password: `hunter2`', '[removed: password]'],
  ])('keeps the file that stands before a secret: %s', async (evidence, kept) => {
    const { echoes } = await open()
    await echoes.add('reviewer', entryOf({ evidence }))
    expect((await echoes.read('reviewer')).echoes[0]?.entry.evidence).toBe(kept)
  })

  it('keeps evidence that only speaks of a key', async () => {
    const { echoes } = await open()
    const evidence = '`src/a.ts:3` — the cache key internationalisation_of_titles is built twice'
    await echoes.add('reviewer', entryOf({ evidence }))
    expect((await echoes.read('reviewer')).echoes[0]?.entry.evidence).toBe(evidence)
  })

  it('takes a title in another Unicode normal form for the same', async () => {
    const { echoes } = await open()
    for (const [form, agent] of [
      ['NFC', 'ann'],
      ['NFD', 'ben'],
    ] as const)
      await echoes.appendFinding('reviewer', agent, entryOf({ title: 'Café prüfen'.normalize(form) }))
    await echoes.consolidate('reviewer')
    expect((await echoes.read('reviewer')).echoes).toHaveLength(1)
  })

  it('takes findings whose evidence was removed for one only where they teach the same', async () => {
    const { echoes, memory } = await open()
    const evidence = ['password: hunter2', 'password: swordfish', 'password: opensesame']
    const learning = ['Read it from the vault.', 'Rotate it.', 'Rotate it.']
    for (const i of [0, 1, 2])
      await echoes.appendFinding(
        'reviewer',
        'ann',
        entryOf({ evidence: evidence[i] ?? '', learning: learning[i] ?? '' }),
      )
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 2, merged: 1 })
    expect(entriesOf(await memory()).map((entry) => entry.learning)).toEqual(learning.slice(0, 2))
  })

  it('keeps no place that is sensitive itself', async () => {
    const { echoes } = await open()
    const evidence = '`https://ada:lovelace@host/x` — a page'
    await echoes.appendFinding('reviewer', 'ann', entryOf({ evidence }))
    await echoes.consolidate('reviewer')
    expect((await echoes.read('reviewer')).echoes[0]?.entry.evidence).toMatch(/^\[removed: [^`]*\]$/)
  })

  it('keeps ordinary addresses', async () => {
    const { echoes } = await open()
    const evidence =
      '`https://example.com/@user:x@y` — http://localhost:3000/@scope/pkg@1, git@github.com:a/b'
    expect(await echoes.appendFinding('reviewer', 'ann', entryOf({ evidence }))).toEqual({ stripped: [] })
  })

  it('keeps addresses where the learning is about e-mail', async () => {
    const { echoes } = await open()
    const entry = entryOf({
      evidence: 'a@example.com is refused',
      learning: 'Email checks refuse short names.',
    })
    expect(await echoes.appendFinding('reviewer', 'ann', entry)).toEqual({ stripped: [] })
  })

  it('strips what an agent wrote into its file by hand', async () => {
    const { echoes, path, memory } = await open()
    await echoes.appendFinding('reviewer', 'ann', entryOf())
    const text = await readFile(path('ann-findings.md'), 'utf8')
    await writeFile(path('ann-findings.md'), `${text}- **note**: password=hunter2hunter2\n`)
    expect((await echoes.consolidate('reviewer')).stripped).toEqual([
      { title: 'Queries in loops', kinds: ['password'] },
    ])
    expect(await memory()).toContain('- **note**: password=[redacted:password]')
  })

  it.each(['..', '../x', 'a/b', '', '.lock', 'a\\b', 'a..b'])('refuses the name %j', async (name) => {
    const { echoes } = await open()
    const refused = { code: 'MEMORY_INVALID_INPUT' }
    await expect(echoes.appendFinding(name, 'ann', entryOf())).rejects.toMatchObject(refused)
    await expect(echoes.appendFinding('reviewer', name, entryOf())).rejects.toMatchObject(refused)
    await expect(echoes.beginWorkflow(`${name}/`)).rejects.toMatchObject(refused)
  })

  it('says which names it takes, and takes them', async () => {
    const { echoes } = await open()
    const name = `${'Ab0'.padEnd(60, 'z')}._-9`
    await echoes.appendFinding(name, name, entryOf())
    await expect(echoes.read(`${name}x`)).rejects.toThrow('up to 64 letters A to Z and a to z, digits')
    const workflow = '_'.padEnd(100, 'Z')
    await echoes.beginWorkflow(workflow)
    expect(echoes.activeWorkflows()).toEqual([workflow])
    await expect(echoes.beginWorkflow(`${workflow}x`)).rejects.toThrow('up to 100 letters A to Z and a to z')
  })

  it.each([undefined, null, 5, ['review']])('refuses %j for the name of a workflow', async (name) => {
    const { echoes } = await open()
    const refused = { code: 'MEMORY_INVALID_INPUT' }
    await expect(echoes.beginWorkflow(name as never)).rejects.toMatchObject(refused)
    await expect(echoes.endWorkflow(name as never)).rejects.toMatchObject(refused)
    expect(echoes.activeWorkflows()).toEqual([])
  })

  it('does not follow a role out of its folder', async () => {
    const { root, echoes } = await open()
    const elsewhere = await newRoot()
    await mkdir(root, { recursive: true })
    await symlink(elsewhere, join(root, 'reviewer'))
    await expect(echoes.add('reviewer', entryOf())).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
  })

  it('refuses to write where a newer version wrote', async () => {
    const { echoes, path } = await open()
    await mkdir(path('.'), { recursive: true })
    await writeFile(path('MEMORY.md'), '<!-- echo-schema: v2 -->\n')
    await expect(echoes.add('reviewer', entryOf())).rejects.toMatchObject({ code: 'MEMORY_NOT_SUPPORTED' })
  })
})

it('writes to the team only for the lead, and etched entries only for a person', async () => {
  const { echoes } = await open(false)
  const forbidden = { code: 'MEMORY_FORBIDDEN' }
  await expect(echoes.appendFinding('team', 'ann', entryOf())).rejects.toMatchObject(forbidden)
  await expect(echoes.consolidate('team')).rejects.toMatchObject(forbidden)
  await expect(echoes.add('reviewer', entryOf({ layer: 'etched' }))).rejects.toMatchObject(forbidden)
  const root = await newRoot()
  const declined = openEchoes({ root, askHuman: async () => false })
  await expect(declined.add('reviewer', entryOf({ layer: 'etched' }))).rejects.toMatchObject(forbidden)
})

describe('in processes that are killed', () => {
  let module: string
  beforeAll(async () => {
    module = await bundlePackage()
  })

  /** Kills the process at its k-th call that changes a file. */
  const killAt = (k: number): string => `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    let calls = 0
    for (const name of ['renameSync', 'unlinkSync', 'linkSync', 'openSync', 'writeFileSync']) {
      const call = fs[name]
      fs[name] = (...args) => {
        if (++calls === ${k}) process.kill(process.pid, 'SIGKILL')
        return call(...args)
      }
    }
    syncBuiltinESMExports()`

  it('consolidates once, wherever it is killed', async () => {
    let k = 1
    for (let ended: unknown = 'SIGKILL'; ended === 'SIGKILL'; k++) {
      const { root, echoes, path, memory } = await open()
      const wanted = ['a', 'b', 'c'].map((title) => entryOf({ title }))
      for (const entry of wanted) await echoes.appendFinding('reviewer', entry.title, entry)
      ended = await runChild(
        module,
        `${killAt(k)}\nawait openEchoes({ root: ${JSON.stringify(root)} }).consolidate('reviewer')`,
      ).ended
      await echoes.consolidate('reviewer')
      expect(entriesOf(await memory())).toEqual(wanted)
      expect(existsSync(path('a-findings.md'))).toBe(false)
      expect((await echoes.read('reviewer')).echoes.map(({ id }) => id)).toEqual([
        'inscribed-001',
        'inscribed-002',
        'inscribed-003',
      ])
    }
    expect(k).toBeGreaterThan(15)
  })

  it('lands every finding of eight writers exactly once while one consolidates', async () => {
    const root = await newRoot()
    const at = JSON.stringify(root)
    const consolidating = `for (;;) await openEchoes({ root: ${at} }).consolidate('reviewer')`
    const policy = '{ lineLimit: 100000 }'
    const writers = Array.from({ length: 8 }, (_, w) =>
      runChild(
        module,
        `const echoes = openEchoes({ root: ${at}, policy: ${policy} })
        for (let n = 0; n < 12; n++) {
          const entry = ${JSON.stringify(entryOf({ verified: '2026-06-29' }))}
          await echoes.appendFinding('reviewer', 'agent-${w}', { ...entry, title: 'of ${w}, number ' + n })
        }`,
      ),
    )
    let running = true
    const done = Promise.all(writers.map(({ ended }) => ended)).finally(() => {
      running = false
    })
    // Each round is killed at another of the calls that change a file.
    for (let round = 0; running; round++) {
      const at = killAt(15 + ((round * 37) % 180))
      const lead = runChild(module, `${at}\n${consolidating.replace('{ root', `{ policy: ${policy}, root`)}`)
      expect(await lead.ended).toBe('SIGKILL')
    }
    expect(await done).toEqual(writers.map(() => 0))
    const echoes = openEchoes({ root, policy: { lineLimit: 100_000 } })
    await echoes.consolidate('reviewer')
    const titles = (await echoes.read('reviewer')).echoes.map(({ entry }) => entry.title)
    expect(titles.length).toBe(96)
    expect(new Set(titles).size).toBe(96)
  })
})
