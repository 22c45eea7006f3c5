import { table } from '../report.ts'
import type { DataSet } from './data-set.ts'
import { commonThreshold, type LeftOut, type RetrieverResult } from './results.ts'

/** A table of measures, a chart of the first recall, and the figures of each collection and category. */
export function qualityReport(
  { name, collections }: DataSet,
  results: readonly RetrieverResult[],
  facts: Record<string, unknown>,
  leftOut: readonly LeftOut[] = [],
): string {
  const measures = Object.keys(results[0]?.measures ?? {})
  const docs = collections.reduce((sum, collection) => sum + collection.docs.length, 0)
  const queries = collections.reduce((sum, collection) => sum + collection.queries.length, 0)
  return `# Retrieval quality on ${name}

${docs.toLocaleString('en')} documents in ${collections.length} collections, ${queries.toLocaleString('en')} questions. Percent; milliseconds of a search are medians and include embedding the question.

${Object.entries(facts)
  .map(([fact, value]) => `- ${fact}: ${value}`)
  .join('\n')}

${table(
  ['retriever', ...measures, 'ms'],
  results.map(({ name: retriever, measures: own, searchMs }) => [
    retriever,
    ...measures.map((measure) => own[measure]?.toFixed(1) ?? ''),
    searchMs.toFixed(1),
  ]),
)}

![recall@10 of every retriever](./${fileName(name, 'svg')})

## recall@10 by collection

Nothing was fitted to any of them: the weights are the same for all.

${breakdown(results, ({ byCollection }) => byCollection)}

## recall@10 by category

${breakdown(results, ({ byCategory }) => byCategory)}

${leftOut.length > 0 ? leftOutSection(leftOut) : ''}${results.some(({ abstention }) => abstention) ? abstentionSection(results) : ''}`
}

const abstentionSection = (results: readonly RetrieverResult[]): string => `## Abstention

Every question is asked once more with its evidence taken out of the memory. The threshold is the highest confidence that costs answerable questions at most three points of recall@5; refused are, of the others, those whose answer has less. Beside it, one threshold for all data sets.

${table(
  [
    'retriever',
    'threshold',
    'refused',
    `points lost below ${commonThreshold}`,
    `refused below ${commonThreshold}`,
  ],
  results.flatMap(({ name: retriever, abstention }) =>
    abstention
      ? [
          [
            retriever,
            String(abstention.threshold),
            abstention.refused.toFixed(1),
            abstention.lostAtCommon.toFixed(1),
            abstention.refusedAtCommon.toFixed(1),
          ],
        ]
      : [],
  ),
)}
`

const leftOutSection = (leftOut: readonly LeftOut[]): string => `## Leave one out

Each telling weight was tried a third lower and higher. For every collection, the setting that is best on all the others, and what it gives on the one left out.

${table(
  ['collection', 'chosen on the others', 'recall@10 there', 'with the published weights'],
  leftOut.map(({ collection, chosen, leftOut: value, published }) => [
    collection,
    Object.entries(chosen)
      .map(([name, weight]) => `${name} ${weight}`)
      .join(', ') || 'the published ones',
    value.toFixed(1),
    published.toFixed(1),
  ]),
)}

`

/** The name of a file about a data set, whatever the data set is called. */
export const fileName = (set: string, extension: 'svg' | 'json' | 'md'): string =>
  `quality-${set.replace(/[^\w.-]+/g, '-')}.${extension}`

/** Bars from 0 to 100, longest first. */
export function qualityChart(results: readonly RetrieverResult[]): string {
  const bars = results
    .map(({ name, measures }) => ({ name, value: measures['recall@10'] ?? 0 }))
    .sort((a, b) => b.value - a.value)
  const rows = bars.map(({ name, value }, i) => {
    const y = 24 + i * 24
    const colour = name.startsWith('Recall') ? '#2f6f4f' : '#9aa5a0'
    return `<text x="292" y="${y + 13}" text-anchor="end">${escapeText(name)}</text><rect x="300" y="${y}" width="${value * 4}" height="17" fill="${colour}"/><text x="${306 + value * 4}" y="${y + 13}">${value.toFixed(1)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 ${32 + bars.length * 24}" font-family="sans-serif" font-size="13" role="img" aria-label="recall@10 of every retriever">
<rect width="100%" height="100%" fill="#fff"/>
${rows.join('\n')}
</svg>
`
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const breakdown = (
  results: readonly RetrieverResult[],
  pick: (result: RetrieverResult) => Record<string, number>,
): string => {
  const groups = Object.keys(results[0] ? pick(results[0]) : {})
  return table(
    ['retriever', ...groups],
    results.map((result) => [result.name, ...groups.map((group) => pick(result)[group]?.toFixed(1) ?? '')]),
  )
}
