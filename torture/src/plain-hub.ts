import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noLimits } from '../../apps/hub/test/support/open-hub.ts'
import { startHub } from '../../apps/hub/test/support/processes.ts'
import { openServerDatabase, serverUrl } from '../../packages/store-postgres/test/support/server-database.ts'
import { type Held, heldBy } from './processes.ts'
import { hubProgram } from './programs.ts'

const connections = 'select count(*)::int as count from pg_stat_activity where datname = current_database()'

/** Longest that a request may take here, in milliseconds. */
const patienceMs = 20_000

/** An undisturbed hub, on Postgres if there is one. */
export async function openPlainHub(folder: string) {
  const server = serverUrl ? await openServerDatabase() : null
  const config = join(folder, 'hub.json')
  writeFileSync(config, JSON.stringify(noLimits))
  const hub = await startHub(
    {
      ...(server ? { POSTGRES_URL: server.url } : { DATA: join(folder, 'data') }),
      EMBEDDING_PROVIDER: 'fake',
      CONFIG: config,
    },
    hubProgram(),
  )

  /** A failed request has status 0. */
  const call = async (
    key: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; text: string; headers: Headers }> => {
    const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD'
    try {
      const answer = await fetch(`${hub.url}${path}`, {
        method,
        headers: {
          ...(key ? { Authorization: `Bearer ${key}` } : {}),
          'Content-Type': 'application/json',
          ...headers,
        },
        ...(hasBody ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(patienceMs),
      })
      return { status: answer.status, text: await answer.text(), headers: answer.headers }
    } catch (error) {
      return { status: 0, text: String(error), headers: new Headers() }
    }
  }

  return {
    url: hub.url,
    pid: hub.pid,
    call,
    status: async (...given: Parameters<typeof call>): Promise<number> => (await call(...given)).status,
    async register(name: string): Promise<string> {
      const { text } = await call(undefined, 'POST', '/api/v1/agents/register', { name })
      return (JSON.parse(text) as { api_key: string }).api_key
    },
    /** Connections of the hub to its database; none for an embedded one. */
    async connections(): Promise<number> {
      if (!server) return 0
      const [row] = (await server.database.execute(connections)) as unknown as { count: number }[]
      return row?.count ?? 0
    },
    /** What the process holds after the connections of its callers were closed. */
    async untilIdle(): Promise<Held> {
      const before = heldBy(hub.pid).files
      const deadline = Date.now() + 15_000
      while (heldBy(hub.pid).files >= before && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 100))
      return heldBy(hub.pid)
    },
    isAlive: async (): Promise<boolean> => (await call(undefined, 'GET', '/livez')).status === 200,
    async close(): Promise<void> {
      await hub.stop('SIGKILL')
      await server?.close()
    },
  }
}

export type PlainHub = Awaited<ReturnType<typeof openPlainHub>>
