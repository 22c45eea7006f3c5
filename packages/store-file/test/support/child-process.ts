import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasEnded } from '@recall/core/process'
import { build } from 'tsup'

const packageFolder = fileURLToPath(new URL('../..', import.meta.url))

const bundles = join(packageFolder, 'node_modules', '.recall-test')

/** Removes what earlier processes bundled: the runner ends them before they could. */
function removeAbandoned(): void {
  for (const pid of readdirSync(bundles))
    if (hasEnded(Number(pid))) rmSync(join(bundles, pid), { recursive: true, force: true })
}

/** Bundles a script, of `test/children` unless its path is given: a child starts in a fraction of the time. Returns its path. */
export async function bundleScript(name: string): Promise<string> {
  const outDir = join(bundles, String(process.pid))
  if (mkdirSync(outDir, { recursive: true })) removeAbandoned()
  await build({
    config: false,
    silent: true,
    // A pattern, in which a backslash of Windows would escape what follows it.
    entry: [resolve(packageFolder, 'test/children', name).split(sep).join('/')],
    outDir,
    format: 'esm',
    target: 'node20',
    noExternal: [/^@recall\//, 'zod', 'smol-toml', 'stemmer'],
    external: ['yaml', '@photostructure/sqlite'],
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions(options) {
      options.conditions = ['@recall/source', ...(options.conditions ?? [])]
    },
  })
  return join(outDir, basename(name).replace(/\.ts$/, '.mjs'))
}

export interface Child {
  process: ChildProcess
  /** Resolves with the next message of the child. */
  message(): Promise<unknown>
  /** Resolves when the process has ended, with its exit code or signal. */
  ended: Promise<number | string | null>
}

/** Starts a script; `files` are open files of this process that the child gets as 4, 5, … */
export function startChild(script: string, args: string[], files: number[] = []): Child {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...files],
  })
  const messages: unknown[] = []
  const waiting: ((message: unknown) => void)[] = []
  child.on('message', (message) => {
    const next = waiting.shift()
    if (next) next(message)
    else messages.push(message)
  })
  const ended = new Promise<number | string | null>((resolve) => {
    child.on('exit', (code, signal) => {
      for (const next of waiting.splice(0)) next(null)
      resolve(signal ?? code)
    })
  })
  return {
    process: child,
    ended,
    message: () =>
      messages.length > 0
        ? Promise.resolve(messages.shift())
        : new Promise((resolve) => {
            waiting.push(resolve)
          }),
  }
}
