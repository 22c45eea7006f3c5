import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyEntry, entryOf } from '../../test/support.ts'
import { appendEntries, emptyEchoes } from './echo-document.ts'
import { emptySidecar, identify, parseSidecar, printSidecar, withReferences } from './sidecar.ts'

const fileOf = (titles: string[]) =>
  appendEntries(
    emptyEchoes('reviewer'),
    titles.map((title) => entryOf({ title, layer: title.startsWith('E') ? 'etched' : 'traced' })),
  )
const idsOf = (titles: string[], known = emptySidecar()) => {
  const { echoes, sidecar } = identify(fileOf(titles), known)
  return { ids: echoes.map(({ id }) => id), sidecar }
}

describe('identify', () => {
  it('numbers entries by layer and order', () => {
    expect(idsOf(['E1', 'T1', 'E2', 'T2']).ids).toEqual([
      'etched-001',
      'traced-001',
      'etched-002',
      'traced-002',
    ])
  })

  it('keeps the ids of the others when one goes, and gives none twice', () => {
    const { sidecar } = idsOf(['E1', 'E2', 'E3'])
    expect(idsOf(['E3', 'E1'], sidecar).ids).toEqual(['etched-003', 'etched-001'])
    expect(idsOf(['E4', 'E3'], sidecar).ids).toEqual(['etched-004', 'etched-003'])
    expect(idsOf(['E2'], sidecar).ids).toEqual(['etched-002'])
  })

  it('tells entries apart that say the same', () => {
    expect(idsOf(['E1', 'E1']).ids).toEqual(['etched-001', 'etched-002'])
  })

  it('gives the same ids again, and no id twice, for any file', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 12 }), (entries) => {
        const document = appendEntries(emptyEchoes('reviewer'), entries)
        const first = identify(document, emptySidecar())
        const again = identify(document, parseSidecar(printSidecar(first.sidecar), 'x'))
        const ids = first.echoes.map(({ id }) => id)
        expect(again.echoes.map(({ id }) => id)).toEqual(ids)
        expect(new Set(ids).size).toBe(ids.length)
      }),
    )
  })
})

it('counts a workflow once, and forgets the ones long gone', () => {
  let { sidecar } = idsOf(['T1', 'T2'])
  for (let n = 0; n < 2; n++) sidecar = withReferences(sidecar, 'w1', ['traced-001'], '2026-01-01')
  expect(identify(fileOf(['T1']), sidecar).echoes[0]).toMatchObject({
    references: 1,
    workflows: 1,
    sessions: 1,
  })
  sidecar = withReferences(sidecar, 'w0', ['traced-001'], '2025-12-31')
  for (let n = 2; n < 22; n++) sidecar = withReferences(sidecar, `w${n}`, [], '2026-02-01')
  expect(identify(fileOf(['T1']), sidecar).echoes[0]).toMatchObject({
    references: 0,
    workflows: 20,
    sessions: 2,
    lastReferenced: '2026-01-01',
  })
})

it('refuses a sidecar it cannot read', () => {
  expect(() => parseSidecar('{', '/x/.echoes.json')).toThrow(
    expect.objectContaining({ code: 'MEMORY_CORRUPTION' }),
  )
})

it.each(['../../../.ssh/config', '/etc/hostname', '..', 'a\\b.md', ''])(
  'does not read a backup from where its name leads: %j',
  (backup) => {
    const sidecar = idsOf(['T1']).sidecar
    Object.assign(sidecar.entries['traced-001'] ?? {}, { archived: { backup, block: 0, as: 'removed' } })
    expect(() => parseSidecar(printSidecar(sidecar), '.echoes.json')).toThrow(
      expect.objectContaining({ code: 'MEMORY_CORRUPTION' }),
    )
  },
)

it('reads a backup by its name', () => {
  const sidecar = idsOf(['T1']).sidecar
  Object.assign(sidecar.entries['traced-001'] ?? {}, {
    archived: { backup: 'MEMORY-2026-01-01-2.md', block: 0, as: 'removed' },
  })
  expect(parseSidecar(printSidecar(sidecar), '.echoes.json')).toEqual(sidecar)
})
