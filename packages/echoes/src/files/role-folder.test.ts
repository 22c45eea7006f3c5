import { expect, it } from 'vitest'
import { entryOf } from '../../test/support.ts'
import { emptyEchoes, parseEchoes } from '../documents/echo-document.ts'
import { printEntry } from '../documents/entry.ts'
import { memoryChange } from './role-folder.ts'

it('writes a memory with other etched entries only for a person', () => {
  const etched = printEntry(entryOf({ layer: 'etched' }))
  const [none, one, later, other] = [
    emptyEchoes('reviewer'),
    ...[
      etched,
      etched.replace('verified**: 2026-01-01', 'verified**: 2026-02-02'),
      etched.replace('one query', 'two'),
    ].map(parseEchoes),
  ]
  if (!none || !one || !later || !other) throw new Error('no documents')
  const role = (document: typeof one) => ({ role: 'reviewer', onDisk: null, document })
  for (const [before, after] of [
    [none, one],
    [one, none],
    [one, other],
  ] as const) {
    expect(() => memoryChange(role(before), after)).toThrow(
      expect.objectContaining({ code: 'MEMORY_FORBIDDEN' }),
    )
    expect(memoryChange(role(before), after, { byPerson: true })).toMatchObject({ seen: null })
  }
  expect(memoryChange(role(one), later)).toMatchObject({ path: 'reviewer/MEMORY.md' })
})
