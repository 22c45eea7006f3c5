import { spawn } from 'node:child_process'
import { recallProgram } from './programs.ts'

export interface Ended {
  /** The exit code, or the signal. */
  by: number | string | null
  out: string
  err: string
  tookMs: number
}

export interface RecallProcess {
  kill(): void
  ended: Promise<Ended>
}

/**
 * Starts `recall` as a separate process, without this one's environment.
 *
 * @param options preload: a script that is loaded before it
 */
export async function startRecall(
  argv: readonly string[],
  options: { cwd: string; env?: Record<string, string>; input?: string; preload?: string },
): Promise<RecallProcess> {
  const { preload } = options
  const program = [...(preload === undefined ? [] : ['--require', preload]), ...(await recallProgram())]
  const started = performance.now()
  const child = spawn(process.execPath, [...program, ...argv], {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, HOME: options.cwd, ...options.env },
    stdio: 'pipe',
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (text: Buffer) => {
    out += text
  })
  child.stderr.on('data', (text: Buffer) => {
    err += text
  })
  // A process that ends early does not read its input.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  return {
    kill: () => void child.kill('SIGKILL'),
    ended: new Promise((resolve) => {
      child.once('close', (code, signal) =>
        resolve({ by: signal ?? code, out, err, tookMs: performance.now() - started }),
      )
    }),
  }
}

/** Runs `recall` to its end. */
export const runRecall = async (...given: Parameters<typeof startRecall>): Promise<Ended> =>
  (await startRecall(...given)).ended
