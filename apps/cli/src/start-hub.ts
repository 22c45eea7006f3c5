import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { UsageError } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'

/** In the repository the hub runs from its sources, like this command. */
const source = import.meta.url.endsWith('.ts')
  ? fileURLToPath(new URL('../../hub/src/main.ts', import.meta.url))
  : undefined

export interface StartedHub {
  url: Promise<string>
  stop(): Promise<void>
}

/**
 * Starts a hub for trying things out: on loopback, with an embedded database in a folder, and with the embedder that
 * matches words but not meaning. Settings of other hubs in the environment are not passed on.
 */
export function startHub([program, ...args]: HubCommand, io: Io, folder: string): StartedHub {
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !name.startsWith('RECALL_')))
  const settings = Object.fromEntries(
    Object.entries({ PORT: '0', DATA: folder, EMBEDDING_PROVIDER: 'fake' }).map(([name, value]) => [
      `RECALL_HUB_${name}`,
      value,
    ]),
  )
  const hub = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...settings },
  })
  let said = ''
  hub.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = new Promise<void>((resolve) => {
    hub.once('close', () => resolve())
  })
  const url = new Promise<string>((resolve, reject) => {
    createInterface(hub.stdout).on('line', (line) => {
      const [address] = /http:\/\/[^\s:]+:\d+/.exec(line) ?? []
      if (address) resolve(address)
    })
    hub.once('error', reject)
    hub.once('close', () => reject(new Error(`the hub did not start: ${said.trim()}`)))
  })
  // Callers that await it see a failure; until then it must not be an unhandled rejection.
  url.catch(() => {})
  return {
    url,
    async stop() {
      hub.kill('SIGTERM')
      await ended
    },
  }
}

/** A program and its arguments. */
type HubCommand = readonly [string, ...string[]]

/**
 * The command that starts a hub.
 *
 * @throws UsageError when no hub is installed: with its database it is too large to be part of this package
 */
export function hubCommand({ env }: Io): HubCommand {
  if (source) return [process.execPath, ...process.execArgv, source]
  const installed = installedHub(env.PATH ?? '')
  if (installed) return installed
  throw new UsageError('there is no hub on this machine: npm install -g @recall/hub, then try again')
}

/**
 * The command of the hub that the PATH leads to. On Windows a package manager puts scripts there that name the program:
 * it is started without them, because they need a shell, and a signal would stop that shell instead.
 */
export function installedHub(
  path: string,
  platform: NodeJS.Platform = process.platform,
): [string, ...string[]] | undefined {
  const installed = path
    .split(delimiter)
    .flatMap((folder) => (folder === '' ? [] : [join(folder, 'recall-hub')]))
    .find((file) => existsSync(file))
  if (installed === undefined) return undefined
  if (platform !== 'win32') return [installed]
  const [, program] = /"\$basedir\/([^"\n]+\.js)"/.exec(readFileSync(installed, 'utf8')) ?? []
  return program === undefined ? undefined : [process.execPath, join(dirname(installed), program)]
}
