import { spawn, spawnSync } from 'node:child_process'

export interface Ran {
  code: number | null
  out: string
  err: string
}

/** Runs a program to its end, while this process goes on serving it. */
export const runProgram = (
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const { input = '', env, ...rest } = options
    const child = spawn(program, args, { ...rest, env: { ...process.env, ...env }, stdio: 'pipe' })
    const ran: Ran = { code: null, out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ran.out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      ran.err += text
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ ...ran, code }))
    // A program that reads no input may have ended before it is written.
    child.stdin.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error)
    })
    child.stdin.end(input)
  })

/** Whether a program is on this machine; where it is not, its tests are skipped and that is said. */
export function hasProgram(program: string, args: readonly string[], what: string): boolean {
  const { error, status } = spawnSync(program, args, { stdio: 'ignore' })
  if (!error && status === 0) return true
  process.stderr.write(`${what} is skipped: ${program} ${args.join(' ')} does not run here\n`)
  return false
}
