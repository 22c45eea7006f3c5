import { growthCurves, growthReport } from '../growth-report.ts'
import { type Options, roundsOf, say, sizesOf, wholeNumber } from '../options.ts'
import { buildCommandLine } from '../processes.ts'
import { machineFacts, writeData, writeReport, writeResult } from '../report.ts'
import { measureFiles } from '../suites/files.ts'
import { measureGrowth } from '../suites/growth.ts'
import { measureHooks } from '../suites/hooks.ts'
import { measureMeaning } from '../suites/meaning.ts'
import { sayMissed } from './missed.ts'

export async function publishFiles(options: Options): Promise<boolean> {
  const settings = {
    sizes: sizesOf(options, [1000, 10_000, 100_000]),
    rounds: roundsOf(options, 25),
    seed: wholeNumber('seed', options.seed),
    qmd: options.qmd,
  }
  build()
  const rows = await measureFiles({ ...settings, say })
  sayMissed(rows, writeReport('files', rows, settings))
  return true
}

export async function publishHooks(options: Options): Promise<boolean> {
  const settings = { rounds: roundsOf(options, 40) }
  build()
  const rows = await measureHooks({ ...settings, say })
  sayMissed(rows, writeReport('hooks', rows, settings))
  return true
}

export async function publishMeaning(options: Options): Promise<boolean> {
  const settings = { size: Math.max(...sizesOf(options, [100_000])), rounds: roundsOf(options, 25) }
  build()
  const rows = await measureMeaning({ ...settings, say })
  sayMissed(rows, writeReport('meaning', rows, settings))
  return true
}

export async function publishGrowth(options: Options): Promise<boolean> {
  const settings = {
    sizes: sizesOf(options, [1000, 10_000, 100_000, 1_000_000]),
    minutes: wholeNumber('minutes', options.minutes),
    seed: wholeNumber('seed', options.seed),
  }
  build()
  const result = await measureGrowth({ ...settings, say })
  const machine = machineFacts()
  writeData('growth', [], settings, { ...result }, machine)
  writeResult('growth.svg', growthCurves(result.points))
  const path = writeResult('growth.md', growthReport(result, { ...machine, ...settings }))
  for (const each of result.leftOut) say(`not measured: ${each}`)
  say(`see ${path} and growth.svg`)
  return true
}

function build(): void {
  say('building the command line')
  buildCommandLine()
}
