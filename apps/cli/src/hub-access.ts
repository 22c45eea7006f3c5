import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UsageError } from './exit-codes.ts'
import type { Io } from './io.ts'

/** Which agent on which hub. */
export interface HubAccess {
  url: string
  apiKey: string
}

/** Where the key comes from: `null` stands for the environment. */
export interface FoundAccess extends HubAccess {
  keyFile: string | null
}

export interface HubAccessOptions {
  url?: string
  keyFile?: string
}

/** `--key-file`, else `hub.json` in the folder where the settings of programs are. */
export const keyFileOf = (io: Io, { keyFile }: HubAccessOptions): string =>
  keyFile
    ? resolve(io.cwd, keyFile)
    : join(io.env.XDG_CONFIG_HOME || join(io.home, '.config'), 'recall', 'hub.json')

/**
 * Address and key: from the file that was named, else from the environment, else from the usual file.
 *
 * @throws UsageError when there is none, when others can read the file, or when it is for another hub than was
 * asked for
 */
export function findHubAccess(io: Io, options: HubAccessOptions): FoundAccess {
  const path = keyFileOf(io, options)
  const { RECALL_API_KEY: key, RECALL_API_URL: address } = io.env
  if (key && !options.keyFile) {
    const url = options.url ?? address
    if (url) return { url, apiKey: key, keyFile: null }
    throw new UsageError('no address of a hub: set RECALL_API_URL beside RECALL_API_KEY, or give --url')
  }
  // A file that was named stands for its hub, whatever the environment is set to.
  const wanted = options.url ?? (options.keyFile ? undefined : address)
  const file = readKeyFile(path)
  if (file && (!wanted || sameHub(wanted, file.url))) return { ...file, keyFile: path }
  if (file) {
    throw new UsageError(
      `${path} holds the key of an agent on ${file.url}: name the --key-file for ${wanted}${options.url ? '' : ', or change RECALL_API_URL'}`,
    )
  }
  throw new UsageError(
    `no key for a hub in ${path}: run 'recall hub register <name> --url <address>', or set RECALL_API_URL and RECALL_API_KEY`,
  )
}

const sameHub = (a: string, b: string): boolean => a.replace(/\/+$/, '') === b.replace(/\/+$/, '')

/** @throws UsageError when it is there and cannot be used */
export function readKeyFile(path: string): HubAccess | null {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (!facts) return null
  if (process.platform !== 'win32' && (facts.mode & 0o077) !== 0)
    throw new UsageError(`${path} holds a key and others can read it: chmod 600 it first`)
  try {
    const { url, api_key: apiKey } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    if (typeof url === 'string' && typeof apiKey === 'string') return { url, apiKey }
  } catch {
    // Told below, like any other content that is no key.
  }
  throw new UsageError(`${path} is no key file: it should be {"url": "…", "api_key": "…"}`)
}

/**
 * Makes sure that a key can be kept before a hub is asked for one: it is shown only once. The file is never
 * readable by others, and whole whenever it is there.
 */
export function reserveKeyFile(path: string) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}`
  const file = openSync(temporary, 'wx', 0o600)
  return {
    keep({ url, apiKey }: HubAccess): void {
      writeSync(file, `${JSON.stringify({ url, api_key: apiKey })}\n`)
      fsyncSync(file)
      closeSync(file)
      renameSync(temporary, path)
      // Without it a power cut may bring the old file back, with a key that is of no more use.
      if (process.platform !== 'win32') syncFolder(dirname(path))
    },
    /** When the hub gave none. */
    drop(): void {
      closeSync(file)
      rmSync(temporary)
    },
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
