import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { createFolder, renamePatiently, syncFolder } from '@recall/core/process'
import { UsageError } from './exit-codes.ts'
import { behindLinks, ownName } from './memory/unfinished.ts'
import type { Io } from './terminal/io.ts'

/** The address of a hub, and the key of an agent on it. */
export interface HubAccess {
  url: string
  apiKey: string
}

/** Access, and the file it was read from; `null` if it comes from the environment. */
export interface FoundAccess extends HubAccess {
  keyFile: string | null
}

export interface HubAccessOptions {
  url?: string
  keyFile?: string
}

/** The path from `--key-file`, otherwise `hub.json` in the user's configuration folder. */
export function keyFileOf({ cwd, env, home }: Io, { keyFile }: HubAccessOptions): string {
  if (keyFile) return resolve(cwd, keyFile)
  const named = env.XDG_CONFIG_HOME ?? ''
  // A relative path is ignored: the key would end up in whatever project one happens to be in.
  const configuration = isAbsolute(named) ? named : join(home, '.config')
  return join(configuration, 'recall', 'hub.json')
}

/**
 * Finds address and key: in the named file, otherwise in the environment, otherwise in the default file.
 *
 * @throws UsageError when there is none, when others can read the file, or when it is for another hub than the
 * requested one
 */
export function findHubAccess(io: Io, options: HubAccessOptions): FoundAccess {
  const path = keyFileOf(io, options)
  const { RECALL_API_KEY: key, RECALL_API_URL: address } = io.env
  if (key && !options.keyFile) {
    if (options.url && address && !sameHub(options.url, address))
      throw new UsageError(
        `RECALL_API_KEY is the key of an agent on ${address}: name the --key-file for ${options.url}, or change RECALL_API_URL`,
      )
    const url = options.url ?? address
    if (url) return { url, apiKey: key, keyFile: null }
    throw new UsageError('the address of the hub is missing: set RECALL_API_URL as well as RECALL_API_KEY')
  }
  // A named file determines the hub, whatever the environment says.
  const wanted = options.url ?? (options.keyFile ? undefined : address)
  const file = readKeyFile(path)
  if (file && (!wanted || sameHub(wanted, file.url))) return { ...file, keyFile: path }
  if (file) {
    throw new UsageError(
      `${path} holds the key of an agent on ${file.url}: ${options.url ? `name the --key-file for ${wanted}` : `set RECALL_API_KEY for ${wanted}, or change RECALL_API_URL`}`,
    )
  }
  throw new UsageError(
    `no key for a hub in ${path}: run 'recall hub register <name> --url <address>', or set RECALL_API_URL and RECALL_API_KEY`,
  )
}

/** A hub says how a program sends its key; this adds, for a person, where the rejected key is kept. */
export function withPlaceOfKey(error: unknown, { url, keyFile }: FoundAccess): unknown {
  const code = MemoryErrorCode.UNAUTHENTICATED
  if (!isMemoryError(error, code)) return error
  const [place, first] = keyFile === null ? ['RECALL_API_KEY', 'unset it'] : [keyFile, 'move the file away']
  return new MemoryError(
    `${url} does not accept the key in ${place}: correct it, or ${first} and become a new agent with 'recall hub register'`,
    code,
    { cause: error },
  )
}

const sameHub = (a: string, b: string): boolean => rootOf(a) === rootOf(b)

/** A hub's skill file gives its address including the path of the API. */
export const rootOf = (address: string): string => address.replace(/\/+$/, '').replace(/\/api\/v1$/, '')

/**
 * @returns `null` when there is no file
 * @throws UsageError when it is a folder, others can read it, or it is not a key file
 */
export function readKeyFile(path: string): HubAccess | null {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (!facts) return null
  if (facts.isDirectory()) throw new UsageError(`${path} is a folder: name the file in it that holds the key`)
  if (process.platform !== 'win32' && (facts.mode & 0o077) !== 0)
    throw new UsageError(`${path} holds a key and others can read it: chmod 600 it first`)
  try {
    const { url, api_key: apiKey } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    if (typeof url === 'string' && typeof apiKey === 'string') return { url, apiKey }
  } catch {
    // Reported below, like any other invalid content.
  }
  throw new UsageError(`${path} is not a key file: it should be {"url": "…", "api_key": "…"}`)
}

/**
 * Reserves a file for a key before the hub is asked for one, because the hub shows it only once. Other users can never
 * read the file, and it is complete as soon as it exists. A link to a key file stays a link.
 */
export function reserveKeyFile(name: string) {
  const path = behindLinks(name)
  createFolder(dirname(path), 0o700)
  const temporary = ownName(path, '.unfinished-')
  const file = openSync(temporary, 'wx', 0o600)
  return {
    temporary,
    keep({ url, apiKey }: HubAccess): void {
      writeSync(file, `${JSON.stringify({ url, api_key: apiKey })}\n`)
      fsyncSync(file)
      closeSync(file)
      renamePatiently(temporary, path)
      // Without this, a power cut could bring back the old file, whose key no longer works.
      syncFolder(dirname(path))
    },
    /** Removes the reservation when the hub gave no key. */
    drop(): void {
      closeSync(file)
      rmSync(temporary)
    },
  }
}
