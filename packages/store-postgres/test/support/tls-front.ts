import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import tls from 'node:tls'
import { onTestFinished } from 'vitest'

/** Needs no certificate, and so no key in this folder. */
const anonymous = 'AECDH-AES128-SHA:@SECLEVEL=0'

/** Puts TLS in front of a server, for the current test. */
export async function openTlsFront(to: string): Promise<{
  url: string
  /** How many connections were secured. */
  secured(): number
  /** The connections that are open hang for ever; new ones go through. */
  forget(): void
}> {
  const usual = tls.DEFAULT_CIPHERS
  // The driver's words for TLS leave no room for ciphers.
  tls.DEFAULT_CIPHERS = anonymous
  const target = new URL(to)
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((plain) => {
    sockets.add(plain)
    plain.once('data', () => {
      plain.write('S')
      const secure = new tls.TLSSocket(plain, {
        isServer: true,
        secureContext: tls.createSecureContext({ ciphers: anonymous, maxVersion: 'TLSv1.2' }),
      })
      secure.once('secure', () => count++)
      const onward = connect(Number(target.port), target.hostname)
      sockets.add(onward)
      for (const [from, into] of [
        [secure, onward],
        [onward, secure],
      ] as const) {
        from.on('error', () => {})
        from.on('close', () => into.destroy())
        from.pipe(into)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    tls.DEFAULT_CIPHERS = usual
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const url = new URL(to)
  url.port = String(typeof address === 'object' && address ? address.port : 0)
  return {
    url: url.href,
    secured: () => count,
    forget() {
      for (const socket of sockets) socket.unpipe().pause()
    },
  }
}
