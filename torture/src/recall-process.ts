import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundleScript } from '../../packages/store-file/test/child-process.ts'

const main = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url))
let script: Promise<string> | undefined

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

/** Starts `recall` as a process of its own, with nothing of this one's environment. */
export async function startRecall(
  argv: readonly string[],
  options: { cwd: string; env?: Record<string, string>; input?: string },
): Promise<RecallProcess> {
  script ??= bundleScript(main)
  const started = performance.now()
  const child = spawn(process.execPath, [await script, ...argv], {
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
