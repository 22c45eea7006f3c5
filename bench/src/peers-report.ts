import { barChart } from './charts.ts'
import type { Peer } from './peers/peer.ts'
import { factLines, type Row, rowTable, showFigure, table } from './report.ts'
import type { PeerFigures, PeersResult } from './suites/peers.ts'

type Described = ReadonlyMap<string, Peer>

const sizesOf = (figures: readonly PeerFigures[]): number[] => [...new Set(figures.map(({ size }) => size))]

/** The bounds that Recall is held to relative to its peers. */
export function peerRows({ figures }: PeersResult): Row[] {
  return sizesOf(figures).flatMap((size) => {
    const of = (peer: string): PeerFigures | undefined =>
      figures.find((each) => each.peer === peer && each.size === size)
    const compare = (
      what: string,
      ours: string,
      peer: string,
      figure: 'p50' | 'putMs',
      bound?: number,
    ): Row[] => {
      const [a, b] = [of(ours)?.[figure], of(peer)?.[figure]]
      if (a === undefined || b === undefined) return []
      return [
        { what, size, ours: a, peer, peers: b, ratio: a / b, ...(bound === undefined ? {} : { bound }) },
      ]
    }
    return [
      // A twentieth at 10,000; at smaller sizes the reference server has little to look through.
      ...compare(
        'search over stdio p50, ms',
        'recall-mcp',
        'server-memory',
        'p50',
        size >= 10_000 ? 0.05 : undefined,
      ),
      ...compare('durable put over stdio, ms', 'recall-mcp', 'server-memory', 'putMs'),
      ...compare('search p50, ms', 'recall', 'minisearch', 'p50'),
      ...compare('durable put, ms', 'recall', 'minisearch', 'putMs'),
    ]
  })
}

export function peersReport(
  result: PeersResult,
  described: Described,
  facts: Record<string, unknown>,
): string {
  const { figures, emptyMs, leftOut } = result
  const nameOf = (peer: string): string => described.get(peer)?.name ?? peer
  const sections = sizesOf(figures).map((size) => {
    const ofSize = figures.filter((each) => each.size === size)
    return `## ${size.toLocaleString('en')} memories

${table(
  [
    '',
    'put, many: a second',
    'put one, ms',
    'put one and find, ms',
    'search p50, ms',
    'p95, ms',
    'cold start and search, ms',
    'found',
    'MB',
  ],
  ofSize.map((each) => [
    nameOf(each.peer),
    ((size * 1000) / each.buildMs).toFixed(0),
    ...[each.putMs, each.putAndFindMs, each.p50, each.p95, each.coldMs].map(showFigure),
    `${(each.found * 100).toFixed(0)} % of ${each.asked}`,
    each.megabytes === null ? '–' : each.megabytes.toFixed(0),
  ]),
)}

What one stored memory costs, of ${((ofSize[0] as PeerFigures).textBytes / size).toFixed(0)} bytes of text:

${table(
  ['', 'bytes on disk', 'times its text', 'ms, one of many', 'ms, alone', 'tokens'],
  ofSize.map((each) => [
    nameOf(each.peer),
    (each.diskBytes / size).toFixed(0),
    (each.diskBytes / each.textBytes).toFixed(2),
    showFigure(each.buildMs / size),
    showFigure(each.putMs),
    tokensOf(each),
  ]),
)}

![search p50](./${searchChartName(size)})
`
  })
  return `# peers

${factLines(facts)}

The same memories in every store. Each is filled, started cold and searched in processes of its own, in turn; warm figures are medians of three such processes. "Put, many" ends with the answer of the first search, so that a store that puts off its work does not gain by it. A cold start is a whole process, from nothing to the answer; an empty Node process took ${showFigure(emptyMs)} ms in the same rounds. "Found" is the share of queries whose own memory was among the ten; the queries are made from the words of one memory, so it says that a store does its work, not how well it ranks. "MB" is the peak memory of the process that holds the store while it searches. Tokens are 0 where the process opened no network connection at all, so that no model can have been asked; – where the work is done in a process that was not watched.

${sections.join('\n')}
${rowTable(peerRows(result))}

## Versions and settings

${[...described.values()].map(({ name, version, settings }) => `- **${name}** ${version}: ${settings}.`).join('\n')}
${leftOut.length > 0 ? `\nNot measured: ${leftOut.join('; ')}.\n` : ''}`
}

/** No connection means that no model was asked. */
function tokensOf({ connections }: PeerFigures): string {
  if (connections === null) return '–'
  return connections === 0 ? '0' : `${connections} connections were opened`
}

export const searchChartName = (size: number): string => `peers-${size}.svg`

/** Search in an open memory, by store. */
export const searchChart = (figures: readonly PeerFigures[], size: number, described: Described): string =>
  barChart(
    `search among ${size.toLocaleString('en')} memories, p50, ms (logarithmic)`,
    figures
      .filter((each) => each.size === size)
      .map(({ peer, p50 }) => ({
        name: described.get(peer)?.name ?? peer,
        value: p50,
        shown: showFigure(p50),
        isOurs: peer.startsWith('recall'),
      })),
  )
