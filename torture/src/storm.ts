import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleScript, startChild } from '../../packages/store-file/test/support/child-process.ts'

export interface StormOptions<Report> {
  /**
   * Path of the script; it calls `process.send('…')` at each step and writes reports, a JSON line each, to descriptor
   * 4.
   */
  script: string
  /** The child's arguments, after its name and seed. */
  args: readonly string[]
  kills: number
  random: () => number
  /** A folder for the log, which only the parent reads. */
  folder: string
  /** Children that are alive at the same time. */
  together: number
  /** Checks what is left after a kill. */
  check(reports: readonly Report[], isLast: boolean): Promise<string[]>
}

/** Starts children and kills them at random moments; what they reported before that is the log to check against. */
export async function killAgainAndAgain<Report>(
  options: StormOptions<Report>,
): Promise<{ kills: number; reports: Report[]; violations: string[] }> {
  const { args, kills: wanted, random, folder, together, check } = options
  const script = await bundleScript(options.script)
  const log = join(folder, 'reports.jsonl')
  const file = openSync(log, 'a')
  const violations: string[] = []
  let reports: Report[] = []
  let kills = 0
  try {
    while (kills < wanted) {
      const children = Array.from({ length: Math.min(together, wanted - kills) }, () =>
        startChild(script, [...args, `w${++kills}`, String(Math.floor(random() * 2 ** 31))], [file]),
      )
      await Promise.all(
        children.map(async (child) => {
          // Waits for some steps, however slow the machine is, and then kills at any moment of the next ones.
          for (let left = Math.floor(random() * 10); left >= 0; left--) await child.message()
          await new Promise((resolve) => setTimeout(resolve, random() * 20))
          child.process.kill('SIGKILL')
          const ended = await child.ended
          if (ended !== 'SIGKILL') violations.push(`a child ended by itself, with ${ended}`)
        }),
      )
      const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1)
      reports = lines.map((line) => JSON.parse(line) as Report)
      const found = await check(reports, kills === wanted)
      violations.push(...found.map((violation) => `after kill ${kills}: ${violation}`))
    }
  } finally {
    closeSync(file)
  }
  return { kills, reports, violations }
}
