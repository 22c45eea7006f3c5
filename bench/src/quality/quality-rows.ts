import type { Row } from '../report.ts'

interface Measured {
  name: string
  measures: Record<string, number>
  /** The percentage of questions without evidence that are refused. */
  abstention?: { refused: number }
}

/** By how many points Recall should be ahead of another way, on the data sets where that is an aim. */
const aims = [
  { set: /^locomo-dev$/, measure: 'recall@10', peer: /^fixed mixture/, points: 5 },
  { set: /^locomo-dev$/, measure: 'session recall@5', peer: /^fixed mixture/, points: 3 },
  { set: /^cosqa/, measure: 'recall@10', peer: /^dense/, points: 0 },
  { set: /^(locomo|realtalk)/, measure: 'recall@10', peer: /^BM25/, points: 0 },
]

/** The percentage of questions without evidence that should be refused. */
const refusedAim = 60

/** By how many points another store may differ from files. */
const mostApart = 1

/** Where Recall stands on one data set: ahead of others, alike in every store, silent where it knows nothing. */
export function qualityRows(set: string, results: readonly Measured[]): Row[] {
  const recall = results.find(({ name }) => name === 'Recall')
  if (recall === undefined) return []
  return [...aheadRows(set, recall, results), ...storeRows(set, recall, results), ...refusedRows(set, recall)]
}

/** How many points Recall is ahead; `ratio` is that difference. */
function aheadRows(set: string, recall: Measured, results: readonly Measured[]): Row[] {
  return aims
    .filter((aim) => aim.set.test(set))
    .flatMap(({ measure, peer, points }) => {
      const other = results.find(({ name }) => peer.test(name))
      const [ours, peers] = [recall.measures[measure], other?.measures[measure]]
      if (other === undefined || ours === undefined || peers === undefined) return []
      const what = `${measure} on ${set}: percentage points ahead`
      return [
        { what, size: 1, ours, peer: other.name, peers, ratio: ours - peers, bound: points, atLeast: true },
      ]
    })
}

/** By how many points each other store differs from files; `ratio` is that difference. */
function storeRows(set: string, recall: Measured, results: readonly Measured[]): Row[] {
  return ['recall@10', 'session recall@5'].flatMap((measure) =>
    results
      .filter(({ name }) => /^Recall (?:on|in) [^,]*$/.test(name))
      .flatMap(({ name, measures }) => {
        const [ours, peers] = [recall.measures[measure], measures[measure]]
        if (ours === undefined || peers === undefined) return []
        const what = `${measure} on ${set.replace(/-stores$/, '')}: percentage points apart`
        return [{ what, size: 1, ours, peer: name, peers, ratio: Math.abs(ours - peers), bound: mostApart }]
      }),
  )
}

function refusedRows(set: string, { abstention }: Measured): Row[] {
  if (!abstention) return []
  const what = `questions without evidence that are refused on ${set}, percent`
  const { refused } = abstention
  return [
    {
      what,
      size: 1,
      ours: refused,
      peer: 'aim',
      peers: refusedAim,
      ratio: refused / refusedAim,
      bound: 1,
      atLeast: true,
    },
  ]
}
