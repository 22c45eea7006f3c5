import { type Options, roundsOf, say, sizesOf, wholeNumber } from '../options.ts'
import { peerRows, peersReport, searchChart, searchChartName } from '../peers-report.ts'
import { buildCommandLine } from '../processes.ts'
import { machineFacts, writeData, writeResult } from '../report.ts'
import { describePeers, measurePeers } from '../suites/peers.ts'
import { sayMissed } from './missed.ts'

export async function publishPeers(options: Options): Promise<boolean> {
  const { qmd, mem0 } = options
  const settings = {
    sizes: sizesOf(options, [1000, 10_000]),
    rounds: roundsOf(options, 9),
    seed: wholeNumber('seed', options.seed),
  }
  say('building the command line')
  buildCommandLine()
  // Measured results are kept even if a later size breaks off.
  for await (const result of measurePeers({ ...settings, qmd, mem0, say })) {
    const machine = machineFacts()
    const rows = peerRows(result)
    writeData('peers', rows, settings, { ...result }, machine)
    const described = await describePeers(result.figures)
    for (const size of new Set(result.figures.map((each) => each.size))) {
      writeResult(searchChartName(size), searchChart(result.figures, size, described))
    }
    sayMissed(rows, writeResult('peers.md', peersReport(result, described, { ...machine, ...settings })))
  }
  return true
}
