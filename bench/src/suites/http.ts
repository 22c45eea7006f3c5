import postgres from 'postgres'
import { burst, createCaller, type Served, serveInChild } from '../load.ts'
import { withDatabase } from '../postgres-database.ts'
import type { Row } from '../report.ts'
import { fill, inTurn, key } from './hub/setting.ts'

export interface HttpSettings {
  postgres: string
  rounds: number
  say(text: string): void
}

const clients = 32

/**
 * The cost of the hub's chain of middleware: a GET that only says who is asking, against servers that do not check that
 * at all.
 */
export const measureHttp = ({ postgres: server, rounds, say }: HttpSettings): Promise<Row[]> =>
  withDatabase(server, async ({ url }) => {
    const served: Served[] = []
    const start = async (...args: string[]): Promise<Served> => {
      const child = await serveInChild(...args)
      served.push(child)
      return child
    }
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    try {
      await fill(sql, 0)
      const hub = await start('serve-hub', '--postgres', url)
      const peers = [
        { name: 'raw node:http', served: await start('serve-nothing'), bound: 0.5 },
        { name: 'Hono hello-world', served: await start('serve-hono') },
      ]
      const rows: Row[] = []
      for (const { name, served: peer, bound } of peers) {
        const [ours, theirs] = [createCaller(hub.port, key), createCaller(peer.port)]
        const me = (caller: typeof ours) => () =>
          burst(4000, clients, () => caller.call('GET', '/api/v1/agents/me'))
        await me(ours)()
        await me(theirs)()
        const measured = await inTurn(rounds, me(ours), me(theirs))
        ours.close()
        theirs.close()
        say(`GET: ${measured.ratio('perSecond').toFixed(2)} of ${name}`)
        const row = { size: clients, peer: name }
        rows.push(
          {
            ...row,
            what: 'GET through all middleware: a second',
            ours: measured.of(0, 'perSecond'),
            peers: measured.of(1, 'perSecond'),
            ratio: measured.ratio('perSecond'),
            ...(bound === undefined ? {} : { bound, atLeast: true }),
          },
          {
            ...row,
            what: 'GET through all middleware: p99, ms',
            ours: measured.of(0, 'p99'),
            peers: measured.of(1, 'p99'),
            ratio: measured.ratio('p99'),
          },
          { ...row, what: 'errors', ours: measured.errors, peers: 0, ratio: measured.errors, bound: 0 },
        )
      }
      return rows
    } finally {
      for (const each of served) each.stop()
      await sql.end()
    }
  })
