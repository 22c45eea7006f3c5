import type { Socket } from 'node:net'
import { longestTimerMs } from '@recall/core'

/** The statement with which a transaction lifts the time limit of its statements. */
export const liftingStatement = 'set local statement_timeout = 0'

/** Longer than the time limit of statements: the server itself ends what takes longer, and says so. */
const graceMs = 3000

/** The longest silence of a server that limits its statements to `timeoutMs`. */
export const longestSilence = (timeoutMs: number): number => Math.min(timeoutMs + graceMs, longestTimerMs)

/**
 * Over a connection that closes while postgres 3.4 is about to write, it never writes again: a connection is closed
 * when it is written to, or when that has not happened for so long.
 */
const quietMs = 100

const code = (letter: string): number => letter.charCodeAt(0)
const query = code('Q')
const sync = code('S')
const readyForQuery = code('Z')
const idle = code('I')
const lifting = Buffer.from(`${liftingStatement}\0`)
/** Parse, Bind, Describe, Execute, Close and Flush: a group of them ends with Sync. */
const ofGroup = new Set([...'PBDECH'].map(code))

/**
 * Destroys the socket when its server owes an answer and sends nothing for too long: a router may have forgotten the
 * connection, or a pooler may hang, and TCP alone would notice a quarter of an hour later, or never. Every query and
 * every group of messages is answered by one ReadyForQuery. Whoever lifts the time limit of a transaction waits as long
 * as it takes.
 *
 * @param socket over which the driver is about to send its startup message
 */
export function watchSilence(socket: Socket, silenceMs: number): void {
  /** How many times the server still has to become ready. */
  let owed = 0
  let isGroupOpen = false
  let isPatient = false
  let isCut = false
  let timer: NodeJS.Timeout | undefined
  const tooLong = (): void => {
    const armed = timer
    // A process that was busy runs its timers before it reads the data that arrived meanwhile.
    setImmediate(() => {
      if (timer !== armed) return
      isCut = true
      timer = setTimeout(() => socket.destroy(), quietMs)
    })
  }
  const wait = (): void => {
    clearTimeout(timer)
    timer = owed > 0 && !isPatient ? setTimeout(tooLong, silenceMs) : undefined
  }

  const noteSent = (type: number, text: Buffer): void => {
    if (type === query) {
      owed++
      if (text.equals(lifting)) isPatient = true
    } else if (type === sync) {
      if (!isGroupOpen) owed++
      isGroupOpen = false
    } else if (ofGroup.has(type) && !isGroupOpen) {
      owed++
      isGroupOpen = true
    }
  }
  let isStarted = false
  const { write } = socket
  socket.write = (...given: unknown[]): boolean => {
    if (isCut) {
      socket.destroy()
      return false
    }
    const [messages] = given as [Buffer]
    // The startup message has no type.
    if (isStarted) for (const [type, text] of messagesIn(messages)) noteSent(type, text)
    else owed++
    isStarted = true
    if (timer === undefined || isPatient) wait()
    return write.apply(socket, given as never)
  }

  const read = readyStates((state) => {
    owed--
    if (state === idle) isPatient = false
  })
  socket.on('data', (piece: Buffer) => {
    read(piece)
    isCut = false
    wait()
  })
  socket.on('close', () => clearTimeout(timer))
}

/** The messages of a client, of which the driver always sends whole ones. */
function* messagesIn(bytes: Buffer): Generator<[type: number, text: Buffer]> {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 1 + bytes.readUInt32BE(at + 1)
    yield [bytes[at] as number, bytes.subarray(at + 5, end)]
    at = end
  }
}

/**
 * Finds the messages by which a server says that it is ready.
 *
 * @returns takes what the server sends, in pieces that may end within a message
 */
function readyStates(onReady: (state: number) => void): (piece: Buffer) => void {
  /** The beginning of a message whose length is not known yet. */
  let begun: Buffer = Buffer.alloc(0)
  /** Bytes of the last message that are still to come. */
  let left = 0
  return (piece) => {
    const bytes = begun.length > 0 ? Buffer.concat([begun, piece]) : piece
    let at = left
    while (at + 5 <= bytes.length) {
      const isReady = bytes[at] === readyForQuery
      const state = bytes[at + 5]
      if (isReady && state === undefined) break
      if (isReady) onReady(state as number)
      at += 1 + bytes.readUInt32BE(at + 1)
    }
    begun = bytes.subarray(at)
    left = Math.max(0, at - bytes.length)
  }
}
