import { type Options, roundsOf, say, sizesOf, wholeNumber } from '../options.ts'
import { machineFacts, type Row, writeData, writeReport, writeResult } from '../report.ts'
import { measureHttp } from '../suites/http.ts'
import { measureHub } from '../suites/hub.ts'
import { heldOff, measureSpam, spamReport, spamRows } from '../suites/spam.ts'
import { sayMissed } from './missed.ts'

export async function publishHub(options: Options): Promise<boolean> {
  const { postgres = '' } = options
  const settings = { sizes: sizesOf(options, [100_000]), rounds: roundsOf(options, 5) }
  const rows: Row[] = []
  for (const size of settings.sizes) {
    rows.push(...(await measureHub({ postgres, size, rounds: settings.rounds, say })))
  }
  sayMissed(rows, writeReport('hub', rows, settings))
  return true
}

export async function publishHttp(options: Options): Promise<boolean> {
  const { postgres = '' } = options
  const settings = { rounds: roundsOf(options, 9) }
  const rows = await measureHttp({ postgres, ...settings, say })
  sayMissed(rows, writeReport('http', rows, settings))
  return true
}

export async function publishSpam({ postgres = '', fake, seed }: Options): Promise<boolean> {
  const sizes = { lessons: 300, queries: 200, sybils: 1000, postsEach: 20, ring: 50, concurrency: 8 }
  const embedder = fake ? ('fake' as const) : ('local' as const)
  const settings = { ...sizes, seed: wholeNumber('seed', seed), embedder }
  const started = performance.now()
  const figures = await measureSpam({ ...settings, postgres })
  const seconds = Math.round((performance.now() - started) / 1000)
  const machine = machineFacts()
  const report = spamReport(figures, { ...machine, ...settings, seconds })
  say(report)
  const name = fake ? 'spam-fake' : 'spam'
  writeData(name, spamRows(figures), settings, { figures }, machine)
  say(`see ${writeResult(`${name}.md`, report)}`)
  return heldOff(figures)
}
