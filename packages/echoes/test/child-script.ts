import { spawn } from 'node:child_process'
import { join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'tsup'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))

/** Bundles the package for child processes; returns the address of the module. */
export async function bundlePackage(): Promise<string> {
  const outDir = join(packageFolder, 'node_modules', '.recall-test', String(process.pid))
  await build({
    config: false,
    silent: true,
    // A pattern, in which a backslash of Windows would escape what follows it.
    entry: [join(packageFolder, 'src', 'index.ts').split(sep).join('/')],
    outDir,
    format: 'esm',
    target: 'node20',
    noExternal: [/^@recall\//, 'zod', 'stemmer'],
    external: ['yaml'],
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions(options) {
      options.conditions = ['@recall/source', ...(options.conditions ?? [])]
    },
  })
  return pathToFileURL(join(outDir, 'index.mjs')).href
}

/** Runs code in a process of its own, which knows the package as `openEchoes` and may be killed. */
export function runChild(module: string, code: string) {
  const source = `import { openEchoes } from ${JSON.stringify(module)}\n${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise<number | string | null>((resolve) => {
    child.on('exit', (status, signal) => resolve(signal ?? status))
  })
  return { ended }
}
