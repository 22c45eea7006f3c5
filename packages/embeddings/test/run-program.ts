import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const local = fileURLToPath(new URL('../src/local/', import.meta.url))

/** Runs a program that imports sources of the local embedder by `./`, in a process of its own, and gives what it prints. */
export async function runProgram(text: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const fromSources = ['--conditions', '@recall/source', '--import', import.meta.resolve('tsx')]
  const program = ['--input-type=module', '--eval', text]
  const { stdout } = await promisify(execFile)(process.execPath, [...fromSources, ...program], {
    cwd: local,
    env,
  })
  return stdout
}
