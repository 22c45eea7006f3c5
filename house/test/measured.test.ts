import { expect, it } from 'vitest'
import { type SuiteResult, showFigure } from '../../bench/src/report.ts'
import { read } from './workspace.ts'

/** A line of the table in README.md: what was measured, Recall's figure, and what is beside it. */
interface Line {
  label: string
  /** `files` of `bench/results/files.md`. */
  page: string
  ours: string
  beside: string
}

const linesOf = (readme: string): Line[] =>
  [...readme.matchAll(/^\| \[(.+?)\]\(bench\/results\/([\w-]+)\.md\)(.*?)\|(.+?)\|(.+?)\|$/gm)].map(
    ([, linked, page, rest, ours, beside]) => ({
      label: `${linked}${rest}`.trim(),
      page: page as string,
      ours: (ours as string).trim(),
      beside: (beside as string).trim(),
    }),
  )

/** The names that README.md gives to the rows of the results. */
const rowNames: Record<string, string> = {
  Recall: 'Recall',
  BM25: 'BM25 (SQLite FTS5, porter)',
  'BM25 mixed with the same vectors': 'fixed mixture 0.5 of dense + BM25',
  'the same vectors': 'dense (bge-small-en-v1.5/q8)',
  ripgrep: 'ripgrep',
  'a Node process that does nothing': 'empty Node process',
  'the bare write and its two syncs': 'bare write + fsync + rename + fsync(dir)',
}

/** The rows of `files` that lines tell of, by how these begin. */
const rowsOfFiles: Record<string, string> = {
  'search by words': 'cold query, ms',
  'a note, safe on the disk': 'durable note, ms',
}

const resultOf = <Result>(page: string): Result => JSON.parse(read(`bench/results/${page}.json`)) as Result
const numbersIn = (text: string): number[] =>
  (text.match(/\d[\d,]*/g) ?? []).map((number) => Number(number.replaceAll(',', '')))

/** A line as it would have to be by what was measured, but for its words. */
function asMeasured({ label, page, beside }: Line): string {
  if (page === 'crash') return crashed()
  if (page === 'spam') return spammed()
  const figureOf = page.startsWith('quality-') ? found(page) : took(page, label)
  const peers = beside.split(', ').map((part) => part.replace(/^[\d.]+ (?:%|ms) /, ''))
  return [figureOf('Recall'), ...peers.map((name) => `${figureOf(name)} ${name}`)].join(', ')
}

/** The same of what the line says. */
const asSaid = ({ label, page, ours, beside }: Line): string =>
  page === 'crash' || page === 'spam' ? [...numbersIn(label), ours, beside].join(', ') : `${ours}, ${beside}`

function found(page: string) {
  const { results } = resultOf<{ results: { name: string; measures: Record<string, number> }[] }>(page)
  return (name: string): string => {
    const row = results.find((result) => result.name === rowNames[name])
    return `${row?.measures['recall@10']?.toFixed(1)} %`
  }
}

function took(page: string, label: string) {
  const what = Object.entries(rowsOfFiles).find(([words]) => label.startsWith(words))?.[1]
  const rows = resultOf<SuiteResult>(page).rows.filter(
    (row) => row.what === what && numbersIn(label).includes(row.size),
  )
  return (name: string): string => {
    const row = rows.find(({ peer }) => name === 'Recall' || peer === rowNames[name])
    const figure = name === 'Recall' ? row?.ours : row?.peers
    return `${figure === undefined ? figure : showFigure(figure)} ms`
  }
}

function crashed(): string {
  const { rows } = resultOf<SuiteResult>('crash')
  return rows.map(({ size, ours, peers }) => `${size}, ${ours}, of ${peers}`).join('; ')
}

function spammed(): string {
  const { rows, settings } = resultOf<SuiteResult>('spam')
  const spam = rows.filter(({ what }) => what.includes(' in the first ten '))
  const first = rows.find(({ what }) => what.startsWith('queries answered first'))
  const found = spam.reduce((sum, { ours }) => sum + ours, 0)
  const answered = first?.ours === settings.queries ? 'all' : 'not all, but'
  const told = [spam[0]?.size, settings.sybils, settings.queries, found].join(', ')
  return `${told}, ${answered} ${first?.ours} answered first by the lesson that they ask for`
}

const untrue = (readme: string): string[] =>
  linesOf(readme).flatMap((line) => {
    const [said, measured] = [asSaid(line), asMeasured(line)]
    return said === measured ? [] : [`${line.label}: "${said}" is by ${line.page} "${measured}"`]
  })

it('what README.md says was measured is what the results say of the same thing', () => {
  const readme = read('README.md')
  expect(linesOf(readme).length).toBe(readme.match(/^\| .*\(bench\/results\//gm)?.length)
  expect(linesOf(readme).length).toBeGreaterThan(4)
  expect(untrue(readme)).toEqual([])
})

it.each([
  {
    changed: 'Recall and another are taken for each other',
    from: /\|\s+([\d.]+)( % \| .+?, )([\d.]+) % BM25/,
    to: '| $3$2$1 % BM25',
  },
  {
    changed: 'two others are taken for each other',
    from: /([\d.]+) ms ripgrep, ([\d.]+) ms/,
    to: '$2 ms ripgrep, $1 ms',
  },
  { changed: 'the size is another', from: /in 100,000 notes/, to: 'in 10,000 notes' },
  { changed: 'a write was lost', from: /\|( +)0 \| of /, to: '|$11 | of ' },
  { changed: 'more writes were acknowledged', from: /\| of (\d+)/, to: '| of 1$1' },
  { changed: 'spam was found', from: /\|( +)0 \| all /, to: '|$11 | all ' },
])('notices that $changed', ({ from, to }) => {
  const readme = read('README.md')
  const swapped = readme.replace(from, to)
  expect(swapped).not.toBe(readme)
  expect(untrue(swapped)).toHaveLength(1)
})
