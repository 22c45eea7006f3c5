import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a server that can fail as networks do. */
export interface Gate {
  url: string
  /** Nothing goes through any more, and nobody is told: connections hang, as behind a broken network. */
  hang(): void
  /** The connections that are open hang for ever; new ones go through. */
  forget(): void
  /** Every connection ends, and new ones end at once. */
  cut(): void
  /** All goes through again, what was held back first. */
  heal(): void
  close(): Promise<void>
}

/** Opens a port of its own that leads to the one of a URL. */
export async function openGate(to: string): Promise<Gate> {
  const target = new URL(to)
  const sockets = new Set<Socket>()
  let state: 'open' | 'hanging' | 'cut' = 'open'
  const server = createServer((incoming) => {
    if (state === 'cut') return void incoming.destroy()
    const outgoing = connect(Number(target.port), target.hostname)
    for (const [from, into] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from)
      from.on('data', (data) => into.write(data))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        into.destroy()
      })
      if (state === 'hanging') from.pause()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = new URL(to)
  url.port = String(typeof address === 'object' && address ? address.port : 0)

  return {
    url: url.href,
    hang() {
      state = 'hanging'
      // What arrives stays in the buffers of the system.
      for (const socket of sockets) socket.pause()
    },
    forget() {
      for (const socket of sockets) socket.pause()
    },
    cut() {
      state = 'cut'
      for (const socket of sockets) socket.destroy()
    },
    heal() {
      state = 'open'
      for (const socket of sockets) socket.resume()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
