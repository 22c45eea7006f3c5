import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Ran {
  /** Wall clock of the whole process, milliseconds. */
  ms: number
  /** Peak resident memory in megabytes, for Node processes that were asked for it. */
  peakMb: number | null
  out: string
  err: string
  code: number | null
}

/** Node parses this bundle at every start, which can double the time of an empty process. */
const environment = { ...process.env, NODE_EXTRA_CA_CERTS: undefined }

/**
 * Runs a whole process and waits for it.
 *
 * @param own additional environment variables
 * @param input its standard input
 */
export function run(
  command: string,
  args: readonly string[],
  cwd = process.cwd(),
  own: Record<string, string> = {},
  input = '',
): Ran {
  const started = process.hrtime.bigint()
  const { stdout, stderr, status } = spawnSync(command, args, {
    cwd,
    env: { ...environment, ...own },
    input,
    maxBuffer: 1 << 28,
  })
  const ms = Number(process.hrtime.bigint() - started) / 1e6
  return { ms, peakMb: null, out: String(stdout ?? ''), err: String(stderr ?? ''), code: status }
}

/** Like `run`, for a Node process, with its peak memory. Asking for that costs a little: not for timing. */
export function runMeasuringMemory(args: readonly string[]): Ran {
  const folder = mkdtempSync(join(tmpdir(), 'recall-bench-'))
  const hook = join(folder, 'memory.cjs')
  const report = join(folder, 'peak')
  writeFileSync(hook, `(${writePeak})(${JSON.stringify(report)})`)
  const ran = run(process.execPath, ['-r', hook, ...args])
  return { ...ran, peakMb: Number(readFileSync(report, 'utf8')) / 1024 }
}

/** Runs inside the measured process, as text. */
function writePeak(report: string): void {
  const fs = process.getBuiltinModule('node:fs')
  process.on('exit', () => {
    // On Linux `maxRSS` of a process starts at what its parent held when it started it; this figure does not.
    const own = fs.existsSync('/proc/self/status')
      ? /^VmHWM:\s+(\d+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1]
      : undefined
    fs.writeFileSync(report, own ?? String(process.resourceUsage().maxRSS))
  })
}

export const isInstalled = (command: string): boolean => run(command, ['--version']).code === 0

/** Runs some processes in turn, round after round, so that all of them run under the same conditions. */
export function interleave<Name extends string>(
  rounds: number,
  cases: Record<Name, (round: number) => Ran>,
): Record<Name, number[]> {
  const names = Object.keys(cases) as Name[]
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (const name of names) cases[name](0)
  for (let round = 0; round < rounds; round++) {
    for (const name of names) figures[name].push(cases[name](round).ms)
  }
  return figures
}

/** Builds the command line and its packages: what is measured is what their users get. */
export function buildCommandLine(): void {
  const built = run('npx', ['--yes', 'pnpm@10.34.9', '--filter', '@recall/cli...', 'run', 'build'])
  if (built.code !== 0) throw new Error(`the build failed:\n${built.out}`)
}
