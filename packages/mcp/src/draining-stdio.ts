import { type Readable, Transform, type Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createLineReader, longestLine } from './long-lines.ts'
import { refusalOf } from './malformed-lines.ts'

/**
 * Longest wait, in milliseconds, for calls under way after the input has ended: the host is gone, or will not wait any
 * longer.
 */
const mostWaitMs = 10_000

/** Requests that were read but not yet answered. */
interface UnderWay {
  onIncoming(message: JSONRPCMessage): void
  onOutgoing(message: JSONRPCMessage): void
  clear(): void
  /** Resolves when none is left, or after `mostWaitMs`. */
  done(): Promise<void>
}

/**
 * A transport over standard input and output whose input ends only when every request has been answered, or after
 * `mostWaitMs`: a host that writes its requests and closes the pipe still gets its answers. A line that is too long, or
 * not a message, is refused, and the connection stays open.
 */
export function createDrainingStdio(
  stdin: Readable,
  stdout: Writable,
): { transport: Transport; ended: Promise<void> } {
  const underWay = createUnderWay()
  const refuse = (id: RequestId | null, error: { code: number; message: string }): void => {
    // JSON-RPC requires `null` when the id is unknown, which the SDK's type does not allow.
    const refusal = { jsonrpc: '2.0', id, error } as JSONRPCMessage
    transport.send(refusal).catch((failure) => transport.onerror?.(failure))
  }
  const linesOf = createLineReader((id) => {
    const message = `a message of more than ${longestLine / 1024 / 1024} MB is not read`
    refuse(id ?? null, { code: ProtocolErrorCode.InvalidRequest, message })
  })
  const input = new Transform({
    transform(chunk, _encoding, done) {
      for (const line of linesOf(chunk)) {
        const refusal = refusalOf(line.toString())
        if (refusal) refuse(null, refusal)
        else this.push(line)
      }
      done()
    },
    flush(done) {
      void (async () => {
        // The last lines may have been read but not passed on yet.
        do await turn()
        while (input.readableLength > 0 && !input.destroyed)
        await underWay.done()
      })().then(() => done(), done)
    },
  })
  stdin.pipe(input)
  // A broken pipe closes its stream without ending it. Its error would end the process before the answers are out.
  stdin.once('error', (error) => transport.onerror?.(error))
  stdin.once('close', () => void (input.destroyed || input.end()))

  const wire = new StdioServerTransport(input as unknown as typeof process.stdin, stdout, {
    // Never reached: the lines are measured earlier.
    maxBufferSize: 2 * longestLine,
  })
  const transport: Transport = {
    async start() {
      wire.onmessage = (message) => {
        underWay.onIncoming(message)
        transport.onmessage?.(message)
      }
      wire.onerror = (error) => transport.onerror?.(error)
      wire.onclose = () => {
        underWay.clear()
        // Nobody reads any more: unread input would keep the process alive, and the host waiting for it.
        input.destroy()
        stdin.destroy()
        transport.onclose?.()
      }
      await wire.start()
    },
    async send(message) {
      try {
        await wire.send(message)
      } finally {
        underWay.onOutgoing(message)
      }
    },
    close: () => wire.close(),
  }
  return { transport, ended: new Promise((resolve) => input.once('close', resolve)) }
}

function createUnderWay(): UnderWay {
  const ids = new Set<unknown>()
  let onDone: (() => void) | undefined
  const settle = (id: unknown): void => {
    ids.delete(id)
    if (ids.size === 0) onDone?.()
  }
  return {
    onIncoming(message) {
      // A subscription is answered by later events, and ends with the connection.
      if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') ids.add(message.id)
      else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
        settle(message.params?.requestId)
    },
    onOutgoing(message) {
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) settle(message.id)
    },
    clear() {
      ids.clear()
      onDone?.()
    },
    done: () =>
      new Promise((resolve) => {
        if (ids.size === 0) return resolve()
        const timer = setTimeout(resolve, mostWaitMs)
        onDone = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
  }
}
