import { once } from 'node:events'
import { isIP, Socket } from 'node:net'
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls'

/** What the driver has read from the URL of a server with one address, and from the environment. */
export interface Address {
  host: readonly string[]
  port: readonly number[]
  /** Of a socket in the file system. */
  path?: string | false | undefined
  /** `false`, a word such as `require`, or options of a connection with TLS. */
  ssl?: unknown
  sslnegotiation?: unknown
  connect_timeout: number
}

/** The message that asks a server for TLS. */
const request = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const accepted = 'S'.charCodeAt(0)

/**
 * A connection to the server, with TLS where the address asks for it, made as postgres 3.4 makes it: of a connection
 * with TLS of its own the driver does not say over which socket it speaks.
 *
 * @param signal ends an attempt
 * @returns if there is no connection, a socket that fails when it is used, which is how the driver learns of it
 */
export async function openSocket(address: Address, signal: AbortSignal): Promise<Socket> {
  const socket = new Socket()
  const failed = new Promise<never>((_, reject) => {
    socket.on('error', reject)
    socket.on('close', () => reject(failure('CONNECTION_CLOSED')))
  })
  const end = (code: string) => (): void => void socket.destroy(failure(code))
  const tooLate = setTimeout(end('CONNECT_TIMEOUT'), address.connect_timeout * 1000)
  const closed = end('CONNECTION_ENDED')
  signal.addEventListener('abort', closed)
  try {
    return await Promise.race([connected(socket, address), failed])
  } catch (error) {
    socket.destroy()
    return failing(error as Error)
  } finally {
    clearTimeout(tooLate)
    signal.removeEventListener('abort', closed)
  }
}

/**
 * Fails while it is written to: over a connection that closes while postgres 3.4 is about to write, it never writes
 * again.
 */
function failing(error: Error): Socket {
  const socket = new Socket()
  socket.write = () => {
    socket.destroy(error)
    return false
  }
  return socket
}

async function connected(socket: Socket, address: Address): Promise<Socket> {
  const { host, port, path, ssl, sslnegotiation } = address
  if (path) socket.connect(path)
  else socket.connect(port[0] as number, host[0] as string)
  await once(socket, 'connect')
  if (!ssl) return socket
  if (sslnegotiation !== 'direct') {
    socket.write(request)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    const isAccepted = answer[0] === accepted
    if (!isAccepted && ssl === 'prefer') return socket
    if (!isAccepted) throw failure('CONNECTION_WITHOUT_TLS')
  }
  const secure = connectSecurely({ socket, ...tlsOptions(address) })
  await once(secure, 'secureConnect')
  return secure
}

/** The words mean what they mean to the driver: all but those that verify accept any certificate. */
function tlsOptions({ host, ssl, sslnegotiation }: Address): ConnectionOptions {
  const [name = ''] = host
  return {
    ...(isIP(name) ? {} : { servername: name }),
    ...(sslnegotiation === 'direct' ? { ALPNProtocols: ['postgresql'] } : {}),
    ...(['require', 'allow', 'prefer'].includes(ssl as string) ? { rejectUnauthorized: false } : {}),
    ...(typeof ssl === 'object' ? ssl : {}),
  }
}

const failure = (code: string): Error => Object.assign(new Error(code), { code })
