import { type Options, say, wholeNumber } from '../options.ts'
import { holds, writeReport, writeResult } from '../report.ts'
import { layersChart, measureEchoes } from '../suites/echoes.ts'
import { sayMissed } from './missed.ts'

export async function publishEchoes({ findings, seed }: Options): Promise<boolean> {
  const settings = { findings: wholeNumber('findings', findings), seed: wholeNumber('seed', seed) }
  const { rows, weeks } = await measureEchoes({ ...settings, say })
  writeResult('echoes.svg', layersChart(weeks))
  sayMissed(rows, writeReport('echoes', rows, settings))
  return rows.every(holds)
}
