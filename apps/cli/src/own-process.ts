import { homedir } from 'node:os'
import { UsageError } from './exit-codes.ts'

/** A payload holds a prompt or a summary at most, a text what the hub takes. */
const mostBytes = 4 * 1024 * 1024
/** Some hosts keep the pipe open. */
const mostWaitMs = 300

/**
 * What a host hands over: read until it is one JSON value, until the stream ends, or until nothing has come for
 * a while.
 */
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
    const await_ = (): void => {
      clearTimeout(timer)
      timer = setTimeout(finish, mostWaitMs)
    }
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      const isWhole = chunk.subarray(-4).toString('latin1').trimEnd().endsWith('}') && isJson(text())
      if (isWhole || length > mostBytes) finish()
      else await_()
    })
    stream.once('end', finish)
    stream.once('error', finish)
    await_()
  })
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * All that a stream gives, to its end: a text that is cut off where its writer stopped to think looks whole.
 *
 * @throws UsageError when it is larger than any text that is meant to be read
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
  return Buffer.concat(chunks).toString('utf8')
}

/** A process that outlives us and whoever started us. */
export async function startDetached(argv: readonly string[]): Promise<void> {
  const { spawn } = await import('node:child_process')
  const child = spawn(process.execPath, argv, {
    // The folder of a session may be deleted while we run.
    cwd: homedir(),
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  })
  child.on('error', () => {})
  child.unref()
}
