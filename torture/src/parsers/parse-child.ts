import { openSync, readdirSync, writeSync } from 'node:fs'
import fc from 'fast-check'
import { keepInput, readCorpus } from './corpus.ts'
import { hostileBytes } from './hostile-text.ts'
import { isRefusal, type Parser, type ParserName, parsers } from './parsers.ts'

/** What a child says when it is done. */
export interface ParseReport {
  inputs: number
  refused: number
  violations: string[]
}

const longestMs = 1000
const longestRunMs = 10 * 60_000

/**
 * Reads hostile inputs in a separate process. The number of each is written down before it is read, so that the waiting
 * parent sees which one never ends.
 */
async function main([name, seed, size, folder, progress, corpus]: string[]): Promise<void> {
  const parser: Parser = parsers[name as ParserName]
  const kept = readCorpus(corpus as string)
  const samples = [...parser.samples.map((sample) => Buffer.from(sample)), ...kept]
  const present = readdirSync(folder as string).sort()
  const report: ParseReport = { inputs: 0, refused: 0, violations: [] }
  const place = openSync(progress as string, 'w')
  const { read, close } = await parser.open(folder as string)

  const tryInput = async (input: Uint8Array): Promise<void> => {
    writeSync(place, String(++report.inputs).padEnd(12), 0)
    const before = process.cpuUsage()
    try {
      await read(input)
    } catch (error) {
      if (!isRefusal(error)) throw error
      report.refused++
    }
    // Processor time: a busy machine is not the parser's fault.
    const { user, system } = process.cpuUsage(before)
    const took = (user + system) / 1000
    if (took > longestMs) throw new Error(`took ${Math.round(took)} ms`)
  }

  for (const input of kept) {
    await tryInput(input).catch((error: Error) => report.violations.push(`a kept input: ${error.message}`))
  }
  const result = await fc.check(fc.asyncProperty(hostileBytes(samples), tryInput), {
    seed: Number(seed),
    numRuns: Number(size),
    // Looks for the smallest input that fails, but not for ever.
    interruptAfterTimeLimit: longestRunMs,
  })
  if (result.failed) {
    const [input] = result.counterexample as [Uint8Array]
    const path = keepInput(corpus as string, input)
    const { message, stack } = result.errorInstance as Error
    const from = stack
      ?.split('\n')
      .find((line) => line.includes(' at '))
      ?.trim()
    report.violations.push(`${name}: ${message.split('\n')[0]} ${from ?? ''} (kept in ${path})`)
  }
  await close?.()
  const created = readdirSync(folder as string).filter((entry) => !present.includes(entry))
  const expected = [
    'root',
    'transcript.jsonl',
    'transcript.json',
    'transcript.md',
    'export.json',
    'export.jsonl',
    'export.md',
  ]
  const foreign = created.filter((entry) => !expected.includes(entry))
  if (foreign.length > 0) report.violations.push(`${name}: made ${foreign.join(', ')} outside the memory`)
  process.send?.(report)
}

void main(process.argv.slice(2))
