import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** What follows `node` to run the hub as it is written. */
export const fromSources = ['--import', 'tsx', '-C', '@recall/source', main]

/** A hub in a process of its own. */
export interface HubProcess {
  url: string
  pid: number
  /** The exit code, or the signal. */
  stop(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | string | null>
  stderr(): string
}

/**
 * Starts a hub as people do, and waits until it listens.
 *
 * @param program what follows `node`
 */
export async function startHub(
  settings: Record<string, string>,
  program: readonly string[] = fromSources,
): Promise<HubProcess> {
  const child = spawn(process.execPath, program, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, RECALL_HUB_PORT: '0', ...prefixed(settings) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let errors = ''
  child.stderr.on('data', (data: Buffer) => {
    errors += data
  })
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      out += data
      const found = /http:\/\/\S+?:\d+/.exec(out)
      if (found) resolve(found[0])
    })
    void exited.then(() => reject(new Error(`the hub ended: ${errors}`)))
  })
  return {
    url,
    pid: child.pid ?? 0,
    async stop(signal) {
      child.kill(signal)
      const [code, by] = await exited
      return code ?? by
    },
    stderr: () => errors,
  }
}

/** Runs a command of the hub to its end. */
export async function runHub(
  settings: Record<string, string>,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { stdout, ...ended } = await pipeHub(settings, words)
  return { ...ended, stdout: stdout.toString('utf8') }
}

/** Runs a command of the hub that reads its standard input, or writes what is no text. */
export async function pipeHub(
  settings: Record<string, string>,
  words: readonly string[],
  input: Uint8Array = new Uint8Array(),
): Promise<{ code: number; stdout: Buffer; stderr: string }> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...prefixed(settings) }
  const child = spawn(process.execPath, [...fromSources, ...words], { env })
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code, stdout, stderr }
}

const prefixed = (settings: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`RECALL_HUB_${name}`, value]))

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

const postgresBin = '/usr/lib/postgresql/15/bin'

/** Whether a Postgres of one's own can be started and killed here; its scripts write to /dev/null as any user. */
export const canStartPostgres =
  existsSync(join(postgresBin, 'initdb')) && (statSync('/dev/null').mode & 0o002) !== 0

if (!canStartPostgres) {
  process.stderr.write(
    'killing a Postgres server is skipped: none can be started here; its connections are cut\n',
  )
}

/** What a hub reaches its database through. */
export interface Killable {
  url: string
  kill(): void | Promise<void>
  start(): void | Promise<void>
}

/** A Postgres of one's own, to be killed, with its data in a folder. */
export async function startPostgres(folder: string): Promise<Killable> {
  const data = join(folder, 'cluster')
  const port = await freePort()
  const isRoot = process.getuid?.() === 0
  // Postgres refuses to run as root.
  const run = (program: string, ...args: string[]): void => {
    const [command, ...rest] = isRoot
      ? [
          'setpriv',
          '--reuid=postgres',
          '--regid=postgres',
          '--init-groups',
          '--',
          join(postgresBin, program),
          ...args,
        ]
      : [join(postgresBin, program), ...args]
    execFileSync(command as string, rest, { cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] })
  }
  chmodSync(folder, 0o755)
  mkdirSync(data)
  if (isRoot) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'])))
    chownSync(data, uid as number, gid as number)
  }
  run('initdb', '-D', data, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-U', 'postgres')
  const start = (): void =>
    run(
      'pg_ctl',
      '-D',
      data,
      '-w',
      '-o',
      `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`,
      '-l',
      join(data, 'log'),
      'start',
    )
  const kill = (): void => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')
  start()
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, kill, start }
}

/** A Redis of one's own, to be killed. */
export async function startRedis(port: number): Promise<{ url: string; kill(): Promise<void> }> {
  const child: ChildProcess = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', ''],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.stdout?.on('data', (data: Buffer) => String(data).includes('Ready to accept') && resolve())
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** Asks until the answer is as wanted; half a minute is far more than any fault here takes to end. */
export async function until<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const answer = await ask()
    if (wanted(answer)) return answer
    if (performance.now() > deadline) throw new Error(`never as wanted, at last ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
