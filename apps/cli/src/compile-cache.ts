import { lstatSync, readFileSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs'
import * as modules from 'node:module'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { Script } from 'node:vm'
import { createFolder } from '@recall/core/process'

/** What Node's typings lack: its own compile cache (since 22.1), and the hooks that compile a CommonJS file. */
interface Internals {
  enableCompileCache?: (folder: string) => unknown
  wrap(source: string): string
  prototype: { _compile: (this: NodeJS.Module, source: string, path: string, format?: string) => unknown }
  _resolveFilename(request: string, from: NodeJS.Module, isMain: boolean, options?: object): string
  _cache: NodeJS.Require['cache']
  _extensions: NodeJS.Require['extensions']
}

const internals = modules.Module as unknown as Internals

/** The cache is renewed once a day, to include functions that were first called since. */
const renewedAfterMs = 24 * 3600_000

/**
 * Caches the compiled code of the program for the next call: compiling takes a fifth of the time of a short command.
 * From 22.1 on this is Node's own cache; earlier versions get ours. Whoever can write to the folder decides what runs,
 * so a folder that others can write to is not used. NODE_DISABLE_COMPILE_CACHE=1 turns the cache off, as in Node.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE) return
  const folder = ownFolder(env)
  if (folder === null) return
  if (internals.enableCompileCache) internals.enableCompileCache(folder)
  else compileThrough(folder)
}

function ownFolder(env: NodeJS.ProcessEnv): string | null {
  try {
    const folder = join(cacheHome(env), 'recall', 'code')
    // With an empty HOME: the working folder may be somebody else's project, whose code must not run.
    if (!isAbsolute(folder)) return null
    createFolder(folder, 0o700)
    const { uid, mode } = lstatSync(folder)
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
    return isOwn ? folder : null
  } catch {
    // The home is not writable: each call compiles again, which is only slower.
    return null
  }
}

function cacheHome(env: NodeJS.ProcessEnv): string {
  if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME
  if (process.platform === 'win32' && env.LOCALAPPDATA) return env.LOCALAPPDATA
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache')
}

/**
 * Small files compile faster than a cached file is read. A file with `import()` is left to Node, because a `Script`
 * of ours could not import.
 */
const isWorthIt = (source: string): boolean => source.length >= 4096 && !source.includes('import(')

function compileThrough(folder: string): void {
  const compileAnew = internals.prototype._compile
  const toKeep: (() => void)[] = []
  internals.prototype._compile = function compile(source, path, format) {
    const stats = isWorthIt(source) ? statSync(path, { throwIfNoEntry: false }) : undefined
    const kept = stats && readKept(folder, path, stats)
    const script = stats && format !== 'module' && scriptOf(source, path, kept?.code)
    if (!script) return compileAnew.call(this, source, path, format)
    if (!kept || script.cachedDataRejected || kept.isOld) toKeep.push(() => keep(folder, path, stats, script))
    const run = script.runInThisContext() as (...parameters: unknown[]) => unknown
    return run.call(this.exports, this.exports, requireOf(this), this, path, dirname(path))
  }
  // At exit, the cached code includes the functions that were called.
  process.once('exit', () => {
    for (const each of toKeep) each()
  })
}

/** Returns `undefined` when the source is not CommonJS: Node then finds out what it is. */
function scriptOf(source: string, path: string, code?: Buffer): Script | undefined {
  try {
    return new Script(internals.wrap(source), {
      filename: path,
      ...(code ? { cachedData: code } : {}),
    })
  } catch {
    return undefined
  }
}

function requireOf(module: NodeJS.Module): NodeJS.Require {
  const require = ((id: string) => module.require(id)) as NodeJS.Require
  require.resolve = ((id: string, options?: object) =>
    internals._resolveFilename(id, module, false, options)) as NodeJS.RequireResolve
  require.main = process.mainModule
  require.cache = internals._cache
  require.extensions = internals._extensions
  return require
}

/**
 * Identifies the file that the code was compiled from, because the engine compares only the length of the source.
 * Package managers give all files the same modification time, so the status change time must tell an update.
 */
const identityOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): Buffer =>
  Buffer.from(Float64Array.of(size, mtimeMs, ctimeMs, ino).buffer)

/**
 * The engine does not notice code made for another processor, as with a shared home or an emulator: it runs the code,
 * and goes wrong.
 */
const engine = `${process.version}-${process.arch}`

const keptPath = (folder: string, path: string): string =>
  join(folder, `${engine}-${path.slice(-200).replaceAll(/[^\w.@+-]/g, '%')}`)

/**
 * Reads cached code. The engine does not validate it, and corrupt bytes crash the process, so the file holds it
 * twice: comparing the halves takes a tenth of the time of loading Node's hashes.
 */
function readKept(folder: string, path: string, stats: Stats): { code: Buffer; isOld: boolean } | undefined {
  try {
    const kept = keptPath(folder, path)
    const bytes = readFileSync(kept)
    const half = bytes.subarray(0, bytes.length / 2)
    const identity = identityOf(stats)
    const isWhole = half.equals(bytes.subarray(half.length))
    if (!isWhole || !identity.equals(half.subarray(0, identity.length))) return undefined
    return {
      code: half.subarray(identity.length),
      isOld: Date.now() - statSync(kept).mtimeMs > renewedAfterMs,
    }
  } catch {
    return undefined
  }
}

function keep(folder: string, path: string, stats: Stats, script: Script): void {
  const kept = keptPath(folder, path)
  const unfinished = `${kept}.${process.pid}`
  try {
    const half = Buffer.concat([identityOf(stats), script.createCachedData()])
    writeFileSync(unfinished, Buffer.concat([half, half]), { mode: 0o600 })
    renameSync(unfinished, kept)
  } catch {
    // After a failure, such as a full disk, the next call compiles again, and no partial file is left.
    rmSync(unfinished, { force: true })
  }
}
