import { expect, it } from 'vitest'
import type { Row } from './report.ts'
import { summaryOf } from './summary.ts'

const row = (what: string, ratio: number, bound?: number): Row => ({
  what,
  size: 1000,
  ours: ratio,
  peer: 'a peer',
  peers: 1,
  ratio,
  ...(bound === undefined ? {} : { bound }),
})

const machine = { commit: 'abc1234' }

it('counts the bounds that hold, and says by how much and why the others do not', () => {
  const rows = [row('rebuild, ms', 3, 1.5), row('cold query, ms', 1, 2), row('only measured', 9)]
  const page = summaryOf([{ suite: 'files', machine, rows }], ['files.md', 'files.json'])
  expect(page).toContain('**1 of 2 bounds hold.**')
  expect(page).toMatch(/files: rebuild, ms .* 3\.00 \| ≤ 1\.5 \| 100 % \| see 1/)
  expect(page).toMatch(/^1\. beside reading and inserting/m)
  expect(page).not.toContain('only measured')
})

it('admits that nobody has looked into a bound', () => {
  const page = summaryOf([{ suite: 'files', machine, rows: [row('something new', 3, 1)] }], [])
  expect(page).toContain('not looked into yet')
})

it('shows every chart, and links the pages that no suite wrote', () => {
  const page = summaryOf([], ['torture.md', 'echoes.svg', 'README.md'])
  expect(page).toContain('[torture](./torture.md)')
  expect(page).toContain('![echoes](./echoes.svg)')
  expect(page).toContain('All of them hold.')
})
