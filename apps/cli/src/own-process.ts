import { isUtf8 } from 'node:buffer'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, parse } from 'node:path'
import { UsageError } from './exit-codes.ts'
import { isJson } from './is-json.ts'

/**
 * The command that starts this program: `recall` if the PATH leads to it, so that an upgrade needs no new settings;
 * otherwise Node and the script. On Windows Node is given by name if the PATH leads to it: PowerShell, which runs the
 * hooks of some hosts, takes a quoted program for a text, and Node's path has a space.
 */
export function ownCommand(
  script: string,
  { env, execPath, execArgv, platform }: Pick<NodeJS.Process, 'env' | 'execPath' | 'execArgv' | 'platform'>,
): string[] {
  // npx and package scripts put their programs on the PATH for one run: later nobody would find them.
  const folders = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
  const leadTo = (path: string, name: string): boolean => {
    const real = realPathOf(path)
    return real !== undefined && folders.some((folder) => realPathOf(join(folder, name)) === real)
  }
  if (leadTo(script, 'recall')) return ['recall']
  const node = platform === 'win32' && leadTo(execPath, 'node.exe') ? 'node' : execPath
  return [node, ...execArgv, script]
}

/** Whether a command starts a program that npx or its like fetched for one run, and removes some day. */
export const isShortLived = (command: readonly string[]): boolean =>
  command.some((part) => /[\\/](?:_npx|bunx-[^\\/]+|dlx(?:-[^\\/]+)?)[\\/]/.test(part))

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** Enough for any prompt or summary of a host, and any text that the hub accepts. */
const mostBytes = 4 * 1024 * 1024
/** Some hosts keep the pipe open: stop when nothing arrives for this long. */
const mostWaitMs = 300

/** Reads a host's payload until it is one JSON value, the stream ends, or nothing has arrived for a while. */
export function readPayload(stream: NodeJS.ReadStream): Promise<string> {
  if (stream.isTTY) return Promise.resolve('')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const text = (): string => Buffer.concat(chunks).toString('utf8')
    const finish = (): void => {
      clearTimeout(timer)
      stream.removeAllListeners()
      // An open pipe would keep this process alive.
      stream.destroy()
      resolve(text())
    }
    const waitForMore = (): void => {
      clearTimeout(timer)
      timer = setTimeout(finish, mostWaitMs)
    }
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      const isWhole = chunk.subarray(-4).toString('latin1').trimEnd().endsWith('}') && isJson(text())
      if (isWhole || length > mostBytes) finish()
      else waitForMore()
    })
    stream.once('end', finish)
    stream.once('error', finish)
    waitForMore()
  })
}

/**
 * Reads a stream to its end. It has no timeout, because a text cut off while its writer pauses would look complete.
 *
 * @throws UsageError when it is larger than 4 MiB, or not UTF-8
 */
export async function readText(stream: NodeJS.ReadStream): Promise<string> {
  if (stream.isTTY) return ''
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > mostBytes) throw new UsageError(`standard input holds more than ${mostBytes} bytes`)
  }
  const bytes = Buffer.concat(chunks)
  if (!isUtf8(bytes)) throw new UsageError('standard input is not UTF-8 text')
  return bytes.toString('utf8')
}

/** The working folder; if it was deleted, the name that it had. */
export function workingFolder(env: NodeJS.ProcessEnv, current = process.cwd): string {
  try {
    return current()
  } catch {
    return env.PWD || homedir()
  }
}

/** Starts a process that outlives this one and its parent. */
export async function startDetached(argv: readonly string[]): Promise<void> {
  const { spawn } = await import('node:child_process')
  const child = spawn(process.execPath, argv, {
    // The session's working folder may be deleted while the process runs, and not every user has a home.
    cwd: parse(process.execPath).root,
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  })
  child.on('error', () => {})
  child.unref()
}
