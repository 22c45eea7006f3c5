import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type EchoEntry, type EditPlan, openEchoes, printEntry } from '../src/index.ts'
import { anyEntry, entryOf } from './support.ts'

const now = Date.parse('2026-06-30')
const forbidden = { code: 'MEMORY_FORBIDDEN' }

async function open(answer?: boolean, lineLimit = 150) {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const person = { root, lead: true, clock: () => now, policy: { lineLimit } }
  const byPerson = openEchoes({ ...person, askHuman: async () => true })
  const echoes = openEchoes({ ...person, ...(answer === undefined ? {} : { askHuman: async () => answer }) })
  return { root, echoes, byPerson, memory: () => readFile(join(root, 'reviewer/MEMORY.md'), 'utf8') }
}

describe('taking entries out', () => {
  it('archives one, and it comes back to the same bytes with its id', async () => {
    const { echoes, memory } = await open()
    const added = []
    for (const title of ['a', 'b', 'c']) added.push(await echoes.add('reviewer', entryOf({ title })))
    expect(added.map(({ id }) => id)).toEqual(['inscribed-001', 'inscribed-002', 'inscribed-003'])
    const before = await memory()
    await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-002']))
    expect((await echoes.read('reviewer')).echoes.map(({ id }) => id)).toEqual([
      'inscribed-001',
      'inscribed-003',
    ])
    expect(await echoes.restoreEntry('reviewer', 'inscribed-002')).toBe(true)
    expect(await memory()).toBe(before)
  })

  it('gives what is found again an id of its own, beside the one that was taken out', async () => {
    const { echoes } = await open()
    await echoes.add('reviewer', entryOf())
    await echoes.applyEdit(await echoes.planRemoval('reviewer'))
    expect((await echoes.add('reviewer', entryOf())).id).toBe('inscribed-002')
    await echoes.restoreEntry('reviewer', 'inscribed-001')
    expect((await echoes.read('reviewer')).echoes.map(({ id }) => id)).toEqual([
      'inscribed-001',
      'inscribed-002',
    ])
  })

  it.each([
    [['a', 'b', 'a'], ['inscribed-001', 'inscribed-002'], 'beside one that says the same'],
    [['a', 'b'], ['inscribed-002'], 'at the end of a file whose last line has no end'],
  ])('puts %j back without %j as they were: %s', async (titles, ids) => {
    const { root, echoes, memory } = await open()
    for (const title of titles) await echoes.add('reviewer', entryOf({ title }))
    const before = (await memory()).trimEnd()
    await writeFile(join(root, 'reviewer/MEMORY.md'), before)
    await echoes.applyEdit(await echoes.planRemoval('reviewer', ids))
    for (const id of [...ids].reverse()) await echoes.restoreEntry('reviewer', id)
    expect(await memory()).toBe(before)
  })

  it('archives and restores the first one of a file with a byte order mark', async () => {
    const { root, echoes, memory } = await open()
    await echoes.add('reviewer', entryOf())
    const marked = `\uFEFF${printEntry(entryOf())}\n${printEntry(entryOf({ title: 'b' }))}`
    await writeFile(join(root, 'reviewer/MEMORY.md'), marked)
    await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-001']))
    const left = await memory()
    expect(left.startsWith('\uFEFF')).toBe(true)
    expect(left).not.toContain('Queries in loops')
    expect(await echoes.restoreEntry('reviewer', 'inscribed-001')).toBe(true)
    expect(await memory()).toBe(marked)
  })

  it('resets a memory to its etched entries', async () => {
    const { echoes, byPerson } = await open()
    await byPerson.add('reviewer', entryOf({ layer: 'etched', title: 'kept' }))
    await echoes.add('reviewer', entryOf())
    await echoes.add('reviewer', entryOf({ layer: 'traced' }))
    await echoes.applyEdit(await echoes.planRemoval('reviewer'))
    expect((await echoes.read('reviewer')).echoes.map(({ id }) => id)).toEqual(['etched-001'])
  })

  it.each([[undefined], [false]])('takes nothing etched when a person answers %j', async (answer) => {
    const { echoes, byPerson, memory } = await open(answer)
    await byPerson.add('reviewer', entryOf({ layer: 'etched' }))
    const before = await memory()
    const plan = await echoes.planRemoval('reviewer', ['etched-001'])
    await expect(echoes.applyEdit(plan)).rejects.toMatchObject(forbidden)
    const forged = { ...plan, steps: plan.steps.map((step) => ({ ...step, layer: 'traced' as const })) }
    await expect(echoes.applyEdit(forged)).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
    expect(await memory()).toBe(before)
    await byPerson.applyEdit(plan)
    await expect(echoes.restoreEntry('reviewer', 'etched-001')).rejects.toMatchObject(forbidden)
    await byPerson.restoreEntry('reviewer', 'etched-001')
    expect(await memory()).toBe(before)
  })

  it('refuses a plan whose memory has changed since, and an unknown id', async () => {
    const { root, echoes, memory } = await open()
    await echoes.add('reviewer', entryOf())
    const plan = await echoes.planRemoval('reviewer')
    await writeFile(join(root, 'reviewer/MEMORY.md'), `${await memory()}\nA note.\n`)
    await expect(echoes.applyEdit(plan)).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
    await expect(echoes.planRemoval('reviewer', ['traced-009'])).rejects.toMatchObject({
      code: 'MEMORY_NOT_FOUND',
    })
  })
})

describe('moving an entry', () => {
  it('changes its layer only, and keeps its use', async () => {
    const { echoes, memory } = await open()
    await echoes.add('reviewer', entryOf({ layer: 'traced' }))
    await echoes.reference('reviewer', 'w1', ['traced-001'])
    const before = await memory()
    await echoes.applyEdit(await echoes.planMove('reviewer', 'traced-001', 'inscribed'))
    expect(await memory()).toBe(before.replace('**layer**: traced', '**layer**: inscribed'))
    expect((await echoes.read('reviewer')).echoes).toMatchObject([{ id: 'inscribed-001', sessions: 1 }])
  })

  it('leaves its id and its use to no other entry', async () => {
    const { echoes } = await open()
    await echoes.add('reviewer', entryOf({ layer: 'traced' }))
    await echoes.reference('reviewer', 'w1', ['traced-001'])
    await echoes.applyEdit(await echoes.planMove('reviewer', 'traced-001', 'inscribed'))
    expect((await echoes.add('reviewer', entryOf({ layer: 'traced' }))).id).toBe('traced-002')
    expect((await echoes.read('reviewer')).echoes.map(({ sessions }) => sessions)).toEqual([1, 0])
  })

  it('names the layer that an entry has already', async () => {
    const { echoes } = await open()
    await echoes.add('reviewer', entryOf())
    await expect(echoes.planMove('reviewer', 'inscribed-001', 'inscribed')).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: 'inscribed-001 is inscribed and cannot be moved to inscribed: name another layer',
    })
  })

  it('etches for a person only', async () => {
    const { echoes, byPerson } = await open()
    await echoes.add('reviewer', entryOf())
    const plan = await echoes.planMove('reviewer', 'inscribed-001', 'etched')
    await expect(echoes.applyEdit(plan)).rejects.toMatchObject(forbidden)
    await byPerson.applyEdit(plan)
    expect((await echoes.read('reviewer')).echoes.map(({ id }) => id)).toEqual(['etched-001'])
  })
})

describe('a plan that was changed', () => {
  it.each([
    ['another spelling of a layer', { to: 'Etched' }],
    ['an unknown layer', { to: 'carved' }],
    ['an unknown field', { also: 'this' }],
    ['another spelling of the layer before', { layer: 'Inscribed', to: 'traced' }],
    ['another title than the one of the entry', { title: 'Harmless' }],
  ])('is refused: %s', async (_, changes) => {
    const { byPerson, echoes, memory } = await open()
    await echoes.add('reviewer', entryOf())
    const before = await memory()
    const plan = await echoes.planMove('reviewer', 'inscribed-001', 'etched')
    const changed = { ...plan, steps: plan.steps.map((step) => ({ ...step, ...changes })) } as EditPlan
    const invalid = expect.objectContaining({ code: 'MEMORY_INVALID_INPUT' })
    await expect(byPerson.applyEdit(changed)).rejects.toEqual(invalid)
    await expect(echoes.applyEdit({ ...plan, steps: null } as unknown as EditPlan)).rejects.toEqual(invalid)
    await expect(echoes.applyEdit(null as unknown as EditPlan)).rejects.toThrow('at its top: make a new plan')
    expect(await memory()).toBe(before)
  })

  it('is the one that a person was asked for', async () => {
    const { root, echoes } = await open()
    for (const title of ['a', 'b']) await echoes.add('reviewer', entryOf({ title }))
    const plan = await echoes.planMove('reviewer', 'inscribed-001', 'etched')
    const other = await echoes.planMove('reviewer', 'inscribed-002', 'etched')
    const askHuman = async () => plan.steps.splice(0, 1, ...other.steps).length === 1
    await openEchoes({ root, lead: true, clock: () => now, askHuman }).applyEdit(plan)
    const etched = (await echoes.read('reviewer')).echoes.filter(({ entry }) => entry.layer === 'etched')
    expect(etched.map(({ entry }) => entry.title)).toEqual(['a'])
  })
})

describe('an entry that was shortened', () => {
  const learning = 'Load it once. Each row had a query of its own.'
  const shortened = async (spelled = (text: string) => text) => {
    const opened = await open(undefined, 1)
    for (const title of ['a', 'b', 'c'])
      await opened.echoes.add(
        'reviewer',
        entryOf({ layer: 'traced', title, verified: '2026-06-29', learning }),
      )
    const before = spelled(await opened.memory())
    await writeFile(join(opened.root, 'reviewer/MEMORY.md'), before)
    await opened.echoes.applyPrune(await opened.echoes.planPrune('reviewer'))
    expect((await opened.echoes.read('reviewer')).archived).toMatchObject([
      { id: 'traced-002', shortened: true },
    ])
    return { ...opened, before }
  }

  it('is not moved before it is whole again', async () => {
    const { echoes, memory, before } = await shortened()
    await expect(echoes.planMove('reviewer', 'traced-002', 'inscribed')).rejects.toMatchObject({
      code: 'MEMORY_CONFLICT',
    })
    await echoes.restoreEntry('reviewer', 'traced-002')
    expect(await memory()).toBe(before)
    expect((await echoes.planMove('reviewer', 'traced-002', 'inscribed')).steps).toHaveLength(1)
  })

  it('comes back whole where somebody has shortened it further', async () => {
    const { root, echoes, memory, before } = await shortened()
    await writeFile(join(root, 'reviewer/MEMORY.md'), (await memory()).replace('Load it once.\n', 'Load\n'))
    expect(await memory()).toContain('- Load\n')
    await echoes.restoreEntry('reviewer', 'traced-002')
    expect(await memory()).toBe(before)
  })

  it('comes back as a person spelled it', async () => {
    const { echoes, memory, before } = await shortened((text) => text.replaceAll(': 0.8\n', ':  0.80\n'))
    expect(before).toContain('**confidence**:  0.80')
    await echoes.restoreEntry('reviewer', 'traced-002')
    expect(await memory()).toBe(before)
  })

  const byHand = (text: string, from: RegExp, to: string) => {
    const [head = '', tail = ''] = text.split('Pattern: b')
    return `${head}Pattern: b${tail.replace(from, to)}`
  }

  it('comes back with what a person has written into it since', async () => {
    const { root, echoes, memory, before } = await shortened()
    const written = (text: string) =>
      byHand(
        byHand(text, /supersedes\*\*: none/, 'supersedes**: a'),
        /(- Load it once\..*\n)/,
        '$1- Of my own.\n',
      )
    await writeFile(join(root, 'reviewer/MEMORY.md'), written(await memory()))
    await echoes.restoreEntry('reviewer', 'traced-002')
    expect(await memory()).toBe(written(before))
  })

  it('comes back with the day on which it was confirmed since', async () => {
    const { root, memory, before } = await shortened()
    const echoes = openEchoes({ root, clock: () => now })
    const again = entryOf({ layer: 'traced', title: 'b', verified: '2026-06-30', learning })
    await echoes.appendFinding('reviewer', 'ann', again)
    await echoes.consolidate('reviewer')
    await echoes.restoreEntry('reviewer', 'traced-002')
    const [head = '', tail = ''] = before.split('Pattern: b')
    expect(await memory()).toBe(
      `${head}Pattern: b${tail.replace('verified**: 2026-06-29', 'verified**: 2026-06-30')}`,
    )
  })

  it.each([[[]], [['inscribed-001']]])(
    'comes back inscribed if it was found again, also once %j was taken out',
    async (out) => {
      const { root, memory, before } = await shortened()
      const echoes = openEchoes({ root, clock: () => now })
      const again = entryOf({ title: 'b', verified: '2026-06-29', learning })
      await echoes.appendFinding('reviewer', 'ann', again)
      await echoes.consolidate('reviewer')
      await echoes.applyEdit(await echoes.planRemoval('reviewer', out))
      await echoes.restoreEntry('reviewer', 'inscribed-001')
      const [head = '', tail = ''] = before.split('Pattern: b')
      expect(await memory()).toBe(`${head}Pattern: b${tail.replace('layer**: traced', 'layer**: inscribed')}`)
      expect((await echoes.read('reviewer')).echoes[1]).toMatchObject({ id: 'inscribed-001' })
    },
  )

  it('comes back whole after it was taken out as well', async () => {
    const { echoes, memory, before } = await shortened()
    await echoes.applyEdit(await echoes.planRemoval('reviewer', ['traced-002']))
    expect((await echoes.read('reviewer')).archived).toMatchObject([{ id: 'traced-002', shortened: false }])
    await echoes.restoreEntry('reviewer', 'traced-002')
    expect(await memory()).toBe(before)
  })

  it('comes back with what a person wrote beside its learning before it was taken out', async () => {
    const { root, echoes, memory, before } = await shortened()
    const beside = [/(- Load it once\..*\n)/, '$1- Of my own.\n'] as const
    await writeFile(join(root, 'reviewer/MEMORY.md'), byHand(await memory(), ...beside))
    await echoes.applyEdit(await echoes.planRemoval('reviewer', ['traced-002']))
    await echoes.restoreEntry('reviewer', 'traced-002')
    expect(await memory()).toBe(byHand(before, ...beside))
  })

  it.each(['taken out', 'shortened'])(
    'comes back with the learning that a person wrote anew before it was %s',
    async (done) => {
      const { root, echoes, memory } = await shortened()
      const anew = byHand(await memory(), /- Load it once\./, '- Load it twice. Now it is a list.')
      await writeFile(join(root, 'reviewer/MEMORY.md'), anew)
      if (done === 'shortened') await echoes.applyPrune(await echoes.planPrune('reviewer'))
      else await echoes.applyEdit(await echoes.planRemoval('reviewer', ['traced-002']))
      expect(await memory()).not.toContain('Now it is a list.')
      await echoes.restoreEntry('reviewer', 'traced-002')
      expect(await memory()).toBe(anew)
    },
  )

  it('names the backup with its learning once that is gone', async () => {
    const { root, echoes } = await shortened()
    await echoes.applyEdit(await echoes.planRemoval('reviewer', ['traced-002']))
    await rm(join(root, 'reviewer/archive/MEMORY-2026-06-30.md'))
    expect((await echoes.examine()).filter(({ ok }) => !ok)).toMatchObject([
      { message: 'the memory is above its 1 lines' },
      { message: 'the backup of traced-002 is gone: archive/MEMORY-2026-06-30.md' },
    ])
    await expect(echoes.restoreEntry('reviewer', 'traced-002')).rejects.toMatchObject({
      code: 'MEMORY_CORRUPTION',
    })
  })

  it('comes back whole after it was pruned for its age as well', async () => {
    const { root, memory, before } = await shortened()
    const later = openEchoes({ root, clock: () => now + 60 * 86_400_000, policy: { lineLimit: 1 } })
    await later.applyPrune(await later.planPrune('reviewer'))
    expect((await later.read('reviewer')).echoes).toEqual([])
    for (const id of ['traced-001', 'traced-002', 'traced-003']) await later.restoreEntry('reviewer', id)
    expect(await memory()).toBe(before)
  })
})

it('names what is wrong with an entry of a program without types', async () => {
  const { echoes, memory } = await open()
  await echoes.add('reviewer', entryOf())
  const before = await memory()
  const wrong: [unknown, string][] = [
    [{ ...entryOf(), title: undefined, learning: 7 }, 'title must be a string; learning must be a string'],
    [{ ...entryOf(), confidence: '0.9' }, 'confidence must be a number from 0.0 to 1.0'],
    [{ ...entryOf(), supersedes: 5 }, 'supersedes must be a string or null'],
    [null, expect.stringContaining('date must be a string; kind must be a string')],
  ]
  for (const [entry, problem] of wrong) {
    for (const write of [
      () => echoes.add('reviewer', entry as EchoEntry),
      () => echoes.appendFinding('reviewer', 'agent', entry as EchoEntry),
    ]) {
      const refused = typeof problem === 'string' ? `this entry cannot be written: ${problem}` : problem
      await expect(write()).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT', message: refused })
    }
  }
  expect(await memory()).toBe(before)
})

it('refuses a plan that names an entry twice', async () => {
  const { echoes, memory } = await open()
  await echoes.add('reviewer', entryOf())
  const before = await memory()
  const { steps, ...plan } = await echoes.planMove('reviewer', 'inscribed-001', 'traced')
  const twice = echoes.applyEdit({ ...plan, steps: [...steps, ...steps] })
  await expect(twice).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
  expect(await memory()).toBe(before)
})

it('restores an entry that ended a file without a line end before one that came since', async () => {
  const { root, echoes, memory } = await open()
  await echoes.add('reviewer', entryOf({ title: 'a' }))
  await writeFile(join(root, 'reviewer/MEMORY.md'), (await memory()).trimEnd())
  await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-001']))
  await echoes.add('reviewer', entryOf({ title: 'b' }))
  await echoes.restoreEntry('reviewer', 'inscribed-001')
  expect((await echoes.read('reviewer')).echoes.map(({ entry }) => entry.title)).toEqual(['a', 'b'])
})

it.each(['\n', '\r\n'])('restores an entry behind a last line that a person left without %j', async (end) => {
  const { root, echoes, memory } = await open()
  for (const title of ['a', 'b']) await echoes.add('reviewer', entryOf({ title }))
  await writeFile(join(root, 'reviewer/MEMORY.md'), (await memory()).replaceAll('\n', end))
  await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-002']))
  await writeFile(join(root, 'reviewer/MEMORY.md'), (await memory()).trimEnd())
  await echoes.restoreEntry('reviewer', 'inscribed-002')
  expect((await echoes.read('reviewer')).echoes.map(({ entry }) => entry)).toEqual([
    entryOf({ title: 'a' }),
    entryOf({ title: 'b' }),
  ])
  expect((await memory()).split(end).join('')).not.toMatch(/[\r\n]/)
})

it('restores the first entry of a file behind the schema header that the file has got since', async () => {
  const { root, echoes, memory } = await open()
  await echoes.add('reviewer', entryOf({ title: 'a' }))
  await writeFile(join(root, 'reviewer/MEMORY.md'), printEntry(entryOf({ title: 'a' })))
  await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-001']))
  await echoes.add('reviewer', entryOf({ title: 'b' }))
  await echoes.restoreEntry('reviewer', 'inscribed-001')
  const both = printEntry(entryOf({ title: 'a' })) + printEntry(entryOf({ title: 'b' }))
  expect(await memory()).toBe(`<!-- echo-schema: v1 -->\n\n${both}`)
})

it('restores an entry at its place in a file whose line endings have changed since', async () => {
  const { root, echoes, memory } = await open()
  for (const title of ['a', 'b']) await echoes.add('reviewer', entryOf({ title }))
  const noted = (await memory()).replace(/(?=\n### .*b\n)/, '\nFirst line.\nSecond line.\n')
  await writeFile(join(root, 'reviewer/MEMORY.md'), noted)
  await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-001', 'inscribed-002']))
  await writeFile(join(root, 'reviewer/MEMORY.md'), (await memory()).replaceAll('\n', '\r\n'))
  for (const id of ['inscribed-001', 'inscribed-002']) await echoes.restoreEntry('reviewer', id)
  expect((await memory()).replaceAll('\r\n', '\n')).toBe(noted)
})

it('loses no etched entry, whatever is done without a person', async () => {
  const layer = fc.constantFrom('etched' as const, 'inscribed' as const, 'traced' as const)
  const operation = fc.oneof(
    fc.record({ do: fc.constant('add' as const), entry: anyEntry }),
    fc.record({ do: fc.constant('find' as const), entry: anyEntry }),
    fc.record({ do: fc.constant('move' as const), at: fc.nat(30), to: layer }),
    fc.record({ do: fc.constantFrom('remove' as const, 'restore' as const), at: fc.nat(30) }),
    fc.record({
      do: fc.constantFrom('consolidate' as const, 'prune' as const, 'reset' as const, 'use' as const),
    }),
    fc.record({ do: fc.constant('migrate' as const), from: fc.constantFrom('a', 'b', 'rune') }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyEntry, { minLength: 1, maxLength: 3 }),
      fc.array(operation, { maxLength: 14 }),
      async (etched, operations) => {
        const { echoes, byPerson } = await open(undefined, 12)
        for (const entry of etched) await byPerson.add('reviewer', { ...entry, layer: 'etched' })
        const kept = async () =>
          (await echoes.read('reviewer')).echoes
            .filter(({ entry }) => entry.layer === 'etched')
            .map(({ id, entry }) => [id, entry.title, entry.learning])
        const before = await kept()
        expect(before).toHaveLength(etched.length)
        const ids = new Set<string>()
        for (const each of operations) {
          for (const { id } of (await echoes.read('reviewer')).echoes) ids.add(id)
          const id = [...ids][('at' in each ? each.at : 0) % ids.size] ?? ''
          try {
            if (each.do === 'add') await echoes.add('reviewer', each.entry)
            else if (each.do === 'find') await echoes.appendFinding('reviewer', 'ann', each.entry)
            else if (each.do === 'move')
              await echoes.applyEdit(await echoes.planMove('reviewer', id, each.to))
            else if (each.do === 'remove') await echoes.applyEdit(await echoes.planRemoval('reviewer', [id]))
            else if (each.do === 'restore') await echoes.restoreEntry('reviewer', id)
            else if (each.do === 'consolidate') await echoes.consolidate('reviewer')
            else if (each.do === 'prune') await echoes.applyPrune(await echoes.planPrune('reviewer'))
            else if (each.do === 'reset') await echoes.applyEdit(await echoes.planRemoval('reviewer'))
            else if (each.do === 'migrate') await echoes.migrate({ [each.from]: 'new' })
            else await echoes.reference('reviewer', 'w', [id])
          } catch (error) {
            // Refusals are answers; anything else is a defect.
            expect([
              'MEMORY_FORBIDDEN',
              'MEMORY_NOT_FOUND',
              'MEMORY_INVALID_INPUT',
              'MEMORY_CONFLICT',
            ]).toContain((error as { code?: string }).code)
          }
          expect(await kept()).toEqual(before)
        }
      },
    ),
    { numRuns: 20 },
  )
})
