import {
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import * as modules from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** What Node's typings leave out: its own cache (since 22.1), and how it compiles a CommonJS file. */
interface Internals {
  enableCompileCache?: (folder: string) => unknown
  wrap(source: string): string
  prototype: { _compile: (this: NodeJS.Module, source: string, path: string, format?: string) => unknown }
  _resolveFilename(request: string, from: NodeJS.Module, isMain: boolean, options?: object): string
  _cache: NodeJS.Require['cache']
  _extensions: NodeJS.Require['extensions']
}

const internals = modules.Module as unknown as Internals

/** Once a day the functions that were used since are added to what is kept. */
const renewedAfterMs = 24 * 3600_000

/**
 * Keeps what the engine makes of the program's code, so that the next call does not compile it again: a fifth of what
 * a short command takes. Node does so itself from 22.1 on, this is for those before. The folder is the user's own, as
 * whoever can write there decides what runs; one that others may write to is left alone. NODE_DISABLE_COMPILE_CACHE=1
 * turns it off, as it does in Node.
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
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(folder)
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
    return isOwn ? folder : null
  } catch {
    // A home that cannot be written: every call compiles anew, which is only slower.
    return null
  }
}

function cacheHome(env: NodeJS.ProcessEnv): string {
  if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME
  if (process.platform === 'win32' && env.LOCALAPPDATA) return env.LOCALAPPDATA
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache')
}

/** Smaller files compile faster than a second one is read; and a script of ours could not say what it imports. */
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
  // When the functions that were used are compiled as well.
  process.once('exit', () => {
    for (const each of toKeep) each()
  })
}

/** Nothing where the source is no CommonJS: then Node finds out what it is. */
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
 * What file the code was made from. The engine compares only the length of the source; and packages unpack their files
 * with one and the same time, so it is the change of a file's status that tells an update.
 */
const identityOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): Buffer =>
  Buffer.from(Float64Array.of(size, mtimeMs, ctimeMs, ino).buffer)

const keptPath = (folder: string, path: string): string =>
  join(folder, path.slice(-200).replaceAll(/[^\w.@+-]/g, '%'))

/**
 * The engine does not look whether the code is whole, and wrong bytes break the process: so it stands in the file twice.
 * To compare the two takes a tenth of what loading Node's hashes does.
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
    // A full disk: the next call compiles anew, which is only slower, and no half of a file stays behind.
    rmSync(unfinished, { force: true })
  }
}
