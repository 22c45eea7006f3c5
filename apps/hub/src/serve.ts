import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { Server as Listener } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { type Embedder, isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { collectDefaultMetrics } from 'prom-client'
import { answersAnyName, urlOf } from './access/guard-host.ts'
import { maintainHourly, workOnQueue } from './background-work.ts'
import type { HubConfig } from './config/config.ts'
import { createHub } from './create-hub.ts'
import { type Log, loggedError } from './log.ts'
import { openDependencies } from './open-dependencies.ts'

export interface ListeningHub {
  url: string
  /** The URL under which agents reach it, without a slash at its end. */
  home: string
  /**
   * Says that it stops, accepts requests for as long as `drainDelayMs`, waits up to 10 seconds for those under way, and
   * closes.
   */
  close(): Promise<void>
}

/** Longest wait for requests under way when the hub closes, in milliseconds. */
const drainMs = 10_000

/**
 * Timeouts against callers that send a byte a second: an incomplete request is cut off. The largest body takes half a
 * minute on a line of little more than two megabits a second.
 */
const patience = {
  headersTimeout: 5000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 5000,
  maxHeaderSize: 16 * 1024,
}

const mostSockets = 2000

/**
 * Opens the dependencies that the settings name, starts the hub, and listens.
 *
 * @param waits timeouts in place of those of every hub, for tests
 */
export async function serveHub(
  config: HubConfig,
  log: Log,
  waits: Partial<typeof patience> = {},
): Promise<ListeningHub> {
  const { close: closeDependencies, ...dependencies } = await openDependencies(config, log)
  try {
    let port = config.port
    const hub = await createHub(config, {
      ...dependencies,
      log,
      port: () => port,
      remoteAddress: (context) => getConnInfo(context).remote.address,
    })
    collectDefaultMetrics({ register: hub.metrics, prefix: 'recall_' })
    const server = await listen(config, hub.fetch, { ...patience, ...waits })
    server.on('clientError', answerUnread)
    server.maxConnections = mostSockets
    const answers = answersOf(server)
    // Not before it listens: a hub that cannot listen does not start, and nothing may keep its process alive.
    const queue = config.embedAsync ? workOnQueue(hub, log) : undefined
    const hourly = config.postgresUrl ? undefined : maintainHourly(hub, log)
    void loadModel(dependencies.embedder, log)
    if (answersAnyName(config)) {
      const event = 'answers under every host name: set RECALL_HUB_PUBLIC_URL to the address that agents use'
      log({ level: 'warn', event, host: config.host })
    }
    const address = server.address()
    if (typeof address === 'object' && address) port = address.port
    return {
      url: urlOf(config.host, port),
      home: hub.home(),
      async close() {
        hub.drain()
        if (config.drainDelayMs > 0) await pause(config.drainDelayMs)
        // First it accepts no more connections: the `close` of an HTTP server also cuts those that Node considers idle.
        const closed = new Promise<void>((resolve) => {
          Listener.prototype.close.call(server, () => resolve())
        })
        // Without this header, callers could keep sending requests over an open connection until it is cut.
        const lastOnItsConnection = (answer: ServerResponse) => answer.setHeader('Connection', 'close')
        server.prependListener('request', (_, answer) => lastOnItsConnection(answer))
        for (const answer of answers) if (!answer.headersSent) lastOnItsConnection(answer)
        const cut = setTimeout(() => server.closeAllConnections(), drainMs)
        await untilSent(answers)
        server.close()
        await closed
        clearTimeout(cut)
        await queue?.stop()
        await hourly?.stop()
        await hub.settled()
        await closeDependencies()
      },
    }
  } catch (error) {
    await closeDependencies()
    throw error
  }
}

/** Loads a model that runs in this process, so that the first callers do not wait for it. */
async function loadModel(embedder: Embedder, log: Log): Promise<void> {
  if (!embedder.warmUp) return
  const started = performance.now()
  try {
    await embedder.warmUp()
    log({
      level: 'info',
      event: 'embedding model loaded',
      model: embedder.model,
      ms: Math.round(performance.now() - started),
    })
  } catch (error) {
    // The hub was closed first.
    if (isMemoryError(error, MemoryErrorCode.CLOSED)) return
    const says = isMemoryError(error) ? { says: error.message } : {}
    log({ level: 'error', event: 'embedding model not loaded', ...loggedError(error), ...says })
  }
}

/** The answers of a server that are not fully sent yet. */
function answersOf(server: Server): ReadonlySet<ServerResponse> {
  const answers = new Set<ServerResponse>()
  server.on('request', (_, answer) => {
    answers.add(answer)
    answer.once('close', () => answers.delete(answer))
  })
  return answers
}

/** Resolves when no finished answer is still unread by its caller: Node considers such a connection idle. */
async function untilSent(answers: ReadonlySet<ServerResponse>): Promise<void> {
  for (;;) {
    const waiting = [...answers].find(({ writableEnded }) => writableEnded)
    if (!waiting) return
    await once(waiting, 'close')
  }
}

/** Answers to requests that could not be read, by the code of Node's error. */
const unread: Record<string, { status: string; code: MemoryErrorCode; detail: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: MemoryErrorCode.TIMEOUT,
    detail: `the request did not arrive in time, which is ${patience.headersTimeout / 1000} seconds for its headers and ${patience.requestTimeout / 1000} for all of it: send less at once`,
  },
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: MemoryErrorCode.INVALID_INPUT,
    detail: `the headers are larger than ${patience.maxHeaderSize} bytes`,
  },
}
const malformed = {
  status: '400 Bad Request',
  code: MemoryErrorCode.INVALID_INPUT,
  detail: 'this is not an HTTP request',
}

/** Answers as Node does, with a problem document added. */
function answerUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  const { _httpMessage: begun } = socket as { _httpMessage?: { _headerSent: boolean } }
  if (!socket.writable || begun?._headerSent) {
    socket.destroy(error)
    return
  }
  const { status, code, detail } = unread[error.code ?? ''] ?? malformed
  const [number, ...title] = status.split(' ')
  const body = JSON.stringify({
    type: 'about:blank',
    title: title.join(' '),
    status: Number(number),
    detail,
    code,
  })
  const head = [
    'Content-Type: application/problem+json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  socket.write([`HTTP/1.1 ${status}`, ...head, '', body].join('\r\n'))
  socket.destroy(error)
}

const listen = (
  config: HubConfig,
  fetch: Parameters<typeof serve>[0]['fetch'],
  serverOptions: typeof patience,
): Promise<Server> =>
  new Promise((resolve, reject) => {
    const refuse = (cause: Error): void => reject(cannotListen(cause))
    const server = serve({ fetch, hostname: config.host, port: config.port, serverOptions }, () => {
      server.off('error', refuse)
      resolve(server as Server)
    })
    server.once('error', refuse)
  })

/** Node's message has the address, but not where it was configured. */
const cannotListen = (cause: Error): MemoryError =>
  new MemoryError(
    `${cause.message}: RECALL_HUB_HOST and RECALL_HUB_PORT say where the hub listens`,
    MemoryErrorCode.UNAVAILABLE,
    { cause },
  )
