import type { Row } from '../report.ts'

interface Measured {
  name: string
  measures: Record<string, number>
}

/** Points that Recall is to be ahead of another way, on the data sets where that was set as an aim. */
const aims = [
  { set: /^locomo-dev$/, measure: 'recall@10', peer: /^fixed mixture/, points: 5 },
  { set: /^locomo-dev$/, measure: 'session recall@5', peer: /^fixed mixture/, points: 3 },
  { set: /^cosqa/, measure: 'recall@10', peer: /^dense/, points: 0 },
  { set: /^(locomo|realtalk)/, measure: 'recall@10', peer: /^BM25/, points: 0 },
]

/** How many points Recall is ahead on one data set; `ratio` is that difference. */
export function qualityRows(set: string, results: readonly Measured[]): Row[] {
  const recall = results.find(({ name }) => name === 'Recall')
  return aims
    .filter((aim) => aim.set.test(set))
    .flatMap(({ measure, peer, points }) => {
      const other = results.find(({ name }) => peer.test(name))
      const [ours, peers] = [recall?.measures[measure], other?.measures[measure]]
      if (other === undefined || ours === undefined || peers === undefined) return []
      const what = `${measure} on ${set}: percentage points ahead`
      return [
        { what, size: 1, ours, peer: other.name, peers, ratio: ours - peers, bound: points, atLeast: true },
      ]
    })
}
