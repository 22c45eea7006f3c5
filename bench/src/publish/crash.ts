import { type Options, say, wholeNumber } from '../options.ts'
import { writeReport } from '../report.ts'
import { measureCrashes, storms } from '../suites/crash.ts'

export async function publishCrash(
  suite: keyof typeof storms,
  usual: number,
  { kills, seed }: Options,
): Promise<boolean> {
  const settings = { kills: kills ? wholeNumber('kills', kills) : usual, seed: wholeNumber('seed', seed) }
  const { rows, violations } = await measureCrashes(storms[suite], settings.kills, settings.seed, say)
  const path = writeReport(suite, rows, settings)
  for (const violation of violations) say(violation)
  say(`see ${path}`)
  return violations.length === 0
}
