import { expect, it } from 'vitest'
import { mergeProgress, reportOf } from '../src/report.ts'
import type { Progress } from '../src/run-attacks.ts'

const part = (name: string, commit: string): Progress => ({
  seed: 1,
  commit,
  attacks: { [name]: { rounds: 2, seconds: 9, counts: { kills: 1500 }, measured: `${name} is well` } },
})

it('makes one report of runs on the same commit, and counts all kills', () => {
  const report = reportOf(mergeProgress([part('a', 'abc'), part('b', 'abc')]), {}, {})
  expect(report).toContain('- commit: abc')
  expect(report).toContain('| b |  | 2 | 1–2 | 9 | 1,500 kills |')
  expect(report).toContain('- a: a is well')
  expect(report).toContain('in all: 3,000')
  expect(report).toContain('Violations: 0.')
})

it('says what broke, also of a run that went on afterwards', () => {
  const failed = { attack: 'b', seed: 4, size: 25, violations: ['a note is lost'] }
  const merged = mergeProgress([part('a', 'abc'), { ...part('b', 'abc'), failures: [failed] }])
  const report = reportOf(merged, {}, {})
  expect(report).toContain('- b, seed 4, size 25 failed: a note is lost')
  expect(report).not.toContain('Violations: 0.')
})

it('says how far a campaign got that has not reached its totals', () => {
  const goals = {
    a: { count: 'kills', total: 1500 },
    b: { count: 'kills', total: 2000 },
    c: { count: 'inputs', total: 9 },
  }
  const report = reportOf(mergeProgress([part('a', 'abc'), part('b', 'abc')]), {}, {}, goals)
  expect(report).toContain('- b: 1,500 of 2,000 kills\n- c: 0 of 9 inputs')
  expect(report).not.toContain('- a: 1,500 of')
})

it('refuses to put runs of different commits together', () => {
  expect(() => mergeProgress([part('a', 'abc'), part('b', 'def')])).toThrow('same commit')
})
