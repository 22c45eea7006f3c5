import { type Options, roundsOf, say, sizesOf, wholeNumber } from '../options.ts'
import { writeReport } from '../report.ts'
import { measureEmbedded } from '../suites/embedded.ts'
import { measureProtocol } from '../suites/protocol.ts'
import { sayMissed } from './missed.ts'

export async function publishProtocol(options: Options): Promise<boolean> {
  const { postgres } = options
  const settings = { rounds: roundsOf(options, 25) }
  const rows = await measureProtocol({ ...settings, ...(postgres ? { postgres } : {}), say })
  sayMissed(rows, writeReport('protocol', rows, settings))
  return true
}

export async function publishEmbedded(options: Options): Promise<boolean> {
  const { postgres = '' } = options
  const [size = 1000] = sizesOf(options, [1000])
  const settings = { size, rounds: roundsOf(options, 40), seed: wholeNumber('seed', options.seed) }
  const rows = await measureEmbedded({ ...settings, postgres, say })
  sayMissed(rows, writeReport('embedded', rows, settings))
  return true
}
