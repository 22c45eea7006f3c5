import { fstatSync, readSync, statSync, writeSync } from 'node:fs'
import { exitCodes } from '../exit-codes.ts'
import { printable } from './printable.ts'

/** Whether the reader went away before it had everything. */
let isCutOff = false

/** Ignores a closed pipe, such as that of `head`; any other failure to write a result ends the command. */
const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  isCutOff = true
  if (error.code === 'EPIPE') return
  throw new Error(`the result cannot be written: ${error.message}`, { cause: error })
}

/** The same for a stream, whose error event has no other listener. */
function leaveUnlessClosed(error: NodeJS.ErrnoException): void {
  isCutOff = true
  if (error.code === 'EPIPE') return
  writeTalk(`recall: the result cannot be written: ${error.message}\n`)
  process.exit(exitCodes.failed)
}

/**
 * Whether a file descriptor may be a terminal; opening its stream to find out costs milliseconds. A bigint `fstat`,
 * because Node's `realpathSync`, which loads modules, stops at a link when the last plain `fstat` was of a pipe.
 */
function isDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor, { bigint: true }).isCharacterDevice()
  } catch {
    return false
  }
}

/** Whether writes to a descriptor go through its stream. */
const isStreaming = (descriptor: 1 | 2): boolean => {
  streaming[descriptor] ??= process.platform === 'win32' || isDevice(descriptor)
  return streaming[descriptor]
}
const streaming: { 1?: boolean; 2?: boolean } = {}

/**
 * Writes to a pipe or a file without opening its stream.
 *
 * @returns the rest of the text that a slow reader has not taken yet: from then on its stream has to be used
 */
function writeNow(
  descriptor: 1 | 2,
  text: string,
  onError: (error: NodeJS.ErrnoException) => void,
): Uint8Array | undefined {
  let rest: Uint8Array = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest))
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
      onError(error as NodeJS.ErrnoException)
      return undefined
    }
    streaming[descriptor] = true
    return rest
  }
}

/** Writes results to standard output. */
export function writeResult(text: string): void {
  const rest = isStreaming(1) ? text : writeNow(1, text, ignoreClosedPipe)
  if (rest === undefined) return
  // Looks for this very listener: a worker's output, piped here, adds one of its own, which is removed with the first
  // error.
  if (!process.stdout.listeners('error').includes(leaveUnlessClosed))
    process.stdout.on('error', leaveUnlessClosed)
  process.stdout.write(rest)
}

/** The work goes on if its progress cannot be reported: the reader of standard error left, or its disk is full. */
const goOnUntold = (): void => {}

/** Writes progress, notices and errors to standard error. */
export function writeTalk(told: string): void {
  // Names of files and answers that others wrote may contain terminal controls.
  const text = printable(told)
  const rest = isStreaming(2) ? text : writeNow(2, text, goOnUntold)
  if (rest === undefined) return
  if (!process.stderr.listeners('error').includes(goOnUntold)) process.stderr.on('error', goOnUntold)
  process.stderr.write(rest)
}

/** Waits until the results are handed over. @returns whether their reader, or the disk, took all of them */
export async function resultTaken(): Promise<boolean> {
  if (isStreaming(1) && !isCutOff) {
    await new Promise<void>((resolve) => {
      process.stdout.write('', (error) => {
        isCutOff ||= Boolean(error)
        resolve()
      })
    })
  }
  return !isCutOff && !isClosed(1)
}

/**
 * Whether a descriptor was closed when this process started: Node then opens the null device in its place, readable
 * too, which a real target of output is not.
 */
function isClosed(descriptor: 1): boolean {
  if (process.platform === 'win32') return false
  const { rdev } = fstatSync(descriptor, { bigint: true })
  if (rdev !== statSync('/dev/null', { bigint: true }).rdev) return false
  try {
    readSync(descriptor, Buffer.alloc(1))
    return true
  } catch {
    return false
  }
}

export const isScreen = (stream: 'stdout' | 'stderr'): boolean =>
  isDevice(stream === 'stdout' ? 1 : 2) && process[stream].isTTY === true

export const screenColumns = (): number => (isDevice(1) && process.stdout.columns) || 100
