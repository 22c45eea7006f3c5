import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  appendEntries,
  type EchoEntry,
  emptyEchoes,
  emptySidecar,
  identify,
  openEchoes,
  type PrunePlan,
  parseEchoes,
  planPrune,
  printEchoes,
  withReferences,
} from '../src/index.ts'
import { anyEntry, entryOf } from './support.ts'

const now = Date.parse('2026-06-30T12:00:00Z')
const dayBefore = (days: number): string => new Date(now - days * 86_400_000).toISOString().slice(0, 10)

/** A memory of an exact number of lines that holds some entries and filling. */
function memoryOf(entries: EchoEntry[], lines = 151, used: Record<number, number> = {}) {
  const filling = printEchoes(appendEntries(emptyEchoes('reviewer'), entries))
  const missing = lines - filling.split('\n').length
  const text = `${filling}\n${'note\n'.repeat(missing)}`
  const document = appendEntries(emptyEchoes('x'), [])
  expect(document.schema).toBe(1)
  let { echoes, sidecar } = identify(appendEntries(emptyEchoes('reviewer'), entries), emptySidecar())
  const ids = echoes.map(({ id }) => id)
  for (let workflow = 0; workflow < 15; workflow++) {
    const inUse = ids.filter((_, i) => workflow < (used[i] ?? 0))
    sidecar = withReferences(sidecar, `w${workflow}`, inUse, dayBefore(200))
  }
  echoes = identify(appendEntries(emptyEchoes('reviewer'), entries), sidecar).echoes
  return { role: 'reviewer', text, echoes }
}

const idsOf = (plan: PrunePlan): string[] => plan.steps.map(({ id, action }) => `${action} ${id}`)
const old = (layer: EchoEntry['layer'], days: number, title = 'x'): EchoEntry =>
  entryOf({ layer, title, verified: dayBefore(days) })
const many = (layer: EchoEntry['layer'], days: number, count: number): EchoEntry[] =>
  Array.from({ length: count }, (_, n) => old(layer, days, `x${n}`))

describe('planPrune', () => {
  it.each<[string, Parameters<typeof memoryOf>, string[]]>([
    ['When MEMORY.md exceeds 150 lines: 149', [[old('inscribed', 91)], 149], []],
    ['When MEMORY.md exceeds 150 lines: 150', [[old('inscribed', 91)], 150], []],
    ['When MEMORY.md exceeds 150 lines: 151', [[old('inscribed', 91)], 151], ['archive inscribed-001']],
    ['Etched: never pruned automatically', [[old('etched', 5000)]], []],
    ['Inscribed: age > 90 days unreferenced: 90', [[old('inscribed', 90)]], []],
    ['Inscribed: age > 90 days unreferenced: 91', [[old('inscribed', 91)]], ['archive inscribed-001']],
    ['Inscribed: score < 0.3: 0.3', [[old('inscribed', 400)], 151, { 0: 1 }], []],
    [
      'Inscribed: archive bottom 20%',
      [many('inscribed', 400, 10), 151],
      ['archive inscribed-001', 'archive inscribed-002'],
    ],
    [
      'Inscribed: archive bottom 20% by score, wherever they stand',
      [many('inscribed', 400, 10), 151, { 0: 2, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 8: 2 }],
      ['archive inscribed-008', 'archive inscribed-010'],
    ],
    [
      'Inscribed: archive bottom 20% of the layer, of those that qualify the longest unreferenced',
      [[old('inscribed', 90), ...many('inscribed', 300, 3), old('inscribed', 301)], 151],
      ['archive inscribed-005'],
    ],
    ['Traced: age > 30 days: 30', [[old('traced', 30)]], []],
    ['Traced: age > 30 days: 31', [[old('traced', 31)]], ['archive traced-001']],
    ['Traced: score < 0.2: 0.2', [[old('traced', 400)], 151, { 0: 4 }], []],
    ['Traced: score < 0.2: below', [[old('traced', 400)], 151, { 0: 3 }], ['archive traced-001']],
  ])('%s', (_, memory, expected) => {
    expect(idsOf(planPrune(memoryOf(...memory), now))).toEqual(expected)
  })

  it('counts the lines that are left by the entries that it takes out', () => {
    const kept = entryOf({ layer: 'etched', title: 'kept', learning: 'One.\nTwo.\nThree.' })
    const memory = memoryOf([kept, old('inscribed', 91)])
    const plan = planPrune(memory, now)
    expect(idsOf(plan)).toEqual(['archive inscribed-001'])
    const taken = memory.echoes.find(({ id }) => id === 'inscribed-001')?.block.text ?? ''
    expect(plan.linesAfter).toBe(151 - taken.trimEnd().split('\n').length)
  })

  it('Inscribed: 90 days unreferenced counts from the last use', () => {
    const memory = memoryOf([old('inscribed', 400)])
    const used = memory.echoes.map((echo) => ({ ...echo, lastReferenced: dayBefore(90) }))
    expect(planPrune({ ...memory, echoes: used }, now).steps).toEqual([])
  })

  it('Traced: utility-based, compress middle 30%', () => {
    const entries = Array.from({ length: 10 }, (_, n) =>
      entryOf({
        layer: 'traced',
        title: `x${n}`,
        verified: dayBefore(20 - n),
        learning: 'One. Two.\nThree.',
      }),
    )
    const plan = planPrune(memoryOf(entries, 160), now)
    expect(idsOf(plan)).toEqual(['compress traced-004', 'compress traced-005', 'compress traced-006'])
    expect(plan.linesAfter).toBe(157)
  })
})

describe('on files', () => {
  const folders: string[] = []
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
  })
  const open = async (lineLimit = 20) => {
    const root = await mkdtemp(join(tmpdir(), 'echoes-'))
    folders.push(root)
    const asked: string[] = []
    const askHuman = async (question: string) => asked.push(question) > 0
    const echoes = openEchoes({ root, askHuman, clock: () => now, policy: { lineLimit } })
    const memory = () => readFile(join(root, 'reviewer/MEMORY.md'), 'utf8')
    return { root, echoes, memory }
  }

  it('backs the memory up before it prunes, and applies a plan once', async () => {
    const { root, echoes, memory } = await open()
    for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
    await echoes.add('reviewer', old('etched', 900))
    const before = await memory()
    const plan = JSON.parse(JSON.stringify(await echoes.planPrune('reviewer'))) as PrunePlan
    await echoes.applyPrune(plan)
    expect(await readFile(join(root, 'reviewer/archive/MEMORY-2026-06-30.md'), 'utf8')).toBe(before)
    const after = await memory()
    expect(after).toContain('- **layer**: etched')
    expect(after).not.toContain('- **layer**: traced')
    await echoes.applyPrune(plan)
    expect(await memory()).toBe(after)
  })

  it.each([
    ['Set pool.max to 1.5 of it.', ' It was measured.'],
    ['1. Set pool.max.', ' 2. Restart.'],
    ['Set it low, e.g. to 5.', ' It was measured.'],
    ['把上限设为5。', '已经测量过。'],
    ['上限を下げる？', 'はい。'],
    ['सीमा कम रखो।', ' यह मापा गया।'],
    ['کیا حد کم ہے؟', ' ہاں۔'],
  ])('ends the first sentence at its own end: %s', async (first, rest) => {
    const { echoes } = await open(1)
    const learning = `${first}${rest}`
    for (const title of ['a', 'b', 'c'])
      await echoes.add('reviewer', { ...old('traced', 1, title), learning })
    await echoes.applyPrune(await echoes.planPrune('reviewer'))
    expect((await echoes.read('reviewer')).echoes.map(({ entry }) => entry.learning)).toEqual([
      learning,
      first,
      learning,
    ])
  })

  it('puts an entry back behind one that was shortened with it', async () => {
    const { echoes, memory } = await open(1)
    for (const [title, days] of Object.entries({ a: 20, b: 60, c: 10 }))
      await echoes.add('reviewer', { ...old('traced', days, title), learning: 'One. Two.' })
    const before = await memory()
    const plan = await echoes.planPrune('reviewer')
    expect(idsOf(plan)).toEqual(['archive traced-002', 'compress traced-001'])
    await echoes.applyPrune(plan)
    await echoes.restoreEntry('reviewer', 'traced-002')
    expect(await memory()).toBe(before.replace('One. Two.', 'One.'))
    await echoes.restoreEntry('reviewer', 'traced-001')
    expect(await memory()).toBe(before)
  })

  it('restores no etched entry under the id of another layer', async () => {
    const { root, echoes } = await open()
    await echoes.add('reviewer', old('etched', 900))
    for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
    await echoes.applyPrune(await echoes.planPrune('reviewer'))
    const path = join(root, 'reviewer/.echoes.json')
    const forged = (await readFile(path, 'utf8')).replace(/"block": \d+/, '"block": 2')
    await writeFile(path, forged)
    await expect(echoes.restoreEntry('reviewer', 'traced-001')).rejects.toMatchObject({
      code: 'MEMORY_CORRUPTION',
    })
  })

  it('puts a note back that somebody took away once the entry above it was gone', async () => {
    const { root, echoes, memory } = await open()
    for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
    const before = (await memory()).replace(/(?=### .*x1)/, 'Below the first.\n\n')
    await writeFile(join(root, 'reviewer/MEMORY.md'), before)
    await echoes.applyPrune(await echoes.planPrune('reviewer'))
    await writeFile(join(root, 'reviewer/MEMORY.md'), (await memory()).replace('Below the first.\n\n', ''))
    for (const id of ['traced-001', 'traced-002', 'traced-003']) await echoes.restoreEntry('reviewer', id)
    expect(await memory()).toBe(before)
  })

  it('refuses a plan whose memory has changed since', async () => {
    const { root, echoes, memory } = await open()
    for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
    const plan = await echoes.planPrune('reviewer')
    await writeFile(join(root, 'reviewer/MEMORY.md'), `${await memory()}\nA note.\n`)
    await expect(echoes.applyPrune(plan)).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
    expect(await memory()).toContain('x0')
  })

  it('refuses a plan that names an etched entry, or one twice', async () => {
    const { echoes } = await open()
    await echoes.add('reviewer', old('etched', 900))
    for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
    const plan = await echoes.planPrune('reviewer')
    const [step] = plan.steps
    if (!step) throw new Error('no step')
    for (const steps of [[{ ...step, id: 'etched-001' }], [step, step]]) {
      const refused = { code: 'MEMORY_INVALID_INPUT' }
      await expect(echoes.applyPrune({ ...plan, steps })).rejects.toMatchObject(refused)
    }
  })

  it.each([undefined, {}, { steps: undefined }, { steps: [null] }, { role: 5 }])(
    'refuses what is no plan: %j',
    async (changes) => {
      const { echoes } = await open()
      await echoes.add('reviewer', entryOf())
      const plan = await echoes.planPrune('reviewer')
      const given = changes && Object.keys(changes).length > 0 ? { ...plan, ...changes } : changes
      await expect(echoes.applyPrune(given as never)).rejects.toMatchObject({
        code: 'MEMORY_INVALID_INPUT',
        message: expect.stringMatching(/^this is not a plan of a pruning, at .*: make a new plan/),
      })
    },
  )

  it.each(['x/../../../../elsewhere', ''])('refuses a plan whose day is %j, and goes on', async (day) => {
    const { root, echoes, memory } = await open()
    for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
    const before = await memory()
    const invalid = { code: 'MEMORY_INVALID_INPUT' }
    const plan = await echoes.planPrune('reviewer')
    const files = async () => [await readdir(root), await readdir(join(root, 'reviewer'))]
    const earlier = await files()
    await expect(echoes.applyPrune({ ...plan, day })).rejects.toMatchObject(invalid)
    const removal = await echoes.planRemoval('reviewer')
    await expect(echoes.applyEdit({ ...removal, day })).rejects.toMatchObject(invalid)
    expect(await memory()).toBe(before)
    expect(await files()).toEqual(earlier)
    await echoes.applyPrune(plan)
  })

  it('keeps no copy for a plan without steps, and restores none that stands or never was', async () => {
    const { root, echoes } = await open(150)
    await echoes.add('reviewer', entryOf())
    await echoes.applyPrune(await echoes.planPrune('reviewer'))
    await echoes.applyEdit(await echoes.planRemoval('reviewer', []))
    expect(await readdir(join(root, 'reviewer'))).not.toContain('archive')
    await expect(echoes.restoreEntry('reviewer', 'inscribed-009')).rejects.toMatchObject({
      code: 'MEMORY_NOT_FOUND',
    })
    expect(await echoes.restoreEntry('reviewer', 'inscribed-001')).toBe(false)
  })

  it('prunes only between workflows; one whose process died is none', async () => {
    const { echoes } = await open()
    for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
    const plan = await echoes.planPrune('reviewer')
    await echoes.beginWorkflow('review-1')
    await expect(echoes.applyPrune(plan)).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
    expect((await echoes.consolidate('reviewer')).pruned).toBe(null)
    await echoes.endWorkflow('review-1')
    // No process has this id: it is above the highest that Linux gives.
    await echoes.beginWorkflow('review-2', 2 ** 22 + 1)
    expect(echoes.activeWorkflows()).toEqual([])
    await echoes.applyPrune(plan)
  })

  it('keeps no file of a workflow whose process died once another begins, and every other one', async () => {
    const { root, echoes } = await open()
    await echoes.beginWorkflow('alive')
    for (const name of ['dead-1', 'dead-2']) await echoes.beginWorkflow(name, 2 ** 22 + 1)
    await writeFile(join(root, '.workflows/damaged.json'), '')
    await mkdir(join(root, '.workflows/a-folder.json'))
    await echoes.beginWorkflow('new')
    expect((await readdir(join(root, '.workflows'))).sort()).toEqual([
      'a-folder.json',
      'alive.json',
      'damaged.json',
      'new.json',
    ])
  })

  it.each(['', '{"pid":1}', '{"began":1e16}', Buffer.from([0xff, 0xfe])])(
    'prunes nothing while the file of a workflow is damaged: %j',
    async (content) => {
      const { root, echoes } = await open()
      for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
      await echoes.beginWorkflow('review-1')
      await writeFile(join(root, '.workflows/review-1.json'), content)
      expect((await echoes.consolidate('reviewer')).pruned).toBe(null)
      await expect(echoes.applyPrune(await echoes.planPrune('reviewer'))).rejects.toThrow(
        'review-1.json is damaged, and nothing is pruned while it is there: remove it',
      )
      expect(await echoes.examine()).toContainEqual({
        role: null,
        ok: false,
        message: '.workflows/review-1.json is damaged, and nothing is pruned while it is there',
        remedy: 'remove it, unless that workflow still runs',
      })
      await echoes.endWorkflow('review-1')
      await echoes.endWorkflow('review-1')
      expect((await echoes.consolidate('reviewer')).pruned?.steps.length).toBeGreaterThan(0)
    },
  )

  it('prunes nothing until a workflow without a process is ended, and names one of more than a day', async () => {
    const { root, echoes } = await open()
    for (const entry of many('traced', 60, 3)) await echoes.add('reviewer', entry)
    const plan = await echoes.planPrune('reviewer')
    await echoes.beginWorkflow('review-1', null)
    await echoes.beginWorkflow('review-2')
    await echoes.endWorkflow('review-2')
    expect(echoes.activeWorkflows()).toEqual(['review-1'])
    const remedy =
      "if it no longer runs, end it with 'recall echoes end review-1', in a program with 'endWorkflow'"
    await expect(echoes.applyPrune(plan)).rejects.toThrow(
      `the workflow review-1 is active: prune once it has ended; it began on 2026-06-30: ${remedy}`,
    )
    const message = 'the workflow review-1 is active: nothing is pruned before it ends'
    const examined = async (hours: number) =>
      (await openEchoes({ root, clock: () => now + hours * 3_600_000 }).examine()).at(-1)
    expect(await examined(24)).toEqual({ role: null, ok: true, message })
    expect(await examined(25)).toEqual({
      role: null,
      ok: false,
      message: `${message}; it began on 2026-06-30`,
      remedy,
    })
    await echoes.endWorkflow('review-1')
    await echoes.applyPrune(plan)
  })

  it('ends a workflow that never began', async () => {
    const { root, echoes } = await open()
    await echoes.endWorkflow('review-1')
    expect(echoes.activeWorkflows()).toEqual([])
    expect(await readdir(root)).toEqual([])
  })

  it('never writes over a backup', async () => {
    const { root, echoes } = await open()
    for (let round = 0; round < 3; round++) {
      for (const entry of many('traced', 60, 3)) {
        await echoes.add('reviewer', { ...entry, title: `${entry.title} of ${round}` })
      }
      await echoes.applyPrune(await echoes.planPrune('reviewer'))
    }
    expect(await readdir(join(root, 'reviewer/archive'))).toEqual([
      'MEMORY-2026-06-30-2.md',
      'MEMORY-2026-06-30-3.md',
      'MEMORY-2026-06-30.md',
    ])
  })

  it('restores what it pruned to the same bytes, in any order, and loses no etched entry', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyEntry, { minLength: 2, maxLength: 10 }),
        fc.infiniteStream(fc.nat()),
        fc.boolean(),
        fc.array(fc.constantFrom('', 'A note.\n', '#### More\n\n- mine\n', '## Mine\n\nText.\n')),
        async (entries, numbers, windows, notes) => {
          const { root, echoes, memory } = await open(1)
          await echoes.add('reviewer', entryOf())
          const text = [...entries, ...entries.slice(0, 2)].reduce(
            (whole, entry, i) => {
              const added = printEchoes(appendEntries(parseEchoes(whole), [entry]))
              return notes[i] ? `${added}\n${notes[i].replace('.', ` ${i}.`)}` : added
            },
            printEchoes(emptyEchoes('reviewer')),
          )
          const before = windows ? text.replaceAll('\n', '\r\n') : text
          await writeFile(join(root, 'reviewer/MEMORY.md'), before)
          const etched = before.split('\n- **layer**: etched').length
          const plan = await echoes.planPrune('reviewer')
          await echoes.applyPrune(plan)
          const pruned = await memory()
          expect(pruned.split('\n- **layer**: etched').length).toBe(etched)
          const byHand = (file: string) =>
            parseEchoes(file)
              .blocks.flatMap(({ entry, text: own }) => (entry ? [] : own))
              .join('')
          expect(byHand(pruned)).toBe(byHand(before))
          const steps = plan.steps
            .map((step) => ({ step, order: numbers.next().value ?? 0 }))
            .sort((a, b) => a.order - b.order)
          for (const { step } of steps) expect(await echoes.restoreEntry('reviewer', step.id)).toBe(true)
          expect(await memory()).toBe(before)
        },
      ),
      { numRuns: 30 },
    )
  })
})
